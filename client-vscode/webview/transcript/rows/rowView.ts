import type { Row } from "../../../src/panel/contract.js";
import { element } from "../element.js";
import type { TranscriptHost } from "../host.js";
import type { MarkdownView } from "../markdown/markdownView.js";
import type { Language } from "../texts.js";
import type { Ticker } from "../ticker.js";
import type { Quiet } from "./guard.js";

/** What a key asks of the row that has the focus. */
export type RowCommand = "copy" | "retry" | "fork" | "pin" | "undo" | "open";

/** A row on the page. It lives as long as the row is shown, and a while longer. */
export interface RowView {
  readonly element: HTMLElement;
  /** Shows the row as it is now. */
  update(row: Row): void;
  /** Does what a key asks; false if this row has nothing of that kind. */
  command(command: RowCommand): boolean;
  /** The Markdown of the row, for the find bar. */
  readonly markdown?: Pick<MarkdownView, "blockAt">;
  /** Unfolds what hides a place of the row's text, for the find bar. */
  showPlace?(offset: number): void;
  /** Shows what was appended to the row's texts; called once per frame, at times less often. */
  renderStream?(): void;
  /** The row goes for good. */
  dispose?(): void;
}

/** What the rows know of what is around them. */
export interface RowContext {
  readonly host: TranscriptHost;
  readonly language: Language;
  readonly ticker: Ticker;
  /** Whether a key or a click is meant for a question. */
  readonly quiet: Quiet;
  /** The session belongs to another process: nothing that changes it is offered. */
  readonly readOnly: boolean;
  /** Whether the prompt of a turn can be sent again now. */
  readonly canRetry: (turnId: string) => boolean;
  /** The run of rows that a compression hides, if there is one, and whether it is unfolded. */
  hiddenRun(compressionId: string): { readonly turns: number; readonly expanded: boolean } | undefined;
  setExpanded(compressionId: string, expanded: boolean): void;
  /** A row is about to grow or to shrink because somebody asked for it: what was pressed stays where it is. */
  keepPlace(): void;
  /** Goes to the end, where what was asked for will show, and follows it. */
  goToEnd(): void;
  /** Has `renderStream` called with the next frame. */
  requestRender(view: RowView): void;
}

/** A row of one kind. */
export type RowOf<Kind extends Row["kind"]> = Extract<Row, { readonly kind: Kind }>;

let lastId = 0;

/** An id that no other element of the page has. */
export function uniqueId(prefix: string): string {
  return `${prefix}-${++lastId}`;
}

/** The `article` of a row, named by its heading, and the line that the heading is in. */
export function rowFrame(
  kind: string,
  title: string,
): { readonly article: HTMLElement; readonly head: HTMLElement; readonly heading: HTMLElement } {
  const id = uniqueId("row");
  const heading = element("h2", { id }, title);
  const head = element("div", { class: "row-head" }, heading);
  return {
    article: element("article", { class: `row ${kind}`, tabindex: -1, "aria-labelledby": id }, head),
    head,
    heading,
  };
}
