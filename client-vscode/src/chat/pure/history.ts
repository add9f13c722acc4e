/** From a session's transcript, as the daemon lists it, to rows. */
import type {
  AnswerRow,
  DividerRow,
  ErrorView,
  HiddenRun,
  PromptRow,
  Receipt,
  Row,
  Written,
} from "../../panel/contract.js";
import { MOST_PICTURES } from "../../panel/pictures.js";
import { enclosedIn } from "../../panel/written.js";
import type { CompressionInfo, Constraint, HistoryItem, Usage } from "../../protocol.gen.js";
import { COMPRESSION_STATES } from "../../panel/statuses.js";
import { outcomeOf, unanswered, withShown, type Dated, type UnversionedRow } from "./cutShort.js";
import { keptByTurn } from "./kept.js";
import { pastedIn, pictureIn, type Part } from "./promptParts.js";
import { merged, NOTHING_SENT, receiptOf, withFiles } from "./receipts.js";
import { callsOf, withResults } from "./toolHistory.js";
import type { Words } from "./toolRows.js";
import type { Translate } from "./words.js";

export type { UnversionedRow };

export interface Transcript {
  readonly items: readonly HistoryItem[];
  readonly compressions: readonly CompressionInfo[];
  /** Rules and pins. */
  readonly constraints: readonly Constraint[];
  /** Previews that the person put away; the log keeps them. */
  readonly discarded: ReadonlySet<string>;
}

/** Where the rows of a turn are, and what its answer has so far. */
interface Turn {
  prompt?: number;
  answer?: number;
  receipt?: Receipt;
  results?: number;
}

/** What a person or a model said in words: text parts that are no thoughts; media by their type. */
export function visibleText(parts: readonly Part[]): string {
  return parts.map(textOf).join("");
}

/** A prompt as a person wrote it. */
export function writtenIn(parts: readonly Part[]): Written {
  const pictures = parts.flatMap((part) => pictureIn(part)?.picture ?? []).slice(0, MOST_PICTURES);
  const words = parts.filter((part) => pictureIn(part) === undefined);
  return { text: visibleText(words), ...enclosedIn({ pasted: pastedIn(words), pictures }) };
}

function textOf(part: Part): string {
  if (part["thought"] === true) return "";
  if (typeof part["text"] === "string") return part["text"];
  const data = part["inlineData"];
  if (typeof data === "object" && data !== null && "mimeType" in data) return `[${String(data.mimeType)}]`;
  return "";
}

