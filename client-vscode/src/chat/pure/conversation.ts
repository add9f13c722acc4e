/** The rows of one conversation: told from its transcript, kept true by the daemon's events. */
import type { AnswerRow, DividerRow, NoticeRow, PromptRow, Row } from "../../panel/contract.js";
import type { CompactionInfo, EventParams, HistoryItem, Pin } from "../../protocol.gen.js";
import { applyEvent } from "./events.js";
import { rowsOf, settled, type Draft } from "./history.js";
import type { Translate } from "./words.js";

/** What a listener is told after each change. */
export interface ConversationListener {
  /** Rows `from` to the end of `count` rows were changed or added. */
  rows(from: number, count: number): unknown;
  /** Text came to the end of a row that is otherwise as it was. `at` is where it begins. */
  delta(row: AnswerRow, field: "text" | "thoughts", at: number, text: string): unknown;
  /** Everything may have changed. */
  reset(): unknown;
}

const LIVE: ReadonlySet<AnswerRow["state"]> = new Set(["queued", "sending", "thinking", "streaming", "waiting", "stopping"]);

/** Whether an answer is still being made. */
export function isLive(row: Row): boolean {
  return row.kind === "answer" && LIVE.has(row.state);
}

export class Conversation {
  /** Oldest first. */
  readonly rows: Row[] = [];
  #indexes = new Map<string, number>();
  #version = 0;
  #notices = 0;
  #locals = 0;
  #seq = 0;
  #told = false;

  constructor(
    private readonly listener: ConversationListener,
    readonly t: Translate,
    readonly now: () => number,
    /** A path as people read it: inside its workspace folder. */
    readonly place: (path: string) => string = (path) => path,
  ) {}

  /** The number of the newest event that was applied. */
  get seq(): number {
    return this.#seq;
  }

  row(id: string): Row | undefined {
    const index = this.#indexes.get(id);
    return index === undefined ? undefined : this.rows[index];
  }

  indexOf(id: string): number | undefined {
    return this.#indexes.get(id);
  }

  answer(turnId: string): AnswerRow | undefined {
    const row = this.row(`a:${turnId}`);
    return row?.kind === "answer" ? row : undefined;
  }

  prompt(turnId: string): PromptRow | undefined {
    const row = this.row(`p:${turnId}`);
    return row?.kind === "prompt" ? row : undefined;
  }

  divider(compactionId: string): DividerRow | undefined {
    const row = this.row(`c:${compactionId}`);
    return row?.kind === "divider" ? row : undefined;
  }

  /**
   * Take the transcript over. Rows that did not change keep their version; what only this window knows (an answer that streams, a
   * prompt that could not be sent, a notice) stays where it stood.
   */
  tell(items: readonly HistoryItem[], compactions: readonly CompactionInfo[], pins: readonly Pin[], discarded: ReadonlySet<string>): void {
    const drafts = rowsOf({ items, compactions, pins, discarded }, this.t, this.place);
    const known = new Set(drafts.map((draft) => draft.id));
    const followers = new Map<string, Row[]>();
    let anchor = "";
    for (const row of this.rows) {
      if (known.has(row.id)) anchor = row.id;
      else if (this.#outlives(row)) followers.set(anchor, [...(followers.get(anchor) ?? []), row]);
    }
    const next: Row[] = [...(followers.get("") ?? [])];
    for (const draft of drafts) {
      next.push(this.#renewed(draft), ...(followers.get(draft.id) ?? []));
    }
    this.rows.splice(0, this.rows.length, ...next);
    this.#index();
    this.#told = true;
    this.listener.reset();
  }

  /** Whether a row that the transcript does not have is kept: what is under way, and what only this window knows. */
  #outlives(row: Row): boolean {
    if (row.kind === "notice" || isLive(row)) return true;
    if (row.kind === "divider") return row.state !== "preview";
    if (row.kind === "prompt") {
      const answer = this.answer(row.turnId);
      return answer !== undefined && (isLive(answer) || answer.state === "failed" || answer.state === "blocked");
    }
    return row.state === "failed" || row.state === "blocked" || row.state === "stopped";
  }

  #renewed(draft: Draft): Row {
    const old = this.row(draft.id);
    if (old === undefined) return { ...draft, version: this.nextVersion() };
    const next = isLive(old) ? { ...old, ...(draft.hiddenBy === undefined ? {} : { hiddenBy: draft.hiddenBy }) } : enriched(old, draft);
    return same(old, next) ? old : { ...next, version: this.nextVersion() };
  }

  nextVersion(): number {
    this.#version += 1;
    return this.#version;
  }

