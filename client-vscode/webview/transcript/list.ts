/** What is listed, in the viewport's terms: rows that are here, placeholders for those that are not, and folds. */
import type { HiddenRun, Row } from "../../src/panel/contract.js";
import type { TranscriptHost } from "./host.js";
import { Outline, type Item } from "./outline.js";
import type { RowStore } from "./rowStore.js";
import { beginning } from "./rows/folding.js";
import type { RowViews } from "./rowViews.js";
import type { RowView } from "./rows/rowView.js";

const ROW_PADDING = 72;
const LINE_HEIGHT = 20;
/** Width of a character on the average, px. */
const CHARACTER_WIDTH = 7.5;
const PLACEHOLDER_HEIGHT = 120;
const SMALL_HEIGHT = 64;
/** Items beyond what is in sight whose rows are asked for. */
const AHEAD = 20;

export class RowList {
  readonly #store: RowStore;
  readonly #views: RowViews;
  readonly #host: TranscriptHost;
  /** The compressions whose rows are unfolded, by chat. */
  readonly #unfolded = new Map<number, Set<string>>();
  #expanded = new Set<string>();
  #runs: readonly HiddenRun[] = [];
  outline = new Outline(0, [], new Set());

  constructor(store: RowStore, views: RowViews, host: TranscriptHost) {
    this.#store = store;
    this.#views = views;
    this.#host = host;
    this.turnTo(0);
  }

  /** The rows of another chat come, by its number: nothing that was unfolded in this one is so there. */
  turnTo(chat: number): void {
    this.#views.turnTo(chat);
    this.#expanded = this.#unfolded.get(chat) ?? new Set();
    this.#unfolded.set(chat, this.#expanded);
  }

  /** Takes over how many rows there are. */
  rebuild(): void {
    this.outline = new Outline(this.#store.total, this.#runs, this.#expanded);
  }

  /** Takes over which rows a compression hides. Whether that changed anything. */
  setRuns(runs: readonly HiddenRun[]): boolean {
    if (JSON.stringify(runs) === JSON.stringify(this.#runs)) return false;
    this.#runs = runs;
    this.rebuild();
    return true;
  }

  run(compressionId: string): { readonly turns: number; readonly expanded: boolean } | undefined {
    const run = this.outline.runs.find((one) => one.compressionId === compressionId);
    return run && { turns: run.turns, expanded: this.#expanded.has(compressionId) };
  }

  setExpanded(compressionId: string, expanded: boolean): void {
    if (expanded) this.#expanded.add(compressionId);
    else this.#expanded.delete(compressionId);
    this.rebuild();
  }

  /** Unfolds what hides a row. Whether that changed anything. */
  unfoldRow(row: number): boolean {
    const run = this.outline.runs.find((one) => row >= one.from && row <= one.to);
    if (run === undefined || this.#expanded.has(run.compressionId)) return false;
    this.setExpanded(run.compressionId, true);
    return true;
  }

  get length(): number {
    return this.outline.length;
  }

  keyAt(index: number): string {
    const item = this.outline.at(index);
    if (item === undefined) return "";
    if (item.kind === "fold") return `fold:${item.run.compressionId}`;
    return this.#store.at(item.row)?.id ?? `#${item.row}`;
  }

  indexOfKey(key: string): number {
    if (key.startsWith("fold:")) {
      const run = this.outline.runs.find((one) => `fold:${one.compressionId}` === key);
      return run === undefined
        ? -1
        : this.outline.indexOfRow(run.from) - (this.#expanded.has(run.compressionId) ? 1 : 0);
    }
    const row = key.startsWith("#") ? Number(key.slice(1)) : this.#store.indexOf(key);
    return row === undefined || !Number.isInteger(row) ? -1 : this.outline.indexOfRow(row);
  }

  rowAt(index: number): Row | undefined {
    const item = this.outline.at(index);
    return item?.kind === "row" ? this.#store.at(item.row) : undefined;
  }

  viewAt(index: number): RowView | undefined {
    const row = this.rowAt(index);
    return row && this.#views.known(row.id);
  }

  estimate(index: number, width: number): number {
    const row = this.rowAt(index);
    if (row === undefined) return this.outline.at(index)?.kind === "fold" ? SMALL_HEIGHT : PLACEHOLDER_HEIGHT;
    if (row.kind === "divider" || row.kind === "notice") return SMALL_HEIGHT;
    const perLine = Math.max(20, (width - 32) / CHARACTER_WIDTH);
    const { length } = row.kind === "prompt" ? beginning(row.text) : row.text;
    return ROW_PADDING + LINE_HEIGHT * Math.ceil(length / perLine + length / 200);
  }

  elementAt(index: number): HTMLElement {
    const item = this.outline.at(index);
    const made = this.#element(item);
    const position = item === undefined ? 0 : item.kind === "row" ? item.row : item.run.from;
    made.setAttribute("aria-posinset", String(position + 1));
    made.setAttribute("aria-setsize", String(this.#store.total));
    return made;
  }

  /** Asks for the rows that are missing in and around what is in sight. */
  loadAround(first: number, last: number): void {
    for (let index = Math.max(0, first - AHEAD); index <= last + AHEAD; index++) {
      const item = this.outline.at(index);
      if (item?.kind !== "row") continue;
      const page = this.#store.nextPage(item.row, performance.now());
      if (page !== undefined) this.#host.loadRows(page.from, page.to);
    }
  }

  #element(item: Item | undefined): HTMLElement {
    if (item?.kind === "fold") return this.#views.fold(item.run).element;
    const row = item && this.#store.at(item.row);
    return row === undefined ? this.#views.placeholder(item?.row ?? -1) : this.#views.row(row).element;
  }
}
