/** One page's end of the wire: numbers its messages, folds bursts, posts nothing to a hidden view and all of it when it shows again. */
import type {
  AnswerRow,
  PanelState,
  Row,
  ScrollAnchor,
  ToolRow,
  ToPage,
  Unnumbered,
  Written,
} from "../panel/contract.js";

/** Rows in a sync, and at most in one page of them. */
export const ROWS_PER_PAGE = 200;

/** How long bursts are folded, ms: one frame. */
const FOLD_MS = 16;

/** What a link reads when it has something to post. */
export interface PageSource {
  readonly rows: readonly Row[];
  state(): PanelState;
  draft(): Written & { readonly draft: number; readonly scroll: ScrollAnchor };
  readonly strings: Readonly<Record<string, string>>;
}

interface PendingText {
  readonly at: number;
  readonly text: string;
  readonly version: number;
}

export class PageLink {
  #rev = 0;
  #isReady = false;
  #isVisible = true;
  #timer: NodeJS.Timeout | undefined;
  #stateDue = false;
  #rowsDue: { from: number; to: number } | undefined;
  #resetDue = false;
  #texts = new Map<string, PendingText>();
  /** The newest of each tool, by the id of its call. */
  #outputs = new Map<string, { readonly row: AnswerRow; readonly tool: ToolRow }>();

  constructor(
    private readonly send: (message: ToPage) => void,
    private readonly source: PageSource,
  ) {}

  /** The page is there (again): post it everything, with the draft if it has just booted. */
  ready(boot: boolean): void {
    this.#isReady = true;
    this.#sync(boot);
  }

  visible(isVisible: boolean): void {
    const shows = isVisible && !this.#isVisible;
    this.#isVisible = isVisible;
    if (shows && this.#isReady) this.#sync(false);
  }

  reset(): void {
    this.#resetDue = true;
    this.#schedule();
  }

  state(): void {
    this.#stateDue = true;
    this.#schedule();
  }

  rows(from: number, count: number): void {
    const to = from + count - 1;
    this.#rowsDue = this.#rowsDue
      ? { from: Math.min(from, this.#rowsDue.from), to: Math.max(to, this.#rowsDue.to) }
      : { from, to };
    this.#schedule();
  }

  delta(row: AnswerRow, field: "text" | "thoughts", at: number, text: string): void {
    const key = `${field} ${row.id}`;
    const pending = this.#texts.get(key);
    this.#texts.set(
      key,
      pending ? { ...pending, text: pending.text + text, version: row.version } : { at, text, version: row.version },
    );
    this.#schedule();
  }

  output(row: AnswerRow, tool: ToolRow): void {
    this.#outputs.set(tool.id, { row, tool });
    this.#schedule();
  }

  /** An answer, a command: not folded, but never ahead of what was posted before. */
  post(message: Unnumbered): void {
    if (!this.#isReady) return;
    this.#flush();
    this.#post(message);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#isReady = false;
  }

  #schedule(): void {
    if (!this.#isReady || !this.#isVisible || this.#timer) return;
    this.#timer = setTimeout(() => this.#flush(), FOLD_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isReady || !this.#isVisible) return;
    if (this.#resetDue) {
      this.#sync(false);
      return;
    }
    const rows = this.#rowsDue;
    this.#rowsDue = undefined;
    if (rows)
      this.#post({
        type: "rows",
        total: this.source.rows.length,
        from: rows.from,
        rows: this.source.rows.slice(rows.from, rows.to + 1),
      });
    const sent = new Set(rows ? this.source.rows.slice(rows.from, rows.to + 1).map((row) => row.id) : []);
    for (const [key, { at, text, version }] of this.#texts) {
      const [field, rowId] = [
        key.startsWith("text ") ? ("text" as const) : ("thoughts" as const),
        key.slice(key.indexOf(" ") + 1),
      ];
      if (!sent.has(rowId)) this.#post({ type: "delta", rowId, version, field, at, text }); // else the row has it already
    }
    this.#texts.clear();
    for (const { row, tool } of this.#outputs.values())
      if (!sent.has(row.id))
        this.#post({ type: "output", rowId: row.id, version: row.version, callId: tool.id, output: tool.output });
    this.#outputs.clear();
    if (this.#stateDue) {
      this.#stateDue = false;
      this.#post({ type: "state", state: this.source.state() });
    }
  }

  #sync(boot: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stateDue = this.#resetDue = false;
    this.#rowsDue = undefined;
    this.#texts.clear();
    this.#outputs.clear();
    const total = this.source.rows.length;
    const from = Math.max(0, total - ROWS_PER_PAGE);
    this.#post({
      type: "sync",
      state: this.source.state(),
      total,
      from,
      rows: this.source.rows.slice(from),
      strings: this.source.strings,
      ...(boot ? { draft: this.source.draft() } : {}),
    });
  }

  #post(message: Unnumbered): void {
    this.#rev += 1;
    this.send({ ...message, rev: this.#rev });
  }
}