  /** One event of the daemon. An event that was applied already does nothing. */
  apply(params: EventParams): void {
    if (params.seq <= this.#seq) return;
    this.#seq = params.seq;
    applyEvent(this, params);
  }

  /** A prompt on its way: shown at once, and joined with its turn when the daemon tells of it. Returns the local turn's id. */
  send(text: string, model: string): string {
    this.settleFailures();
    this.#locals += 1;
    const turnId = `local-${this.#locals}`;
    const time = this.now();
    this.add({ kind: "prompt", id: `p:${turnId}`, turnId, text, time });
    this.add({ kind: "answer", id: `a:${turnId}`, turnId, model, state: "sending", text: "", thoughts: "", tools: [], attempt: 1, time, since: time });
    return turnId;
  }

  /** The oldest prompt of ours that the daemon has not told of yet. */
  get unsent(): AnswerRow | undefined {
    return this.rows.find((row): row is AnswerRow => row.kind === "answer" && isLive(row) && row.turnId.startsWith("local-"));
  }

  /** The daemon gave a prompt of ours its turn. */
  adopt(localId: string, turnId: string): void {
    for (const prefix of ["p", "a"]) {
      const index = this.#indexes.get(`${prefix}:${localId}`);
      const row = index === undefined ? undefined : this.rows[index];
      if (index === undefined || row === undefined || !("turnId" in row)) continue;
      this.#indexes.delete(row.id);
      const id = `${prefix}:${turnId}`;
      this.#indexes.set(id, index);
      this.rows[index] = { ...row, id, turnId, version: this.nextVersion() };
      this.listener.rows(index, 1);
    }
  }

  /** A prompt that turned out to be none (a command), or that comes back to the composer, leaves no row. */
  withdraw(turnId: string): void {
    const kept = this.rows.filter((row) => row.kind === "divider" || row.kind === "notice" || row.turnId !== turnId);
    if (kept.length === this.rows.length) return;
    this.rows.splice(0, this.rows.length, ...kept);
    this.#index();
    this.listener.reset();
  }

  /** A turn begins: what failed before it is history, and its buttons go. */
  settleFailures(): void {
    for (const row of [...this.rows]) {
      if (row.kind === "answer" && row.error && row.error.actions.length > 0 && !isLive(row)) this.change(row.id, "answer", { error: settled(row.error) });
    }
  }

  add(draft: Draft): void {
    const existing = this.#indexes.get(draft.id);
    const row: Row = { ...draft, version: this.nextVersion() };
    const index = existing ?? this.rows.length;
    this.rows[index] = row;
    this.#indexes.set(row.id, index);
    this.listener.rows(index, 1);
  }

  notice(level: NoticeRow["level"], text: string, actions: NoticeRow["actions"] = []): void {
    this.#notices += 1;
    this.add({ kind: "notice", id: `n:${this.#notices}`, level, text, actions, time: this.now() });
  }

  change<K extends Row["kind"]>(id: string, kind: K, change: Partial<Omit<Extract<Row, { kind: K }>, "kind" | "id" | "version">>): void {
    const index = this.#indexes.get(id);
    const row = index === undefined ? undefined : this.rows[index];
    if (index === undefined || row?.kind !== kind) return;
    // The kinds agree, so the change fits the row; the compiler cannot follow the union through the type parameter.
    this.rows[index] = { ...row, ...change, version: this.nextVersion() };
    this.listener.rows(index, 1);
  }

  /** Text at the end of an answer. */
  extend(turnId: string, field: "text" | "thoughts", text: string): void {
    const index = this.#indexes.get(`a:${turnId}`);
    const row = index === undefined ? undefined : this.rows[index];
    if (index === undefined || row?.kind !== "answer" || text === "") return;
    const at = row[field].length;
    const next: AnswerRow = { ...row, [field]: row[field] + text, version: this.nextVersion() };
    this.rows[index] = next;
    this.listener.delta(next, field, at, text);
  }

  /** The daemon is gone: nothing that was under way will go on. */
  interrupt(error: AnswerRow["error"]): void {
    for (const row of [...this.rows]) {
      if (isLive(row)) this.change(row.id, "answer", { state: "failed", ...(error ? { error } : {}) });
      else if (row.kind === "divider" && row.state === "running") this.change(row.id, "divider", { state: "cancelled" });
    }
  }

  /** Whether the transcript was read yet. */
  get isTold(): boolean {
    return this.#told;
  }

  #index(): void {
    this.#indexes = new Map(this.rows.map((row, index) => [row.id, index]));
  }
}

/** What the transcript says, with what only the live events told (thoughts, times, the answer cut short) where it is silent. */
function enriched(old: Row, draft: Draft): Draft {
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
    return { ...draft, ...pick(old, draft, ["startedAt", "hiddenTurns"]), ...(old.result?.message && draft.state !== "undone" ? { result: old.result } : {}) };
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
    typeof inner === "object" && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
