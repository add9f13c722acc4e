/** The rows of one conversation: read from its transcript, kept true by the daemon's events. */
import type { Row } from "../../panel/contract.js";
import type { CompressionInfo, Constraint, EventParams, HistoryItem } from "../../protocol.gen.js";
import { ConversationRows, isLive } from "./conversationRows.js";
import { applyEvent } from "./events.js";
import { beginTurn, offerToGoOn } from "./unfinished.js";
import { rowsByEntry, rowsOf, type UnversionedRow } from "./history.js";

const ENDS: ReadonlySet<EventParams["event"]["type"]> = new Set(["turnCompleted", "turnFailed", "turnCancelled"]);

export class Conversation extends ConversationRows {
  #seq = 0;
  /** The turn that ran already when the chat was opened here, until it ends: what it said before is in the transcript alone. */
  #joined: string | undefined;
  /** The last turn that ended, while it does not go on. */
  #ended: string | undefined;

  /**
   * The turn that runs, as the daemon says. To be told before any event of it comes: it may end while the transcript is read. What is
   * said may be older than its end; and one that was joined before and is not said to run any more has ended, told to nobody here.
   */
  join(turnId: string | undefined): void {
    const before = this.answer(this.#joined ?? "");
    this.#joined = turnId === this.#ended ? undefined : turnId;
    if (before && before.turnId !== this.#joined && isLive(before)) this.change(before.id, "answer", { state: "done" });
  }

  /** The number of the newest event that was applied. */
  get seq(): number {
    return this.#seq;
  }

  /**
   * Take the transcript over. Rows that did not change keep their version; what only this window knows (an answer that streams, a
   * prompt that could not be sent, a notice) stays where it stood; where the whole transcript is new here, it is older than all that.
   */
  load(
    items: readonly HistoryItem[],
    compressions: readonly CompressionInfo[],
    constraints: readonly Constraint[],
    discarded: ReadonlySet<string>,
  ): void {
    this.entries = rowsByEntry(items);
    const drafts = rowsOf({ items, compressions, constraints, discarded }, this.t, this.place);
    const known = new Set(drafts.map((draft) => draft.id));
    const followers = new Map<string, Row[]>();
    let anchor = "";
    for (const row of this.rows) {
      if (known.has(row.id)) anchor = row.id;
      else if (this.#outlives(row)) followers.set(anchor, [...(followers.get(anchor) ?? []), row]);
    }
    const own = followers.get("") ?? [];
    const isOlder = anchor === "";
    const next: Row[] = isOlder ? [] : [...own];
    for (const draft of drafts) {
      next.push(this.#renewed(draft), ...(followers.get(draft.id) ?? []));
    }
    if (isOlder) next.push(...own);
    this.replace(next);
    this.setConstraints(constraints);
    this.#goAlong();
    offerToGoOn(this);
  }

  /** The rounds of a turn that are in the transcript look like a finished answer. */
  #goAlong(): void {
    const turnId = this.#joined;
    const answer = this.answer(turnId ?? "");
    if (turnId === undefined || this.prompt(turnId) === undefined || (answer && isLive(answer))) return;
    beginTurn(this, turnId);
    const id = `a:${turnId}`;
    const empty = { model: "", text: "", thoughts: "", tools: [], attempt: 1 };
    this.add({ ...empty, ...this.answer(turnId), kind: "answer", id, turnId, state: "working", since: Date.now() });
  }

  /** Whether a row that the transcript does not have is kept: what is under way, and what only this window knows. */
  #outlives(row: Row): boolean {
    if (row.kind === "notice" || isLive(row)) return true;
    if (row.kind === "divider") return row.state !== "preview" && row.state !== "outdated";
    if (row.kind === "prompt") {
      const answer = this.answer(row.turnId);
      return answer !== undefined && this.#outlives(answer);
    }
    return row.state === "failed" || row.state === "blocked" || row.state === "stopped";
  }

  #renewed(draft: UnversionedRow): Row {
    const old = this.row(draft.id);
    if (old === undefined) return { ...draft, version: this.nextVersion() };
    const next = isLive(old)
      ? { ...old, ...(draft.hiddenBy === undefined ? {} : { hiddenBy: draft.hiddenBy }) }
      : enriched(old, draft);
    return same(old, next) ? old : { ...next, version: this.nextVersion() };
  }

  /** One event of the daemon; one that was applied already does nothing. True if the joined turn ended: all of it is to be read. */
  apply(params: EventParams): boolean {
    if (params.seq <= this.#seq) return false;
    this.#seq = params.seq;
    const { turnId, event } = params;
    if (ENDS.has(event.type)) this.#ended = turnId;
    else if (event.type === "turnStarted" && turnId === this.#ended) this.#ended = undefined;
    const isEnd = this.#joined !== undefined && turnId === this.#joined && ENDS.has(event.type);
    if (isEnd) this.#joined = undefined;
    applyEvent(this, params);
    return isEnd;
  }
}

/** What the transcript says, with what only the live events said (thoughts, times, the answer cut short) where it is silent. */
function enriched(old: Row, draft: UnversionedRow): UnversionedRow {
  if (old.kind === "answer" && draft.kind === "answer") {
    return {
      ...draft,
      text: draft.text || old.text,
      thoughts: draft.thoughts || old.thoughts,
      tools: draft.tools.length > 0 ? draft.tools : old.tools,
      model: draft.model || old.model,
      ...pick(old, draft, ["thoughtMs", "durationMs", "usage", "finishReason"]),
      ...(old.error && draft.error ? { error: old.error } : {}),
      ...(old.state === "blocked" && draft.state === "failed" ? { state: "blocked" as const } : {}),
    };
  }
  if (old.kind === "divider" && draft.kind === "divider") {
    return {
      ...draft,
      ...pick(old, draft, ["startedAt", "hiddenTurns", "undoWaits"]),
      ...(old.result?.message && draft.state !== "undone" ? { result: old.result } : {}),
    };
  }
  if (old.kind === "prompt" && draft.kind === "prompt") return { ...draft, ...pick(old, draft, ["receipt"]) };
  return draft;
}

function pick<T extends object, K extends keyof T>(old: T, next: object, keys: readonly K[]): Partial<Pick<T, K>> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (!(key in next) && old[key] !== undefined) picked[key] = old[key];
  return picked;
}

/** Equal but for the version. Rows are plain data. */
function same(old: Row, next: object): boolean {
  return stable({ ...old, version: 0 }) === stable({ ...next, version: 0 });
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
