/** Keeps what was pressed for something else from answering a question: it is deaf for a moment. */

/** How long after it came, and after it got the focus, nothing is accepted, ms. */
export const DEAF_MS = 300;

export class Guard {
  readonly #group: HTMLElement;
  #shownAt = -Infinity;
  #focusedAt: number | undefined;

  constructor(group: HTMLElement) {
    this.#group = group;
    group.addEventListener("focusin", ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node) || !group.contains(relatedTarget)) this.#focusedAt = performance.now();
    });
  }

  /** Something new is asked. */
  shown(): void {
    this.#shownAt = performance.now();
    this.#focusedAt = this.#group.contains(document.activeElement) ? this.#shownAt : undefined;
  }

  /** Whether what is pressed now is meant for it. A pointer brings the focus itself: for that it is enough to have been seen. */
  accepts(event?: Event): boolean {
    const byPointer = event instanceof MouseEvent && event.detail > 0;
    const since = byPointer ? this.#shownAt : Math.max(this.#shownAt, this.#focusedAt ?? -Infinity);
    return performance.now() - since >= DEAF_MS;
  }
}

/** The plain letter of a key; none where something is typed or held. */
export function letterOf(event: KeyboardEvent): string | undefined {
  const isTyped = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  return event.key.length === 1 ? event.key.toLowerCase() : undefined;
}
