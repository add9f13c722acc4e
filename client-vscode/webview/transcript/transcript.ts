/**
 * The transcript: the list of prompts, answers and compressions. It builds itself inside an empty element that has a height and
 * `position: relative`: a scrolling `feed`, and the button that leads to the end. It knows nothing of the rest of the page but its host.
 */
import type { PanelState, Row, ScrollAnchor } from "../../src/panel/contract.js";
import { Chats } from "./chats.js";
import { element } from "./element.js";
import type { Match, TranscriptHost } from "./host.js";
import { LatestButton } from "./latestButton.js";
import { RowList } from "./list.js";
import { Navigator } from "./navigator.js";
import { Reveal } from "./reveal.js";
import { Roving } from "./roving.js";
import { RowStore, type Delta, type Output } from "./rowStore.js";
import { Quiet } from "./rows/guard.js";
import type { RowContext } from "./rows/rowView.js";
import { RowViews } from "./rowViews.js";
import { Selected } from "./selected.js";
import { Streams } from "./streams.js";
import type { Language } from "./texts.js";
import { Ticker } from "./ticker.js";
import { NEAR_END, Viewport } from "./viewport.js";

export type { Match, TranscriptHost, Translate } from "./host.js";
export type { Delta } from "./rowStore.js";

export class Transcript {
  /** The scrolling list, `role=feed`. */
  readonly feed: HTMLElement;
  readonly #host: TranscriptHost;
  readonly #store = new RowStore();
  readonly #views: RowViews;
  readonly #list: RowList;
  readonly #viewport: Viewport;
  readonly #roving: Roving;
  readonly #selected: Selected;
  readonly #latest = new LatestButton(() => this.#goToEnd());
  readonly #ticker = new Ticker();
  readonly #quiet = new Quiet();
  readonly #streams: Streams;
  readonly #reveal: Reveal;
  readonly #scrollListeners = new Set<() => void>();
  readonly #chats = new Chats();
  #language: Language;
  #messageKeys = true;
  #readOnly = false;
  #retryTurn: string | undefined;
  #promptExpected = false;
  /** Where the reader was in a chat whose rows are still to come. */
  #awaited: ScrollAnchor | undefined;
  /** Rows that were there when the end was last in sight. */
  #seenTotal = 0;

