/** Watches the numbers of the host's messages, so that a lost one is noticed. */

/** `take`: in order. `drop`: seen already, or part of a stream that has a hole. `ask`: a message was lost, a sync is needed. */
export type Verdict = "take" | "drop" | "ask";

export class Revisions {
  #last: number | undefined;

  /** Whether messages are taken: a sync came and nothing was lost since. */
  get inStep(): boolean {
    return this.#last !== undefined;
  }

  /** `isSync` messages are taken whatever their number: they carry everything, and a restarted host counts from the start. */
  judge(rev: number, isSync: boolean): Verdict {
    if (isSync) {
      this.#last = rev;
      return "take";
    }
    if (this.#last === undefined || rev <= this.#last) return "drop";
    if (rev === this.#last + 1) {
      this.#last = rev;
      return "take";
    }
    this.#last = undefined;
    return "ask";
  }

  /** Nothing is taken until the next sync. */
  forget(): void {
    this.#last = undefined;
  }
}
