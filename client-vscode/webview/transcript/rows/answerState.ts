/** What an answer says of where it is: the line under its head. */
import type { AnswerRow } from "../../../src/panel/contract.js";
import { durationText, type Language } from "../texts.js";

/** After this long "Stopping" becomes "Still stopping", ms. */
const STOPPING_LONG_MS = 1_000;

/** The state in words; empty while the answer speaks for itself. `now` in Unix milliseconds. */
export function answerStateText(row: AnswerRow, now: number, language: Language): string {
  const { t } = language;
  switch (row.state) {
    case "queued":
      return t("Queued");
    case "sending":
      return t("Sending…");
    case "thinking":
      // The fold of the thoughts says so once there are some.
      return row.thoughts === "" ? t("Thinking…") : "";
    case "waiting":
      return t("A tool waits for your yes");
    case "stopping":
      return row.since !== undefined && now - row.since >= STOPPING_LONG_MS ? t("Still stopping…") : t("Stopping…");
    case "stopped":
      return row.text === "" ? t("Stopped before it began") : t("Stopped. What came is kept above.");
    case "failed":
      return row.error === undefined ? t("Failed") : "";
    case "blocked":
      return row.error === undefined ? t("Gemini gave no answer to this") : "";
    case "streaming":
      return row.attempt > 1 ? t("Attempt {0}; an earlier one was discarded", row.attempt) : "";
    case "done":
      return finishText(row, language);
  }
}

/** Whether the text of the state changes by itself as time goes by. */
export function isTimed(row: AnswerRow): boolean {
  return row.state === "stopping" || row.error?.retryAt !== undefined;
}

/** Whether text may still be appended. */
export function isGrowing(row: AnswerRow): boolean {
  return ["queued", "sending", "thinking", "streaming", "waiting", "stopping"].includes(row.state);
}

function finishText(row: AnswerRow, { t }: Language): string {
  const reason = row.finishReason ?? "";
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
