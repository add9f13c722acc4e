/**
 * Keeps what was pressed for something else from answering a question. A question never takes the focus, so a key can answer only after
 * the person went to it; and then only a key that was pressed by itself. Whoever types on, in whatever field they believe to be, pauses
 * nowhere, and answers nothing however often the focus walks through a question.
 */

/** How long a question must stand there, have the focus, and hear no other key before one counts, ms. */
export const QUIET_MS = 500;

const MODIFIERS: ReadonlySet<string> = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

/** What was pressed on the page, and when questions came and went: one that does moves others, and a click hits what was not there before. */
export class Quiet {
  #stirredAt = -Infinity;
  #keyAt = -Infinity;
  #isAlone = false;
  #isByKey = false;

  constructor() {
    document.addEventListener("keydown", this.#onKey, true);
    document.addEventListener("pointerdown", this.#onPointer, true);
  }

  dispose(): void {
    document.removeEventListener("keydown", this.#onKey, true);
    document.removeEventListener("pointerdown", this.#onPointer, true);
  }

  /** What was pressed last was a key. */
  get isByKey(): boolean {
    return this.#isByKey;
  }

  /** The newest key was pressed by itself, or long ago: then it is no key that presses now. */
  get isAlone(): boolean {
    return this.#isAlone || performance.now() - this.#keyAt >= QUIET_MS;
  }

  /** Every question has stood where it is for long enough to be seen. */
  get isSettled(): boolean {
    return performance.now() - this.#stirredAt >= QUIET_MS;
  }

  /** A question came, changed or went. */
  stirred(): void {
    this.#stirredAt = performance.now();
  }

  readonly #onKey = ({ key, repeat }: KeyboardEvent): void => {
    if (MODIFIERS.has(key)) return;
    const now = performance.now();
    this.#isAlone = !repeat && now - this.#keyAt >= QUIET_MS;
    this.#keyAt = now;
    this.#isByKey = true;
  };

  readonly #onPointer = (): void => {
    this.#isByKey = false;
  };
}

/** Of one question. */
export class Guard {
  readonly #quiet: Quiet;
  #focusedAt = -Infinity;

  /** @param home what gets the focus of who comes to the group by keys: what allows nothing */
  constructor(quiet: Quiet, group: HTMLElement, home: () => HTMLElement | undefined) {
    this.#quiet = quiet;
    group.addEventListener("focusin", ({ target, relatedTarget }) => {
      if (relatedTarget instanceof Node && group.contains(relatedTarget)) return;
      this.#focusedAt = performance.now();
      const to = quiet.isByKey ? home() : undefined;
      if (to !== undefined && to !== target) to.focus({ preventScroll: true });
    });
  }

  /** Whether what is pressed now is meant for it. A pointer brings the focus itself: for that it is enough that nothing moved. */
  accepts(event?: Event): boolean {
    const isByPointer = event instanceof MouseEvent && event.detail > 0;
    if (!this.#quiet.isSettled) return false;
    return isByPointer || (this.#quiet.isAlone && performance.now() - this.#focusedAt >= QUIET_MS);
  }
}

/** The plain letter of a key; none where something is typed or held. */
export function letterOf(event: KeyboardEvent): string | undefined {
  const isTyped = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  return event.key.length === 1 ? event.key.toLowerCase() : undefined;
}
