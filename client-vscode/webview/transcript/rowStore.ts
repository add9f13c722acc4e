/** The rows that the page has, by index. The host has them all; here is what was shown or is near to it. */
import type { Row, ToPage } from "../../src/panel/contract.js";

/** The most rows that are asked for at once. */
const PAGE = 200;
/** A page that did not come is asked for again after this time, ms. */
const PATIENCE_MS = 10_000;

/** Text appended to an answer; `version` is the row's new one, `at` the length that its field has before. */
export type Delta = Omit<Extract<ToPage, { readonly type: "delta" }>, "rev" | "type">;

/** What a running tool put out, as much of it as is shown. */
export type Output = Omit<Extract<ToPage, { readonly type: "output" }>, "rev" | "type">;

export class RowStore {
  readonly #rows = new Map<number, Row>();
  readonly #indexes = new Map<string, number>();
  /** When a page was asked for, by its first index. */
  readonly #asked = new Map<number, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  at(index: number): Row | undefined {
    return this.#rows.get(index);
  }

  rows(): Iterable<Row> {
    return this.#rows.values();
  }

  /** The index of a row by its id, if it is here. */
  indexOf(id: string): number | undefined {
    return this.#indexes.get(id);
  }

  byId(id: string): Row | undefined {
    const index = this.#indexes.get(id);
    return index === undefined ? undefined : this.#rows.get(index);
  }

  /** Forgets everything else. */
  reset(total: number, from: number, rows: readonly Row[]): void {
    this.#rows.clear();
    this.#indexes.clear();
    this.#asked.clear();
    this.set(total, from, rows);
  }

  /** Takes rows over. What lies beyond `total` is gone. */
  set(total: number, from: number, rows: readonly Row[]): void {
    for (const index of [...this.#rows.keys()]) if (index >= total) this.#forget(index);
    this.#total = total;
    for (const [offset, row] of rows.entries()) {
      const index = from + offset;
      if (index < 0 || index >= total) continue;
      const elsewhere = this.#indexes.get(row.id);
      if (elsewhere !== undefined && elsewhere !== index) this.#forget(elsewhere);
      this.#forget(index);
      this.#rows.set(index, row);
      this.#indexes.set(row.id, index);
    }
    this.#asked.clear();
  }

  /** The answer with its new text; nothing if the delta does not fit what is here. */
  append({ rowId, version, field, at, text }: Delta): Row | undefined {
    const index = this.#indexes.get(rowId);
    const row = index === undefined ? undefined : this.#rows.get(index);
    if (index === undefined || row?.kind !== "answer" || row[field].length !== at) return undefined;
    const next: Row = { ...row, version, [field]: row[field] + text };
    this.#rows.set(index, next);
    return next;
  }

  /** A call put out more; nothing if its row is not here. */
  setOutput({ rowId, version, callId, output }: Output): void {
    const index = this.#indexes.get(rowId);
    const row = index === undefined ? undefined : this.#rows.get(index);
    if (index === undefined || row?.kind !== "answer") return;
    const tools = row.tools.map((tool) => (tool.id === callId ? { ...tool, output } : tool));
    this.#rows.set(index, { ...row, version, tools });
  }

  /** The page to ask for so that a row comes; none if it is here, or under way. `now` in ms. */
  nextPage(index: number, now: number): { readonly from: number; readonly to: number } | undefined {
    const start = index - (index % PAGE);
    if (this.#rows.has(index) || now - (this.#asked.get(start) ?? -Infinity) < PATIENCE_MS) return undefined;
    this.#asked.set(start, now);
    return { from: start, to: Math.min(start + PAGE, this.#total) - 1 };
  }

  #forget(index: number): void {
    const row = this.#rows.get(index);
    if (row === undefined) return;
    this.#rows.delete(index);
    this.#indexes.delete(row.id);
  }
}
