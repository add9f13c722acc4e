/** Brings rows into sight: mounts and unfolds what hides them, shows the matches of the find bar, gives messages the focus. */
import { Marks, type MountedRow } from "./findMarks.js";
import type { Match } from "./host.js";
import type { RowList } from "./list.js";
import { unfold } from "./markdown/codeFigure.js";
import { unfoldTables } from "./markdown/longTable.js";
import type { Roving } from "./roving.js";
import type { RowStore } from "./rowStore.js";
import type { RowViews } from "./rowViews.js";
import type { Viewport } from "./viewport.js";

export interface RevealParts {
  readonly store: RowStore;
  readonly list: RowList;
  readonly views: RowViews;
  readonly roving: Roving;
  readonly viewport: () => Viewport;
  /** Hidden rows were unfolded. */
  readonly unfolded: () => void;
}

export class Reveal {
  readonly #parts: RevealParts;
  readonly #marks = new Marks((match) => this.#mountedRow(match));
  #pinnedItem = -1;
  /** A place that somebody wants to see and whose row is on its way. */
  #awaited: Match | undefined;
  #placed: HTMLElement | undefined;

  constructor(parts: RevealParts) {
    this.#parts = parts;
    document.addEventListener("focusin", this.#goneOn);
  }

  /** The item that is mounted because it is about to be shown or focused; -1 if there is none. */
  get pinnedItem(): number {
    return this.#pinnedItem;
  }

  /** Shows matches of the find bar, one of them as the current one. */
  highlight(matches: readonly Match[], current?: Match): void {
    this.#marks.show(matches, current);
  }

  /** Other rows are on the page now. */
  refreshMarks(): void {
    this.#marks.refresh();
  }

  clearMatches(): void {
    this.#marks.clear();
  }

  /**
   * Shows a place: its message gets the focus, and is marked until the focus goes elsewhere. A row that is not here yet is asked for, and
   * shown when it comes; a place without a length is its whole message.
   */
  place(place: Match): void {
    const { store } = this.#parts;
    const row = store.at(place.row);
    this.#awaited = row === undefined ? place : undefined;
    this.#unmark();
    if (row !== undefined && row.id !== place.rowId) return; // of another chat
    const index = this.#bringIn(place.row);
    if (row === undefined || index === -1) return;
    this.focusItem(index);
    this.#placed = this.#parts.viewport().mounted(index);
    this.#placed?.setAttribute("data-place", "");
    if (place.length > 0) this.match(place);
  }

  /** Brings a row into sight, and no focus to it. */
  row(row: number, rowId: string): void {
    if (this.#parts.store.at(row)?.id !== rowId) return; // of another chat
    this.#bringIn(row);
    this.#pinnedItem = -1;
  }

  /** Rows came: the place that waited for one of them is shown. */
  rowsCame(): void {
    const awaited = this.#awaited;
    if (awaited !== undefined && this.#parts.store.at(awaited.row) !== undefined) this.place(awaited);
  }

  dispose(): void {
    document.removeEventListener("focusin", this.#goneOn);
    this.#awaited = undefined;
    this.#unmark();
  }

  readonly #goneOn = ({ target }: FocusEvent): void => {
    if (this.#placed !== undefined && target instanceof Node && !this.#placed.contains(target)) this.#unmark();
  };

  #unmark(): void {
    if (this.#placed === undefined) return;
    this.#placed.removeAttribute("data-place");
    this.#placed = undefined;
    this.#marks.clear();
  }

  /** Brings a match into sight and shows it as the current one. Rows that are not here yet are asked for. */
  match(match: Match): void {
    const { viewport, store, views } = this.#parts;
    const index = this.#bringIn(match.row);
    if (index === -1) return;
    const view = views.known(store.at(match.row)?.id ?? "");
    view?.showPlace?.(match.start + match.length - 1);
    const block = view?.markdown?.blockAt(match.start);
    if (block !== undefined) unfoldTables(block.element);
    const article = viewport().mounted(index);
    const range = this.#marks.rangeOf(match);
    const hidden = range?.startContainer.parentElement?.closest("code[hidden]")?.closest("figure");
    if (hidden != null) unfold(hidden);
    const box = typeof range?.getBoundingClientRect === "function" ? range.getBoundingClientRect() : undefined;
    const top = article?.getBoundingClientRect().top ?? 0;
    viewport().reveal(index, box && { top: box.top - top, bottom: box.bottom - top });
    this.#marks.setCurrent(match);
  }

  focusItem(index: number): void {
    const { viewport, roving } = this.#parts;
    this.#mount(index);
    const article = viewport().mounted(index);
    if (article === undefined) return;
    roving.focus(article);
    viewport().reveal(index);
    this.#pinnedItem = -1;
  }

  /** Gives the focus to the question of a call in a row. False if there is none. */
  question(row: number, callId: string): boolean {
    const index = this.#bringIn(row);
    const article = index === -1 ? undefined : this.#parts.viewport().mounted(index);
    const questions = [...(article?.querySelectorAll<HTMLElement>("[data-question]") ?? [])];
    const question = questions.find(({ dataset }) => dataset["question"] === callId) ?? questions[0];
    if (article === undefined || question === undefined) return false;
    const [from, box] = [article.getBoundingClientRect().top, question.getBoundingClientRect()];
    this.#parts.viewport().stopFollowing();
    this.#parts.viewport().reveal(index, { top: box.top - from, bottom: box.bottom - from });
    // Where there is an answer that allows nothing, one arrives there.
    (question.querySelector<HTMLElement>("[data-home]") ?? question).focus({ preventScroll: true });
    this.#pinnedItem = -1;
    return true;
  }

  /** A placeholder that had the focus gives it to the row that came for it. */
  keepFocus(index: number): void {
    const { viewport, roving } = this.#parts;
    if (index === -1 || roving.focused !== undefined) return;
    const article = viewport().mounted(index);
    if (article !== undefined) roving.focus(article);
  }

  /** Unfolds, mounts and asks for a row; its item, -1 if there is none. */
  #bringIn(row: number): number {
    const { list, viewport, unfolded } = this.#parts;
    if (list.unfoldRow(row)) unfolded();
    const index = list.outline.indexOfRow(row);
    if (index !== -1) {
      this.#mount(index);
      viewport().reveal(index);
    }
    return index;
  }

  #mount(index: number): void {
    this.#pinnedItem = index;
    this.#parts.viewport().layout();
  }

  #mountedRow({ row: index, rowId }: Match): MountedRow | undefined {
    const { store, list, views, viewport } = this.#parts;
    const row = store.at(index);
    const article = viewport().mounted(list.outline.indexOfRow(index));
    if (row?.id !== rowId || article === undefined || row.kind === "divider") return undefined;
    return { text: row.text, article, markdown: views.known(rowId)?.markdown };
  }
}
