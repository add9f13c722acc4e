/** What an answer says of where it is: the line under its head. What each state looks like is in `src/panel/statuses.ts`. */
import type { AnswerRow } from "../../../src/panel/contract.js";
import { answerLook } from "../../../src/panel/statuses.js";
import { durationText, type Language } from "../texts.js";

/** After this long a state that has a line for it says that it takes long, ms. */
const LONG_MS = 1_000;

/** The state in words; empty while the answer speaks for itself. `now` in Unix milliseconds. */
export function answerStateText(row: AnswerRow, now: number, language: Language): string {
  const { t } = language;
  const waits = answerLook(row.state).isLive && row.state !== "stopping" ? (row.waitsFor ?? "") : "";
  if (waits === "model") return t("Waiting for other requests to end");
  if (waits === "process") return t("Waiting for other commands to end");
  if (row.state === "streaming" && row.attempt > 1) return t("Attempt {0}; an earlier one was discarded", row.attempt);
  const look = answerLook(row.state);
  if (row.endMessage !== undefined && !look.isLive && row.error === undefined) return row.endMessage;
  if (row.state === "done") return finishText(row, language);
  if (look.lineUnless !== undefined && hasOwnWords(row, look.lineUnless)) return "";
  const isLong = row.since !== undefined && now - row.since >= LONG_MS;
  if (look.lineIfLong !== undefined && isLong) return t(look.lineIfLong);
  if (look.lineIfEmpty !== undefined && isEmpty(row)) return t(look.lineIfEmpty);
  return look.line === "" ? "" : t(look.line);
}

function isEmpty({ text, tools }: AnswerRow): boolean {
  return text === "" && tools.length === 0;
}

function hasOwnWords(row: AnswerRow, part: "thoughts" | "error"): boolean {
  return part === "thoughts" ? row.thoughts !== "" : row.error !== undefined;
}

/** Whether the text of the state changes by itself as time goes by. */
export function isTimed(row: AnswerRow): boolean {
  return answerLook(row.state).lineIfLong !== undefined || row.error?.retryAt !== undefined;
}

/** Whether text may still be appended. */
export function isGrowing(row: AnswerRow): boolean {
  return answerLook(row.state).isLive;
}

function finishText(row: AnswerRow, { t }: Language): string {
  const reason = row.finishReason ?? "";
  if (reason === "maxToolRounds") return t("Stopped to ask you whether to go on");
  if (reason === "loopDetected" || reason === "LOOP") return t("Stopped: it went round in circles");
  if (reason === "budget") return t("Stopped: the budget is used up");
  if (reason === "MAX_TOKENS") return t("Ends early: the longest answer is reached");
  return reason === "" || reason === "STOP" ? "" : t("Ends early: {0}", reason);
}

/** "Thought for 6 s". */
export function thoughtText(row: AnswerRow, language: Language): string {
  if (row.thoughtMs !== undefined) return language.t("Thought for {0}", durationText(row.thoughtMs, language));
  return row.state === "thinking" ? language.t("Thinking…") : language.t("Thoughts");
}

/** "Retry", or when that makes sense: "Retry in 12 s". `retryAt` and `now` in Unix milliseconds. */
export function retryText(label: string, retryAt: number | undefined, now: number, language: Language): string {
  if (retryAt === undefined || retryAt <= now) return label;
  return language.t("{0} in {1}", label, durationText(Math.ceil((retryAt - now) / 1000) * 1000, language));
}
