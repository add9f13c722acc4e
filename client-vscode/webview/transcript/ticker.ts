/** One clock for everything that counts seconds. It runs only while somebody listens. */
export class Ticker {
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Unix milliseconds. */
  now(): number {
    return Date.now();
  }

  /** Calls twice a second until the returned function is called. */
  every(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => {
      for (const one of [...this.#listeners]) one();
    }, 500);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }
}