  constructor(root: HTMLElement, host: TranscriptHost) {
    this.#host = host;
    this.#language = { t: host.t, locale: "en" };
    const sizer = element("div", { class: "transcript-rows" });
    this.feed = element(
      "div",
      { class: "transcript", role: "feed", "aria-label": host.t("Conversation"), "aria-busy": "false" },
      sizer,
    );
    root.append(this.feed, this.#latest.element);
    this.#streams = new Streams(
      this.#store,
      () => this.#views,
      () => this.#streamed(),
    );
    this.#views = new RowViews(this.#context());
    this.#list = new RowList(this.#store, this.#views, host);
    this.#roving = new Roving(this.feed);
    this.#selected = new Selected(this.feed, () => this.#viewport.layout());
    this.#reveal = new Reveal({
      store: this.#store,
      list: this.#list,
      views: this.#views,
      roving: this.#roving,
      viewport: () => this.#viewport,
      unfolded: () => this.#runsChanged(),
    });
    this.#viewport = new Viewport(this.feed, sizer, this.#source());
    new Navigator(this.#navigation());
  }

  /**
   * A sync: the newest rows of `total`, beginning at index `from`. Rows whose id and version are on the page keep their nodes. Without
   * an anchor the reader stays where he is, if that row is still there, else at the end. One that comes ahead of all rows is kept for them.
   */
  reset(total: number, from: number, rows: readonly Row[], anchor = this.#awaited): void {
    this.#awaited = rows.length === 0 && anchor !== "end" ? anchor : undefined;
    const before = this.#viewport.place;
    this.#streams.clear();
    if (this.#chats.turn()) {
      this.#list.turnTo(this.#chats.shown);
      this.#viewport.forgetTop();
    }
    this.#store.reset(total, from, rows);
    this.#seenTotal = total;
    this.#promptExpected = false;
    this.#list.rebuild();
    // Kept views may be from before another turn was the newest, or other rows were folded.
    this.#views.refresh(rows.filter((row) => row.kind === "answer" || row.kind === "divider"));
    if (before !== "end" && this.#list.indexOfKey(before.key) === -1) this.#viewport.goTo("end");
    this.#rowsChanged(rows);
    if (anchor !== undefined) this.scrollTo(anchor);
    this.#reveal.rowsCame();
  }

  /** Rows that changed, were added or were asked for. */
  setRows(total: number, from: number, rows: readonly Row[]): void {
    this.#awaited = undefined;
    const before = this.#store.total;
    const focused = this.#focusedItem();
    this.#store.set(total, from, rows);
    this.#list.rebuild();
    this.#rowsChanged(rows);
    this.#reveal.keepFocus(focused);
    this.#reveal.rowsCame();
    const added =
      total > before ? rows.slice(Math.max(0, before - from)).findLast((row) => row.kind === "prompt") : undefined;
    if (added !== undefined && (this.#promptExpected || this.#viewport.following)) {
      this.#promptExpected = false;
      this.#viewport.putAtTop(added.id);
    }
  }

  /** Text that is appended to an answer. False if it does not fit what is here: then the row has to be loaded again. */
  appendDelta(delta: Delta): boolean {
    if (this.#store.append(delta) === undefined) return false;
    this.#streams.appended(delta.rowId);
    return true;
  }

  /** More output of a tool that runs. */
  setOutput(output: Output): void {
    this.#store.setOutput(output);
    this.#streams.appended(output.rowId);
  }

  /** Gives the focus to the question of a call; false if it is not on the page. */
  focusQuestion(row: number, callId: string): boolean {
    return this.#reveal.question(row, callId);
  }

  /** Everything around the rows. */
  setState(state: PanelState): void {
    const { settings, session, hidden, job } = state;
    const readOnly = session?.heldBy !== undefined;
    const changed = readOnly !== this.#readOnly || settings.locale !== this.#language.locale;
    this.#readOnly = readOnly;
    this.#chats.note(session?.sessionId);
    this.#language = { t: this.#host.t, locale: settings.locale };
    this.#messageKeys = settings.messageKeys;
    this.feed.setAttribute("aria-busy", String(job.kind === "turn"));
    if (state.retryTurn !== this.#retryTurn) this.#moveRetry(state.retryTurn);
    if (changed) this.#views.refresh(this.#store.rows());
    if (this.#list.setRuns(hidden)) {
      this.#runsChanged();
    } else if (changed) {
      this.#viewport.layout();
    }
  }

  /**
   * The person sent a prompt: when its row comes it goes near the top, and the end is followed from there, wherever the reader was. A
   * prompt that comes otherwise (from the queue, from another window) does that only where the end is followed already.
   */
  promptSent(): void {
    this.#promptExpected = true;
    this.#awaited = undefined;
  }

  /** Where the reader is. */
  anchor(): ScrollAnchor {
    if (this.#awaited !== undefined) return this.#awaited;
    const place = this.#viewport.place;
    if (place === "end") return "end";
    const item = this.#list.outline.at(this.#list.indexOfKey(place.key));
    const row = item && this.#store.at(item.kind === "row" ? item.row : item.run.from);
    return row === undefined ? "end" : { rowId: row.id, offset: Math.round(place.offset) };
  }

  /** Goes where a reader was. To the end if that row is not loaded. */
  scrollTo(anchor: ScrollAnchor): void {
    this.#viewport.forgetTop();
    const known = anchor !== "end" && this.#list.indexOfKey(anchor.rowId) !== -1;
    this.#viewport.goTo(known ? { key: anchor.rowId, offset: anchor.offset } : "end");
  }

  /** Calls after the reader or the list moved. Returns what ends that. */
  onScrolled(listener: () => void): () => void {
    this.#scrollListeners.add(listener);
    return () => this.#scrollListeners.delete(listener);
  }

  /** Shows matches of the find bar, one of them as the current one. */
  highlightMatches(matches: readonly Match[], current?: Match): void {
    this.#reveal.highlight(matches, current);
  }

  clearMatches(): void {
    this.#reveal.clearMatches();
  }

  /** Brings a match into sight and shows it as the current one. Rows that are not here yet are asked for. */
  revealMatch(match: Match): void {
    this.#reveal.match(match);
  }

  /** Shows a place that was asked for from elsewhere: unfolds what hides it, gives its message the focus, marks the words. */
  showPlace(place: Match): void {
    this.#reveal.place(place);
  }

  /** Brings a row that is here into sight; the focus stays where it is. */
  showRow(row: number, rowId: string): void {
    this.#reveal.row(row, rowId);
  }

  /** Gives the focus to the newest message. False if there is none. */
  focusNewest(): boolean {
    if (this.#list.length === 0) return false;
    this.#reveal.focusItem(this.#list.length - 1);
    return true;
  }

  dispose(): void {
    this.#streams.clear();
    this.#viewport.dispose();
    this.#views.dispose();
    this.#selected.dispose();
    this.#quiet.dispose();
    this.#reveal.clearMatches();
    this.#reveal.dispose();
    this.feed.remove();
    this.#latest.element.remove();
  }

  #context(): RowContext {
    const view = (): Transcript => this;
    return {
      host: this.#host,
      ticker: this.#ticker,
      quiet: this.#quiet,
      get language() {
        return view().#language;
      },
      get readOnly() {
        return view().#readOnly;
      },
      canRetry: (turnId) => turnId === view().#retryTurn,
      hiddenRun: (compressionId) => this.#list.run(compressionId),
      setExpanded: (compressionId, expanded) => {
        this.#viewport.stopFollowing(); // the rows go in below or above what was pressed
        this.#list.setExpanded(compressionId, expanded);
        this.#runsChanged();
      },
      keepPlace: () => this.#viewport.stopFollowing(),
      goToEnd: () => this.#goToEnd(),
      requestRender: (view) => this.#streams.waits(view),
    };
  }

  #source(): ConstructorParameters<typeof Viewport>[2] {
    const list = this.#list;
    return {
      get length() {
        return list.length;
      },
      keyAt: (index) => list.keyAt(index),
      indexOfKey: (key) => list.indexOfKey(key),
      estimate: (index, width) => list.estimate(index, width),
      elementAt: (index) => list.elementAt(index),
      pinned: () => this.#pinned(),
      shown: (first, last, mountedNew) => this.#shown(first, last, mountedNew),
    };
  }

  #navigation(): ConstructorParameters<typeof Navigator>[0] {
    const view = (): Transcript => this;
    return {
      feed: this.feed,
      list: this.#list,
      roving: this.#roving,
      host: this.#host,
      get messageKeys() {
        return view().#messageKeys;
      },
      focusItem: (index) => this.#reveal.focusItem(index),
      goToEnd: () => this.#goToEnd(),
    };
  }

  /** Items that stay mounted: with the focus, with a selection, streaming, or about to be shown. */
  *#pinned(): Generator<number> {
    yield this.#reveal.pinnedItem;
    yield this.#focusedItem();
    for (const article of this.#selected.articles()) yield Number(article.dataset["index"]);
    for (const id of this.#streams.growing) yield this.#list.indexOfKey(id);
  }

  #focusedItem(): number {
    const focused = this.#roving.focused;
    return focused === undefined ? -1 : Number(focused.dataset["index"]);
  }

  #shown(first: number, last: number, mountedNew: boolean): void {
    this.#list.loadAround(first, last);
    this.#roving.offer(this.#viewport.mounted(last) ?? this.#viewport.mounted(first));
    const atEnd = this.#viewport.distanceToEnd <= NEAR_END;
    if (atEnd) this.#seenTotal = this.#store.total;
    this.#latest.show(!atEnd, this.#store.total - this.#seenTotal, this.#language);
    if (mountedNew) {
      this.#views.trim();
      this.#reveal.refreshMarks();
    }
    for (const listener of this.#scrollListeners) listener();
  }

  /** Other rows are folded, and the rows of compressions say so. */
  #runsChanged(): void {
    this.#viewport.listChanged();
    this.#refreshMounted((row) => row.kind === "divider");
  }

  #rowsChanged(rows: readonly Row[]): void {
    this.#streams.rowsChanged(rows);
    this.#viewport.listChanged();
  }

  #goToEnd(): void {
    this.#viewport.goTo("end");
  }

  #streamed(): void {
    // Where nothing notifies of new sizes, look.
    if (typeof ResizeObserver === "undefined") this.#viewport.layout();
  }

  /** Another turn is the one that can be asked again. */
  #moveRetry(turnId: string | undefined): void {
    const answers = [this.#retryTurn, turnId].map((id) => this.#store.byId(`a:${id}`));
    this.#retryTurn = turnId;
    this.#views.refresh(answers.filter((row) => row !== undefined));
  }

  #refreshMounted(wanted: (row: Row) => boolean): void {
    for (const article of this.feed.querySelectorAll<HTMLElement>("article.row")) {
      const row = this.#list.rowAt(Number(article.dataset["index"]));
      if (row !== undefined && wanted(row)) this.#views.refresh([row]);
    }
  }
}
