/** Which rows are listed: all of them, but for the runs that a compression hides, of which each is one line until it is unfolded. */
import type { HiddenRun } from "../../src/panel/contract.js";

/** A line of the list: a row by its index in the conversation, or what stands for a run of hidden ones. */
export type Item = { readonly kind: "row"; readonly row: number } | { readonly kind: "fold"; readonly run: HiddenRun };

/** Consecutive items: one fold, or rows that follow each other. */
interface Segment {
  readonly item: number;
  readonly length: number;
  readonly row: number;
  readonly run?: HiddenRun;
}

export class Outline {
  /** How many items there are. */
  readonly length: number;
  readonly runs: readonly HiddenRun[];
  readonly #segments: readonly Segment[];

  /** `total` rows; `expanded` are the compressions whose runs are unfolded. Runs that overlap an earlier one or no row are left out. */
  constructor(total: number, runs: readonly HiddenRun[], expanded: ReadonlySet<string>) {
    const segments: Segment[] = [];
    const kept: HiddenRun[] = [];
    let row = 0;
    let item = 0;
    const rowsUpTo = (end: number): void => {
      if (end > row) segments.push({ item, length: end - row, row });
      item += Math.max(0, end - row);
      row = Math.max(row, end);
    };
    for (const run of runs.toSorted((one, other) => one.from - other.from)) {
      if (run.from < row || run.to < run.from || run.from >= total) continue;
      kept.push(run);
      rowsUpTo(run.from);
      segments.push({ item, length: 1, row, run });
      item++;
      if (expanded.has(run.compressionId)) rowsUpTo(Math.min(run.to + 1, total));
      else row = Math.min(run.to + 1, total);
    }
    rowsUpTo(total);
    this.#segments = segments;
    this.runs = kept;
    this.length = item;
  }

  /** The item at an index; none outside of 0 to `length`. */
  at(index: number): Item | undefined {
    const segment = this.#segments[lastWhere(this.#segments, (one) => one.item <= index)];
    if (segment === undefined || index >= segment.item + segment.length) return undefined;
    return segment.run === undefined
      ? { kind: "row", row: segment.row + index - segment.item }
      : { kind: "fold", run: segment.run };
  }

  /** The item that shows a row, or the fold that hides it; -1 if there is no such row. */
  indexOfRow(row: number): number {
    const at = lastWhere(this.#segments, (one) => one.row <= row);
    const segment = this.#segments[at];
    if (segment === undefined) return -1;
    if (segment.run !== undefined) return row <= segment.run.to ? segment.item : -1;
    return row < segment.row + segment.length ? segment.item + row - segment.row : -1;
  }
}

/** The last index for which a condition holds that holds for a beginning of the list; -1 if for none. */
function lastWhere<T>(list: readonly T[], holds: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = list[middle];
    if (one !== undefined && holds(one)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
