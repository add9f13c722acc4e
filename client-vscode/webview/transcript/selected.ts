import { articleOf } from "./roving.js";

/** A selection over more messages than this is not kept whole. */
const MOST = 100;

/** The messages that a selection reaches over: they stay mounted, or the selection would be lost on the way. */
export class Selected {
  readonly #feed: HTMLElement;
  readonly #listener: () => void;
  #articles: readonly HTMLElement[] = [];

  constructor(feed: HTMLElement, onChange: () => void) {
    this.#feed = feed;
    this.#listener = () => {
      const before = this.#articles;
      this.#articles = this.#reached();
      if (before.length > 0 && this.#articles.length === 0) onChange();
    };
    document.addEventListener("selectionchange", this.#listener);
  }

  articles(): readonly HTMLElement[] {
    return this.#articles;
  }

  dispose(): void {
    document.removeEventListener("selectionchange", this.#listener);
  }

  #reached(): readonly HTMLElement[] {
    const selection = document.getSelection();
    if (selection === null || selection.isCollapsed) return [];
    const ends = [selection.anchorNode, selection.focusNode].map((node) =>
      articleOf(node instanceof Element ? node : (node?.parentElement ?? null)),
    );
    if (ends.every((end) => end === undefined || !this.#feed.contains(end))) return [];
    return [...this.#feed.querySelectorAll<HTMLElement>("article.row")]
      .filter((article) => selection.containsNode(article, true))
      .slice(0, MOST);
  }
}
