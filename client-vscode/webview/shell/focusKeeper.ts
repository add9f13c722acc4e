/** What is pressed in a pop-up may go with the answer, and the focus with it: keys would not reach the pop-up any more, nor Esc close it. */

/** Gives the focus back: to the same entry of the list wherever it stands now, else to the heading. */
export class FocusKeeper {
  readonly #box: HTMLElement;
  readonly #changes = new MutationObserver(() => this.#giveBack());
  #focused: Element | undefined;
  #item: HTMLElement | null = null;

  constructor(box: HTMLElement) {
    this.#box = box;
    this.#note(document.activeElement);
    box.addEventListener("focusin", this.#onFocus);
    this.#changes.observe(box, { childList: true, subtree: true });
  }

  dispose(): void {
    this.#changes.disconnect();
    this.#box.removeEventListener("focusin", this.#onFocus);
  }

  readonly #onFocus = (event: FocusEvent): void => this.#note(event.target);

  #note(target: EventTarget | null): void {
    if (!(target instanceof Element) || !this.#box.contains(target)) return;
    this.#focused = target;
    this.#item = target.closest("li");
  }

  #giveBack(): void {
    if (this.#focused === undefined || this.#focused.isConnected) return;
    // A person who is elsewhere stays there.
    if (document.activeElement !== document.body || !document.hasFocus()) return;
    const item = this.#standing();
    const folded = item?.closest("details:not([open])");
    const target = folded ? folded.querySelector("summary") : item?.querySelector<HTMLElement>("button, input");
    (target ?? this.#box.querySelector<HTMLElement>("[data-first]"))?.focus();
  }

  /** The entry as it stands now: it may have moved to another list. */
  #standing(): HTMLElement | undefined {
    if (this.#item?.isConnected === true) return this.#item;
    const name = this.#item?.dataset["item"];
    if (name === undefined) return undefined;
    return [...this.#box.querySelectorAll<HTMLElement>("[data-item]")].find((one) => one.dataset["item"] === name);
  }
}
