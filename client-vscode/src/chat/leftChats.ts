/** Conversations that were left while an answer was under way. */
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
