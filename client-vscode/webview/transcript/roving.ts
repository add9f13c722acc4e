/**
 * The focus inside the list: one message is a stop of the Tab key, and the buttons of a message are only while the focus is in it.
 */
const BUTTONS = "button, summary, a[data-href], input, textarea";

export class Roving {
  readonly #feed: HTMLElement;
  #stop: HTMLElement | undefined;
  #entered: HTMLElement | undefined;

  constructor(feed: HTMLElement) {
    this.#feed = feed;
    feed.addEventListener("focusin", (event) => this.#focused(event.target));
    feed.addEventListener("focusout", (event) => this.#left(event.relatedTarget));
  }

  /** The message that has the focus, or in which something has it. */
  get focused(): HTMLElement | undefined {
    const active = this.#feed.contains(document.activeElement) ? document.activeElement : null;
    return articleOf(active);
  }

  /** Makes a message the stop of the Tab key unless there is one on the page already. */
  offer(article: HTMLElement | undefined): void {
    if (article === undefined || this.#stop?.isConnected === true) return;
    this.#setStop(article);
  }

  /** Makes a message the stop of the Tab key. */
  set(article: HTMLElement): void {
    this.#setStop(article);
  }

  focus(article: HTMLElement): void {
    this.#setStop(article);
    article.focus({ preventScroll: true });
  }

  /** Moves the focus to the first button of a message. False if it has none. */
  enter(article: HTMLElement): boolean {
    const first = [...article.querySelectorAll<HTMLElement>(BUTTONS)].find(isShown);
    if (first === undefined) return false;
    this.#enter(article);
    first.focus();
    return true;
  }

  #focused(target: EventTarget | null): void {
    const article = articleOf(target);
    if (article === undefined) return;
    this.#setStop(article);
    // A compression has no text to read, only buttons: they follow it at once.
    if (target !== article || article.classList.contains("divider")) this.#enter(article);
  }

  #left(to: EventTarget | null): void {
    const article = articleOf(to);
    if (
      this.#entered !== undefined &&
      (article !== this.#entered || (to === article && !article.classList.contains("divider")))
    )
      this.#leave();
  }

  #enter(article: HTMLElement): void {
    if (this.#entered !== undefined && this.#entered !== article) this.#leave();
    this.#entered = article;
    for (const one of article.querySelectorAll<HTMLElement>(BUTTONS)) one.tabIndex = 0;
  }

  #leave(): void {
    for (const one of this.#entered?.querySelectorAll<HTMLElement>(BUTTONS) ?? []) one.tabIndex = -1;
    this.#entered = undefined;
  }

  #setStop(article: HTMLElement): void {
    if (this.#stop !== undefined && this.#stop !== article) this.#stop.tabIndex = -1;
    this.#stop = article;
    article.tabIndex = 0;
  }
}

/** The message that a node is in. */
export function articleOf(target: EventTarget | null): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>("article.row") ?? undefined) : undefined;
}

function isShown(element: HTMLElement): boolean {
  if (element.closest("[hidden]") !== null) return false;
  const folded = element.parentElement?.closest("details:not([open])") ?? null;
  return (
    folded === null ||
    (element.matches("summary") &&
      element.parentElement === folded &&
      folded.parentElement?.closest("details:not([open])") === null)
  );
}
