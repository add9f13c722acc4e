/** Chats that this window left: the rows of those in which an answer was under way, and how each stands. */
import type { OtherChat } from "../panel/contract.js";
import type { CompanionEvent } from "../protocol.gen.js";
import type { Conversation } from "./pure/conversation.js";

/** Events go on reaching them until it ends, or until they are shown again where only they know how it ended. */
export class LeftChats {
  readonly #kept = new Map<string, Conversation>();

  get(sessionId: string): Conversation | undefined {
    return this.#kept.get(sessionId);
  }

  has(sessionId: string): boolean {
    return this.#kept.has(sessionId);
  }

  keep(sessionId: string, conversation: Conversation): void {
    this.#kept.set(sessionId, conversation);
  }

  /** It is shown again. */
  take(sessionId: string | undefined): Conversation | undefined {
    const conversation = sessionId === undefined ? undefined : this.#kept.get(sessionId);
    if (sessionId !== undefined) this.#kept.delete(sessionId);
    return conversation;
  }

  /** Something happens in a chat that is not shown: it matters as long as its rows are kept. */
  happens(sessionId: string, happens: (left: Conversation) => void): void {
    const left = this.#kept.get(sessionId);
    if (!left) return;
    happens(left);
    if (left.liveAnswers.length === 0 && !left.runningCompression && !left.hasUnlisted) this.#kept.delete(sessionId);
  }

  clear(): void {
    this.#kept.clear();
  }
}

const STANDINGS: Partial<Record<CompanionEvent["type"], OtherChat["state"]>> = {
  turnStarted: "running",
  turnCompleted: "answered",
  turnFailed: "failed",
  turnCancelled: "idle",
};

/** How the chats stand that were shown here and are not any more: nobody sees what happens in them. */
export class Standings {
  readonly #states = new Map<string, OtherChat["state"]>();

  leave(sessionId: string, isRunning: boolean): void {
    this.#states.set(sessionId, isRunning ? "running" : "idle");
  }

  /** The chat is shown again, or is gone. */
  forget(sessionId: string | undefined): void {
    if (sessionId !== undefined) this.#states.delete(sessionId);
  }

  /** Something happened there. Whether an answer ended that nobody sees, and how. */
  happens(sessionId: string, { type }: Pick<CompanionEvent, "type">): "answered" | "failed" | undefined {
    const next = STANDINGS[type];
    if (next === undefined || !this.#states.has(sessionId)) return undefined;
    this.#states.set(sessionId, next);
    return next === "answered" || next === "failed" ? next : undefined;
  }

  /** The daemon is gone, and with it what ran. */
  lost(): void {
    for (const [sessionId, state] of this.#states) if (state === "running") this.#states.set(sessionId, "failed");
  }

  /** Those of which there is something to say: a question comes before all. */
  list(asking: ReadonlySet<string>, queued: (sessionId: string) => number): OtherChat[] {
    return [...new Set([...this.#states.keys(), ...asking])]
      .map((sessionId) => ({
        sessionId,
        state: asking.has(sessionId) ? ("waiting" as const) : (this.#states.get(sessionId) ?? "idle"),
        queued: queued(sessionId),
      }))
      .filter(({ state, queued: waiting }) => state !== "idle" || waiting > 0);
  }
}
