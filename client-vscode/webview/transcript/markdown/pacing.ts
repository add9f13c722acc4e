/** Rendering that took longer than this is followed by a pause, ms. */
const CHEAP_MS = 4;
/** The pause is this many times what the rendering took: at most a fifth of the thread goes into rendering. */
const PAUSE_FACTOR = 4;
const LONGEST_PAUSE_MS = 500;

/** Says when a growing text may be rendered again, from what the last rendering cost. */
export class Pacer {
  #notBefore = 0;

  /** Whether it may be rendered at `now`, ms of a clock that never goes back. */
  due(now: number): boolean {
    return now >= this.#notBefore;
  }

  /** A rendering ran from `start` to `end`. */
  rendered(start: number, end: number): void {
    const cost = end - start;
    this.#notBefore = cost > CHEAP_MS ? end + Math.min(LONGEST_PAUSE_MS, cost * PAUSE_FACTOR) : 0;
  }
}
