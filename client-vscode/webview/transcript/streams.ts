import type { Row } from "../../src/panel/contract.js";
import type { RowStore } from "./rowStore.js";
import { isGrowing } from "./rows/answerState.js";
import type { RowView } from "./rows/rowView.js";
import type { RowViews } from "./rowViews.js";

/** Shows what streams in, once per frame however many pieces came. */
export class Streams {
  readonly #store: RowStore;
  readonly #views: () => RowViews;
  readonly #rendered: () => void;
  /** Rows that got text since the last frame, and views that wait to show it. */
  readonly #appended = new Set<string>();
  readonly #waiting = new Set<RowView>();
  readonly #growing = new Set<string>();
  #frame: number | undefined;

  constructor(store: RowStore, views: () => RowViews, rendered: () => void) {
    this.#store = store;
    this.#views = views;
    this.#rendered = rendered;
  }

  /** Ids of the answers that are not complete yet. */
  get growing(): ReadonlySet<string> {
    return this.#growing;
  }

  /** Notes which rows are not complete yet. */
  rowsChanged(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row.kind === "answer" && isGrowing(row)) this.#growing.add(row.id);
      else this.#growing.delete(row.id);
    }
  }

  /** A row got text. */
  appended(rowId: string): void {
    this.#appended.add(rowId);
    this.#request();
  }

  /** A view has something to show. */
  waits(view: RowView): void {
    this.#waiting.add(view);
    this.#request();
  }

  /** Forgets all. */
  clear(): void {
    this.#appended.clear();
    this.#waiting.clear();
    this.#growing.clear();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
  }

  #request(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#render();
    });
  }

  #render(): void {
    const views = this.#views();
    for (const id of this.#appended) {
      const row = this.#store.byId(id);
      // What is not on the page gets its text when it is.
      if (row !== undefined && views.known(id)?.element.isConnected === true) views.row(row);
    }
    this.#appended.clear();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const view of waiting) view.renderStream?.();
    this.#rendered();
  }
}