function thoughtsOf(parts: readonly Part[]): string {
  return parts
    .map((part) => (part["thought"] === true && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** The row that shows an entry of the log. */
export function rowsByEntry(items: readonly HistoryItem[]): ReadonlyMap<string, string> {
  const rows = new Map<string, string>();
  for (const { entryId, entryIds = [], turnId, kind } of items) {
    const turn = turnId ?? `entry-${entryId}`;
    const rowId = kind === "prompt" || kind === "ide" ? `p:${turn}` : `a:${turn}`;
    for (const id of [entryId, ...entryIds]) rows.set(id, rowId);
  }
  return rows;
}

/** The rows of a transcript, oldest first: each prompt, its answer, and the compressions where they happened. */
export function rowsOf(
  transcript: Transcript,
  t: Translate,
  toPlace: (path: string) => string = (path) => path,
): UnversionedRow[] {
  const rows: UnversionedRow[] = [];
  const words: Words = { t, place: toPlace };
  const kept = keptByTurn(transcript.constraints);
  const dividers = transcript.compressions
    .filter((info) => typeof info.seq === "number")
    .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const undoable = dividers.filter((info) => info.state === "inForce" && info.fromFile !== true).at(-1)?.compressionId;
  const turns = new Map<string, Turn>();
  /** The newest turn, as long as its answer said nothing and stands last; and where it ended. */
  let silent: { readonly turn: Turn; readonly end: number } | undefined;
  let next = 0;
  for (const item of transcript.items) {
    for (; next < dividers.length && (dividers[next]?.seq ?? Infinity) < item.seq; next += 1)
      pushDivider(dividers[next]);
    place(item);
  }
  for (; next < dividers.length; next += 1) pushDivider(dividers[next]);
  const newest = rows.findLastIndex((row) => row.kind === "prompt");
  return rows.map((row, index) => {
    if (row.kind === "prompt") return { ...row, ...kept.get(row.turnId) };
    if (row.kind !== "answer") return row;
    const pinId = kept.get(row.turnId)?.pinId;
    return {
      ...row,
      ...(pinId === undefined ? {} : { pinId }),
      ...(row.error && index < newest ? { error: settled(row.error) } : {}),
    };
  });

  function pushDivider(info: CompressionInfo | undefined): void {
    if (!info) return;
    const row = dividerOf(info, info.compressionId === undoable, transcript.discarded.has(info.compressionId));
    // Live it stands above the answer that it made room for.
    if (info.trigger === "manual" || (info.seq ?? Infinity) > (silent?.end ?? 0)) silent = undefined;
    rows.splice(silent?.turn.answer ?? rows.length, 0, row);
    if (silent) silent.turn.answer = rows.length - 1;
  }

  function place(item: HistoryItem): void {
    const turnId = item.turnId ?? `entry-${item.entryId}`;
    const turn = turns.get(turnId) ?? {};
    turns.set(turnId, turn);
    if (item.kind !== "ide") silent = undefined;
    const dated = {
      ...(item.time === undefined ? {} : { time: item.time }),
      ...(item.hiddenBy === undefined ? {} : { hiddenBy: item.hiddenBy }),
    };
    if (item.kind === "ide") {
      turn.receipt = receiptOf(item.receipt ?? NOTHING_SENT, toPlace);
      const row = turn.prompt === undefined ? undefined : rows[turn.prompt];
      if (row?.kind === "prompt") rows[turn.prompt ?? 0] = { ...row, receipt: merged(row.receipt, turn.receipt) };
    } else if (item.kind === "steer" || (item.kind === "prompt" && turn.answer !== undefined)) {
      const row = turn.answer === undefined ? undefined : rows[turn.answer];
      const steer = { ...writtenIn(ownParts(item)), at: row?.kind === "answer" ? row.text.length : 0 };
      if (row?.kind === "answer") rows[turn.answer ?? 0] = { ...row, steers: [...(row.steers ?? []), steer] };
      const prompt = turn.prompt === undefined ? undefined : rows[turn.prompt];
      const receipt = prompt?.kind === "prompt" ? withFiles(prompt.receipt, item, toPlace) : undefined;
      if (prompt?.kind === "prompt" && receipt) rows[turn.prompt ?? 0] = { ...prompt, receipt };
    } else if (item.kind === "reminder") {
      const text = wasTold(t, item.reason ?? "");
      rows.push({ kind: "notice", id: `l:${item.entryId}`, level: "warning", text, actions: [], time: item.time ?? 0 });
    } else if (item.kind === "prompt") {
      turn.prompt = rows.length;
      rows.push(promptOf(item, turnId, dated, turn.receipt, toPlace));
      if (item.outcome !== undefined && (item.outcome !== "replaced" || item.shown)) {
        turn.answer = rows.length;
        rows.push(unanswered(item, turnId, dated, t));
        silent = { turn, end: item.endSeq ?? 0 };
      }
    } else if (item.kind === "reply") {
      const before = turn.answer === undefined ? undefined : rows[turn.answer];
      if (before?.kind === "answer") rows[turn.answer ?? 0] = joined(before, item, words);
      else {
        turn.answer = rows.length;
        rows.push(answerOf(item, turnId, dated, words));
      }
    } else if (item.kind === "toolResult" && turn.answer !== undefined) {
      const row = rows[turn.answer];
      if (row?.kind !== "answer") return;
      rows[turn.answer] = { ...row, tools: withResults(row.tools, turn.results ?? 0, item, words) };
      turn.results = row.tools.length;
    }
    const row = turn.answer === undefined ? undefined : rows[turn.answer];
    if (item.shown && row?.kind === "answer") rows[turn.answer ?? 0] = withShown(row, item, t);
  }
}

/** What the person wrote: the parts without the attached files, which stand behind them. */
function ownParts({ parts, attachments = [], hookContexts = 0, command }: HistoryItem): HistoryItem["parts"] {
  const behind = attachments.length + hookContexts + (command?.parts ?? 0);
  const own = parts.slice(0, Math.max(0, parts.length - behind));
  return own.length > 0 ? own : parts; // a hook may have sent the turn back to work with words of its own alone
}

function promptOf(
  item: HistoryItem,
  turnId: string,
  dated: Dated,
  receipt: Receipt | undefined,
  toPlace: (path: string) => string,
): UnversionedRow<PromptRow> {
  const whole = withFiles(receipt, item, toPlace);
  return {
    kind: "prompt",
    id: `p:${turnId}`,
    turnId,
    ...writtenIn(ownParts(item)),
    ...dated,
    ...(whole ? { receipt: whole } : {}),
    ...(item.command ? { command: item.command } : {}),
    ...outcomeOf(item),
  };
}

/** What is said of a reminder to a model that went round in circles, live and later. */
export function wasTold(t: Translate, what: string): string {
  return t("Gemini went round in circles and was told so: {0}", what);
}

/** An error that is past: what happened stays, what could be done about it then is gone. */
export function settled(error: ErrorView): ErrorView {
  const { retryAt: _retryAt, ...rest } = error;
  return { ...rest, actions: [] };
}

function answerOf(
  item: HistoryItem,
  turnId: string,
  dated: Dated,
  words: Words,
  before = 0,
): UnversionedRow<AnswerRow> {
  const text = visibleText(item.parts);
  return {
    kind: "answer",
    id: `a:${turnId}`,
    turnId,
    model: item.model ?? "",
    state: "done",
    text,
    thoughts: thoughtsOf(item.parts),
    tools: callsOf(item.parts, before + text.length, words),
    attempt: 1,
    ...dated,
    ...(item.usage === undefined ? {} : { usage: item.usage }),
    ...(item.finishReason === undefined ? {} : { finishReason: item.finishReason }),
    ...(item.durationMs === undefined ? {} : { durationMs: item.durationMs }),
  };
}

/** A further round of the same turn. */
function joined(row: UnversionedRow<AnswerRow>, item: HistoryItem, words: Words): UnversionedRow<AnswerRow> {
  const isTalking = visibleText(item.parts) !== "";
  const before = row.text !== "" && isTalking ? `${row.text}\n\n` : row.text;
  const more = answerOf(item, row.turnId, {}, words, before.length);
  const { error: _error, hiddenBy, ...rest } = row;
  const isHidden = hiddenBy !== undefined && item.hiddenBy !== undefined;
  const isPartHidden = !isHidden && (hiddenBy ?? item.hiddenBy ?? row.isPartHidden) !== undefined;
  return {
    ...rest,
    ...more,
    ...(isHidden ? { hiddenBy: item.hiddenBy } : {}),
    ...(isPartHidden ? { isPartHidden } : {}),
    ...(row.usage && more.usage ? { usage: sumOf(row.usage, more.usage) } : {}),
    text: before + more.text,
    thoughts: row.thoughts + more.thoughts,
    tools: [...row.tools, ...more.tools],
  };
}

/** The tokens of a turn are those of all its requests, as the event of its end has them. */
function sumOf(one: Usage, other: Usage): Usage {
  const utilities = (one.utilityTokens ?? 0) + (other.utilityTokens ?? 0);
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    thoughtTokens: one.thoughtTokens + other.thoughtTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    ...(utilities ? { utilityTokens: utilities } : {}),
  };
}

function dividerOf(info: CompressionInfo, canUndo: boolean, isDiscarded: boolean): UnversionedRow<DividerRow> {
  const state =
    info.status === "CONTENT_TRUNCATED" && info.state !== "undone" ? "truncated" : COMPRESSION_STATES[info.state];
  const isPreview = state === "preview" || state === "outdated";
  return {
    kind: "divider",
    id: `c:${info.compressionId}`,
    compressionId: info.compressionId,
    state: isPreview && isDiscarded ? "discarded" : state,
    trigger: info.trigger,
    time: info.time,
    canUndo,
    result: {
      status: info.status,
      trigger: info.trigger,
      originalTokenCount: info.originalTokenCount,
      newTokenCount: info.newTokenCount,
      tokenCountSource: info.tokenCountSource ?? "estimate",
      modelCalls: 0,
      durationMs: 0,
      message: info.message ?? "",
      compressionId: info.compressionId,
      ...(info.snapshot === undefined ? {} : { snapshot: info.snapshot }),
      ...(info.retention === undefined ? {} : { retention: info.retention }),
      ...(info.strategy === undefined ? {} : { strategy: info.strategy }),
      ...(info.appendix === undefined ? {} : { appendix: info.appendix }),
    },
    ...(info.hiddenTurns === undefined ? {} : { hiddenTurns: info.hiddenTurns }),
    ...(info.rating === undefined ? {} : { rating: info.rating }),
  };
}

/** The runs of rows that compressions hide from the model. Dividers and notices between hidden rows fold with them. */
export function hiddenRuns(rows: readonly Row[]): HiddenRun[] {
  const runs: HiddenRun[] = [];
  let open: { from: number; to: number; compressionId: string; turns: Set<string> } | undefined;
  const close = (): void => {
    if (open) runs.push({ from: open.from, to: open.to, compressionId: open.compressionId, turns: open.turns.size });
    open = undefined;
  };
  rows.forEach((row, index) => {
    if (row.kind === "divider" || row.kind === "notice") return;
    if (row.hiddenBy === undefined) {
      close();
      return;
    }
    open ??= { from: index, to: index, compressionId: row.hiddenBy, turns: new Set() };
    open.to = index;
    open.compressionId = row.hiddenBy;
    open.turns.add(row.turnId);
  });
  close();
  return runs;
}
