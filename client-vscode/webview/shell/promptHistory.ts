/** Earlier prompts under ↑ and ↓. What was being typed is kept and comes back at the end. */

export class PromptHistory {
  /** Newest first. */
  #prompts: readonly string[] = [];
  /** -1: the draft; else an index into the prompts. */
  #at = -1;
  #draft = "";

  /** Takes the prompts, newest first; repetitions in a row count once, blank ones not at all. */
  load(prompts: readonly string[]): void {
    const kept: string[] = [];
    for (const prompt of prompts) {
      if (prompt.trim() !== "" && prompt !== kept.at(-1)) kept.push(prompt);
    }
    this.#prompts = kept;
    this.#at = -1;
  }

  /** Whether `text` is a recalled prompt as it was sent. An edited one is a draft of its own. */
  isRecalled(text: string): boolean {
    return this.#at >= 0 && this.#prompts[this.#at] === text;
  }

  /** The next older prompt, or undefined at the oldest. `current` is what stands in the composer. */
  older(current: string): string | undefined {
    if (!this.isRecalled(current)) {
      this.#draft = current;
      this.#at = -1;
    }
    const next = this.#prompts[this.#at + 1];
    if (next !== undefined) this.#at += 1;
    return next;
  }

  /** The next newer prompt, at the end the draft; undefined if nothing is recalled. */
  newer(current: string): string | undefined {
    if (!this.isRecalled(current)) return undefined;
    this.#at -= 1;
    return this.#at < 0 ? this.#draft : this.#prompts[this.#at];
  }

  /** What the person wrote, where `current` is a recalled prompt: that is in the chat already. */
  written(current: string): string {
    return this.isRecalled(current) && this.#draft.trim() !== "" ? this.#draft : current;
  }

  /** After sending: the next ↑ begins at the newest again. */
  rest(): void {
    this.#at = -1;
    this.#draft = "";
  }
}

/** Whether ↑ at the caret means an older prompt: from an empty or recalled text's first line, or from the very beginning of any text. */
export function leavesUpwards(text: string, start: number, end: number, recalled: boolean): boolean {
  if (start !== end) return false;
  return start === 0 || (recalled && !text.slice(0, start).includes("\n"));
}

/** Whether ↓ at the caret means a newer prompt: only from the last line of a recalled one. */
export function leavesDownwards(text: string, start: number, end: number, recalled: boolean): boolean {
  return recalled && start === end && !text.slice(end).includes("\n");
}
