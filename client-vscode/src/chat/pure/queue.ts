/** The prompts that wait for their turn. They are held here, and not in the daemon, so that they can be edited and survive a restart. */
import type { QueuedPrompt, Written } from "../../panel/contract.js";
import { isBlank } from "../../panel/written.js";
import { QUEUE_LIMIT } from "../../panel/limits.js";

/** Why nothing goes out by itself: the last answer ended badly, or the prompts were written in an earlier window. */
export type HoldReason = "ended" | "restored";

export class PromptQueue {
  #prompts: readonly QueuedPrompt[] = [];
  #held: HoldReason | undefined;
  #count = 0;

  get prompts(): readonly QueuedPrompt[] {
    return this.#prompts;
  }

  /** After a stop or a failure nothing goes out by itself: the next prompt was written for an answer that never came. */
  get held(): HoldReason | undefined {
    return this.#prompts.length > 0 ? this.#held : undefined;
  }

  /** Prompts of an earlier window, before those of this one; they wait for the person. */
  restore(prompts: readonly QueuedPrompt[]): void {
    const restored = prompts.map((prompt) => ({ ...prompt, id: this.#id() }));
    this.#prompts = [...restored, ...this.#prompts].slice(0, QUEUE_LIMIT);
    if (restored.length > 0) this.#held = "restored";
  }

  clear(): void {
    this.#prompts = [];
    this.#held = undefined;
  }

  /** False if the queue is full. */
  add(written: Written): boolean {
    if (this.#prompts.length >= QUEUE_LIMIT) return false;
    this.#prompts = [...this.#prompts, { id: this.#id(), ...written }];
    return true;
  }

  edit(id: string, written: Written): void {
    if (isBlank(written)) this.remove(id);
    else this.#prompts = this.#prompts.map((prompt) => (prompt.id === id ? { id, ...written } : prompt));
  }

  remove(id: string): QueuedPrompt | undefined {
    const found = this.#prompts.find((prompt) => prompt.id === id);
    this.#prompts = this.#prompts.filter((prompt) => prompt !== found);
    return found;
  }

  /** The next prompt to send, unless the queue is held. */
  take(): QueuedPrompt | undefined {
    if (this.#held !== undefined) return undefined;
    const [first, ...rest] = this.#prompts;
    this.#prompts = rest;
    return first;
  }

  hold(reason: HoldReason = "ended"): void {
    this.#held = reason;
  }

  release(): void {
    this.#held = undefined;
  }

  #id(): string {
    this.#count += 1;
    return `q${this.#count}`;
  }
}
