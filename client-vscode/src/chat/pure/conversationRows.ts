/** The rows of one conversation, by their index and by their id, with the ones that are under way. Every change gets a version. */
import type { AnswerRow, DividerRow, NoticeRow, PromptRow, Row, ToolRow, Written } from "../../panel/contract.js";
import type { CompressionResult, CompressionStatusReport, Constraint, UnfinishedTurn } from "../../protocol.gen.js";
import { answerLook, dividerLook } from "../../panel/statuses.js";
import { settled, type UnversionedRow } from "./history.js";
import { keptAs, keptByTurn } from "./kept.js";
import { withCall } from "./toolHistory.js";
import { cutShort, withOutput } from "./toolRows.js";
import type { Translate } from "./words.js";

/** Of all chats: the page knows by a row's id and version whether it shows it already, and a fork has the ids of its original. */
let newestVersion = 0;

/** What follows each change. */
export interface ConversationListener {
  /** Rows `from` to the end of `count` rows were changed or added. */
  rows(from: number, count: number): unknown;
  /** Text came to the end of a row that is otherwise as it was. `at` is where it begins. */
  delta(row: AnswerRow, field: "text" | "thoughts", at: number, text: string): unknown;
  /** A tool of an answer put something out. */
  output(row: AnswerRow, tool: ToolRow): unknown;
  /** Everything may have changed. */
  reset(): unknown;
}

/** Whether an answer is still being made. */
export function isLive(row: Row): boolean {
  return row.kind === "answer" && answerLook(row.state).isLive;
}

export class ConversationRows {
  /** The model that was meant, while another answers in its place and a row says so. */
  meantModel: string | undefined;
  readonly #all: Row[] = [];
  readonly #indexes = new Map<string, number>();
  /** Ids of the answers that are being made and of the compressions that run: each change of a row keeps it true. */
  readonly #underWay = new Set<string>();
  /** The row that shows an entry of the log, by the entry's id. */
  protected entries: ReadonlyMap<string, string> = new Map();
  /** The turn that can be gone on with, as the daemon says; none while one is under way. */
  unfinished: UnfinishedTurn | undefined;
  #constraints: readonly Constraint[] = [];
  #locals = 0;

  constructor(
    protected readonly listener: ConversationListener,
    readonly t: Translate,
    readonly now: () => number,
    /** A path as people read it: inside its workspace folder. */
    readonly place: (path: string) => string = (path) => path,
  ) {}

  /** Oldest first. */
  get rows(): readonly Row[] {
    return this.#all;
  }

  row(id: string): Row | undefined {
    const index = this.#indexes.get(id);
    return index === undefined ? undefined : this.rows[index];
  }

  indexOf(id: string): number | undefined {
    return this.#indexes.get(id);
  }

  /** The id of the row that shows an entry of the log, as far as the transcript was read. */
  rowOfEntry(entryId: string): string | undefined {
    return this.entries.get(entryId);
  }

  /** Rules and pins of the session, oldest first. */
  get constraints(): readonly Constraint[] {
    return this.#constraints;
  }

  /** All rules and pins, as they stand now; the rows of their turns say so. */
  setConstraints(constraints: readonly Constraint[]): void {
    this.#constraints = constraints;
    const kept = keptByTurn(constraints);
    for (const [index, row] of this.#all.entries()) {
      const next = keptAs(row, kept);
      if (next === row) continue;
      this.#put(index, { ...next, version: this.nextVersion() });
      this.listener.rows(index, 1);
    }
  }

  answer(turnId: string): AnswerRow | undefined {
    const row = this.row(`a:${turnId}`);
    return row?.kind === "answer" ? row : undefined;
  }

  prompt(turnId: string): PromptRow | undefined {
    const row = this.row(`p:${turnId}`);
    return row?.kind === "prompt" ? row : undefined;
  }

  divider(compressionId: string): DividerRow | undefined {
    const row = this.row(`c:${compressionId}`);
    return row?.kind === "divider" ? row : undefined;
  }

  /** Whether a row says what came of a compression. A result that changed nothing has no id of its own. */
  tells({ compressionId, message }: Pick<CompressionResult, "compressionId" | "message">): boolean {
    if (compressionId !== undefined) return this.divider(compressionId) !== undefined;
    return this.#all.findLast((row) => row.kind === "divider")?.result?.message === message;
  }

