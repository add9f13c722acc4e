/** The turn that ended early and can be gone on with: its answer says how it ended, and offers to go on. */
import type { AnswerRow } from "../../panel/contract.js";
import type { UnfinishedTurn } from "../../protocol.gen.js";
import { errorView } from "./faults.js";
import { isLive, type ConversationRows } from "./conversationRows.js";
import type { Translate } from "./words.js";

/** Another turn can be gone on with, or none: its row offers it, and no other. */
export function setUnfinished(chat: ConversationRows, unfinished: UnfinishedTurn | undefined): void {
  chat.unfinished = unfinished;
  offerToGoOn(chat);
}

/** The row of the unfinished turn offers to go on; the rows may be new. */
export function offerToGoOn(chat: ConversationRows): void {
  const { unfinished } = chat;
  const newest = chat.rows.findLast((row) => row.kind === "answer");
  for (const row of [...chat.rows]) {
    if (row.kind !== "answer") continue;
    const isIt = row === newest && row.turnId === unfinished?.turnId && !isLive(row);
    if (isIt && row.canGoOn !== true) chat.add(offering(row, unfinished, chat.t));
    else if (!isIt && row.canGoOn === true) chat.add(withoutOffer(row));
  }
}

/** A turn begins. It goes on if it has rows: what was said of its end is not so any more. */
export function beginTurn(chat: ConversationRows, turnId: string): void {
  setUnfinished(chat, undefined);
  const answer = chat.answer(turnId);
  const prompt = chat.prompt(turnId);
  if (answer === undefined || prompt === undefined || isLive(answer)) return;
  const { error: _error, finishReason: _finishReason, endMessage: _endMessage, usage: _usage, ...rest } = answer;
  const { outcome: _outcome, ...asked } = prompt;
  chat.add(rest);
  chat.add(asked);
}

function withoutOffer({ canGoOn: _canGoOn, ...rest }: AnswerRow): AnswerRow {
  return rest;
}

function offering(row: AnswerRow, { outcome, reason = "" }: UnfinishedTurn, t: Translate): AnswerRow {
  const offered: AnswerRow = { ...row, canGoOn: true };
  // What this window saw says more than the log, whose finished rounds look like a finished answer.
  if (row.state !== "done" || row.finishReason === reason) return offered;
  if (outcome === "cancelled") return { ...offered, state: "stopped" };
  if (outcome === "stopped") return { ...offered, finishReason: reason };
  const message = outcome === "interrupted" || reason === "" ? t("The answer was interrupted.") : reason;
  const hint = t("What was done so far is kept. Gemini can go on from there.");
  return { ...offered, state: "failed", error: errorView({ kind: "unfinished", message, hint }, t, 0) };
}
