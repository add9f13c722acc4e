/** The elements of rows, kept for a while after they went out of sight: what was unfolded stays so, what was rendered is not again. */
import type { HiddenRun, Row } from "../../src/panel/contract.js";
import { element } from "./element.js";
import { AnswerView } from "./rows/answerRow.js";
import { DividerView } from "./rows/dividerRow.js";
import { FoldView } from "./rows/foldRow.js";
import { NoticeView } from "./rows/noticeRow.js";
import { PromptView } from "./rows/promptRow.js";
import { uniqueId, type RowContext, type RowView } from "./rows/rowView.js";

/** Rows whose elements are kept. */
const KEPT = 400;

interface Cached {
  readonly view: RowView;
  readonly kind: Row["kind"];
  version: number;
}

export class RowViews {
  readonly #context: RowContext;
  /** By chat and id, in the order of their last use. */
  readonly #rows = new Map<string, Cached>();
  readonly #folds = new Map<string, FoldView>();
  readonly #placeholders = new Map<number, HTMLElement>();
  #chat = 0;

  constructor(context: RowContext) {
    this.#context = context;
  }

  /** The rows of another chat are shown, which may have the ids of those of this one. */
  turnTo(chat: number): void {
    this.#chat = chat;
  }

  /** The view of a row, brought up to its version. */
  row(row: Row): RowView {
    const key = this.#key(row.id);
    let cached = this.#rows.get(key);
    if (cached?.kind !== row.kind) {
      cached?.view.dispose?.();
      cached = { view: createView(row, this.#context), kind: row.kind, version: row.version };
    } else if (cached.version !== row.version) {
      cached.version = row.version;
      cached.view.update(row);
    }
    this.#rows.delete(key);
    this.#rows.set(key, cached);
    return cached.view;
  }

  /** The view of a row if it was shown lately. */
  known(id: string): RowView | undefined {
    return this.#rows.get(this.#key(id))?.view;
  }

  fold(run: HiddenRun): FoldView {
    const key = this.#key(run.compressionId);
    const view = this.#folds.get(key) ?? new FoldView(run, this.#context);
    this.#folds.set(key, view);
    view.update(run);
    return view;
  }

  /** What stands for a row that is not here yet. */
  placeholder(index: number): HTMLElement {
    const { t } = this.#context.language;
    const made = this.#placeholders.get(index) ?? placeholder(t("Loading…"));
    this.#placeholders.set(index, made);
    return made;
  }

  /** Shows rows again that depend on something else than themselves. */
  refresh(rows: Iterable<Row>): void {
    for (const row of rows) this.known(row.id)?.update(row);
  }

  /** Drops placeholders, and the views that were not used for the longest time unless they are on the page. */
  trim(): void {
    for (const [index, element] of this.#placeholders) if (!element.isConnected) this.#placeholders.delete(index);
    for (const [key, { view }] of this.#rows) {
      if (this.#rows.size <= KEPT) return;
      if (view.element.isConnected) continue;
      view.dispose?.();
      this.#rows.delete(key);
    }
  }

  dispose(): void {
    for (const { view } of this.#rows.values()) view.dispose?.();
    this.#rows.clear();
  }

  #key(id: string): string {
    return `${this.#chat} ${id}`;
  }
}

function createView(row: Row, context: RowContext): RowView {
  switch (row.kind) {
    case "prompt":
      return new PromptView(row, context);
    case "answer":
      return new AnswerView(row, context);
    case "divider":
      return new DividerView(row, context);
    case "notice":
      return new NoticeView(row, context);
  }
}

function placeholder(text: string): HTMLElement {
  const id = uniqueId("row");
  return element(
    "article",
    { class: "row placeholder", tabindex: -1, "aria-busy": "true", "aria-labelledby": id },
    element("h2", { id }, text),
  );
}