  /** What the daemon's status says of compressions that no event tells of: one that waits, or that waited and was called off. */
  standing({ compressionId, phase }: Pick<CompressionStatusReport, "compressionId" | "phase">): void {
    for (const row of this.#runningDividers())
      if (row.state === "waiting" && row.compressionId !== compressionId)
        this.change(row.id, "divider", { state: "cancelled" });
    // Without an answer to wait for it begins in the same moment.
    if (compressionId === undefined || phase !== "waiting" || !this.runningAnswer || this.divider(compressionId))
      return;
    const time = this.now();
    this.add({
      kind: "divider",
      id: `c:${compressionId}`,
      compressionId,
      state: "waiting",
      trigger: "manual",
      time,
    });
  }

  /**
   * A compression that ran when the window was closed. It goes on if the daemon still runs it, and is called off if nothing came of it.
   */
  recall(compressionId: string, { compressionId: running, phase, elapsedMs }: Partial<CompressionStatusReport>): void {
    if (this.divider(compressionId)) return;
    const isRunning = running === compressionId;
    const isWaiting = isRunning && phase === "waiting";
    this.add({
      kind: "divider",
      id: `c:${compressionId}`,
      compressionId,
      state: isWaiting ? "waiting" : isRunning ? "running" : "cancelled",
      trigger: "manual",
      time: this.now(),
      ...(isRunning && !isWaiting && phase !== undefined ? { phase } : {}),
      ...(isRunning && !isWaiting && elapsedMs !== undefined ? { startedAt: this.now() - elapsedMs } : {}),
    });
  }

  /** The answers that are being made or wait for their turn, oldest first. */
  get liveAnswers(): readonly AnswerRow[] {
    return this.#rowsUnderWay().filter((row) => row.kind === "answer");
  }

  /** The answer that is being made now: the newest that does not wait for its turn. */
  get runningAnswer(): AnswerRow | undefined {
    return this.liveAnswers.findLast((row) => answerLook(row.state).isRunning);
  }

  /** The compression that an undo takes back. */
  get undoable(): DividerRow | undefined {
    return this.#all.findLast((row) => row.kind === "divider" && row.canUndo === true) as DividerRow | undefined;
  }

  get runningCompression(): DividerRow | undefined {
    return this.#runningDividers().at(-1);
  }

  /** Whether a compression came to nothing: no list of the daemon holds it, so its row is all that tells of it. */
  get hasUnlisted(): boolean {
    return this.#all.some((row) => row.kind === "divider" && (row.state === "unchanged" || row.state === "cancelled"));
  }

  nextVersion(): number {
    newestVersion += 1;
    return newestVersion;
  }

  /** A prompt on its way: shown at once, and joined with its turn when the daemon announces it. Returns the local turn's id. */
  send(prompt: Written, model: string): string {
    this.settleFailures();
    this.#locals += 1;
    const turnId = `local-${this.#locals}`;
    const time = this.now();
    this.add({ kind: "prompt", id: `p:${turnId}`, turnId, ...prompt, time });
    this.add({
      kind: "answer",
      id: `a:${turnId}`,
      turnId,
      model,
      state: "sending",
      text: "",
      thoughts: "",
      tools: [],
      attempt: 1,
      time,
      since: time,
    });
    return turnId;
  }

  /** The oldest prompt of ours that the daemon has not announced yet. */
  get unsent(): AnswerRow | undefined {
    return this.liveAnswers.find((row) => row.turnId.startsWith("local-"));
  }

  /** The daemon gave a prompt of ours its turn. */
  adopt(localId: string, turnId: string): void {
    for (const prefix of ["p", "a"]) {
      const index = this.#indexes.get(`${prefix}:${localId}`);
      const row = index === undefined ? undefined : this.rows[index];
      if (index === undefined || row === undefined || !("turnId" in row)) continue;
      this.#indexes.delete(row.id);
      this.#underWay.delete(row.id);
      this.#put(index, { ...row, id: `${prefix}:${turnId}`, turnId, version: this.nextVersion() });
      this.listener.rows(index, 1);
    }
  }

  /** A prompt that turned out to be none (a command), or that comes back to the composer, leaves no row. */
  withdraw(turnId: string): void {
    const kept = this.rows.filter((row) => row.kind === "divider" || row.kind === "notice" || row.turnId !== turnId);
    if (kept.length === this.rows.length) return;
    this.replace(kept);
  }

  /** A turn begins: what failed before it is history, and its buttons go. */
  settleFailures(): void {
    for (const row of [...this.rows]) {
      if (row.kind === "answer" && row.error && row.error.actions.length > 0 && !isLive(row))
        this.change(row.id, "answer", { error: settled(row.error) });
    }
  }

  add(draft: UnversionedRow): void {
    const existing = this.#indexes.get(draft.id);
    const row: Row = { ...draft, version: this.nextVersion() };
    const index = existing ?? this.rows.length;
    this.#put(index, row);
    this.listener.rows(index, 1);
  }

  notice(level: NoticeRow["level"], text: string, actions: NoticeRow["actions"] = []): void {
    this.add({ kind: "notice", id: `n:${this.nextVersion()}`, level, text, actions, time: this.now() });
  }

  /** A notice above a row, or at the end if there is no such row. */
  noticeBefore(id: string, level: NoticeRow["level"], text: string): void {
    const noticeId = `n:${this.nextVersion()}`;
    this.addBefore(id, { kind: "notice", id: noticeId, level, text, actions: [], time: this.now() });
  }

  remove(id: string): void {
    if (this.#indexes.has(id)) this.replace(this.#all.filter((row) => row.id !== id));
  }

  /** A new row above another, or at the end if there is no such row. One that is there already stays where it is. */
  addBefore(id: string, draft: UnversionedRow): void {
    const index = this.#indexes.has(draft.id) ? undefined : this.#indexes.get(id);
    this.add(draft);
    const added = this.#all.at(-1);
    if (index === undefined || added === undefined) return;
    this.replace([...this.#all.slice(0, index), added, ...this.#all.slice(index, -1)]);
  }

  change<K extends Row["kind"]>(
    id: string,
    kind: K,
    change: Partial<Omit<Extract<Row, { kind: K }>, "kind" | "id" | "version">>,
  ): void {
    const index = this.#indexes.get(id);
    const row = index === undefined ? undefined : this.rows[index];
    if (index === undefined || row?.kind !== kind) return;
    // The kinds agree, so the change fits the row; the compiler cannot follow the union through the type parameter.
    this.#put(index, { ...row, ...change, version: this.nextVersion() });
    this.listener.rows(index, 1);
  }

  /** Text at the end of an answer. */
  extend(turnId: string, field: "text" | "thoughts", text: string): void {
    const index = this.#indexes.get(`a:${turnId}`);
    const row = index === undefined ? undefined : this.rows[index];
    if (index === undefined || row?.kind !== "answer" || text === "") return;
    const at = row[field].length;
    const next: AnswerRow = { ...row, [field]: row[field] + text, version: this.nextVersion() };
    this.#put(index, next);
    this.listener.delta(next, field, at, text);
  }

  /** Whether a row is still being made. */
  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** A call of a tool, and the turn that it belongs to. */
  tool(callId: string): { readonly turnId: string; readonly tool: ToolRow } | undefined {
    const has = (row: Row): row is AnswerRow => row.kind === "answer" && row.tools.some(({ id }) => id === callId);
    const row = this.liveAnswers.find(has) ?? this.#all.findLast(has);
    const tool = row?.tools.find(({ id }) => id === callId);
    return row && tool && { turnId: row.turnId, tool };
  }

  /** A call as it is now; a new one comes last. */
  setTool(turnId: string, tool: ToolRow): void {
    const row = this.answer(turnId);
    if (row === undefined) return;
    this.change(row.id, "answer", { tools: withCall(row.tools, tool) });
  }

  /** More output of a tool. */
  extendTool(callId: string, output: string): void {
    const found = this.tool(callId);
    const row = this.answer(found?.turnId ?? "");
    const index = this.#indexes.get(row?.id ?? "");
    if (found === undefined || row === undefined || index === undefined || output === "") return;
    const tool = withOutput(found.tool, found.tool.output + output);
    const tools = row.tools.map((known) => (known === found.tool ? tool : known));
    const next: AnswerRow = { ...row, tools, version: this.nextVersion() };
    this.#put(index, next);
    this.listener.output(next, tool);
  }

  /** The daemon is gone: nothing that was under way will go on. */
  interrupt(error: AnswerRow["error"]): void {
    for (const { id, tools } of this.liveAnswers)
      this.change(id, "answer", { state: "failed", tools: tools.map(cutShort), ...(error ? { error } : {}) });
    for (const { id } of this.#runningDividers()) this.change(id, "divider", { state: "cancelled" });
  }

  /** Put these rows in the place of all. */
  protected replace(rows: readonly Row[]): void {
    this.#all.splice(0, this.#all.length);
    this.#indexes.clear();
    this.#underWay.clear();
    for (const row of rows) this.#put(this.#all.length, row);
    this.listener.reset();
  }

  #put(index: number, row: Row): void {
    this.#all[index] = row;
    this.#indexes.set(row.id, index);
    if (isLive(row) || (row.kind === "divider" && dividerLook(row.state).isRunning)) this.#underWay.add(row.id);
    else this.#underWay.delete(row.id);
  }

  #rowsUnderWay(): Row[] {
    const indexes = [...this.#underWay].flatMap((id) => this.#indexes.get(id) ?? []).sort((a, b) => a - b);
    return indexes.flatMap((index) => this.rows[index] ?? []);
  }

  #runningDividers(): DividerRow[] {
    return this.#rowsUnderWay().filter((row) => row.kind === "divider");
  }
}
