/** Delivers in the order of the calls, though what each call waits for may come in another. */
export class InOrder {
  #last: Promise<void> = Promise.resolve();

  /**
   * Calls `deliver` once `ready` has come and every earlier call is through. Rejects if `ready` does, and delivers nothing then; later
   * calls are not held up by that.
   */
  after(ready: Promise<void>, deliver: () => void): Promise<void> {
    const earlier = this.#last;
    const delivered = ready.then(() => earlier).then(deliver);
    this.#last = Promise.allSettled([earlier, delivered]).then(() => undefined);
    return delivered;
  }
}
