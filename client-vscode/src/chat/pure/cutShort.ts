/** How an answer that was cut short is told from the log: what came of it, and how its turn ended. */
import type { AnswerRow, Row } from "../../panel/contract.js";
import { PROMPT_OUTCOMES, type PromptOutcome } from "../../panel/statuses.js";
import type { HistoryItem } from "../../protocol.gen.js";
import { errorView } from "./faults.js";
import type { Translate } from "./words.js";

/** A row before it gets its version. */
export type UnversionedRow<R extends Row = Row> = R extends Row ? Omit<R, "version"> : never;

export interface Dated {
  readonly time?: number;
  readonly hiddenBy?: string;
}

/** Who ends a turn that nobody stopped: the daemon ended, or another one took the chat. */
const INTERRUPTING = new Set(["interrupted", "shutdown", "takeOver"]);

/** How a cancelled turn ended: the client that sent its prompt went, it was interrupted, or somebody stopped it. */
export function cancelledBy(by: string | undefined): PromptOutcome {
  if (by === "leave") return "left";
  return by !== undefined && INTERRUPTING.has(by) ? "interrupted" : "cancelled";
}

export function outcomeOf({ outcome, by }: HistoryItem): { outcome?: PromptOutcome } {
  if (outcome === "cancelled") return { outcome: cancelledBy(by) };
  return isOutcome(outcome) ? { outcome } : {};
}

function isOutcome(outcome: string | undefined): outcome is PromptOutcome {
  return outcome !== undefined && Object.hasOwn(PROMPT_OUTCOMES, outcome);
}

/** An answer with what came of its last round, which was not finished. */
export function withShown(row: UnversionedRow<AnswerRow>, item: HistoryItem, t: Translate): UnversionedRow<AnswerRow> {
  const { text = "", thoughts = "" } = item.shown ?? {};
  const before = row.text !== "" && text !== "" ? `${row.text}\n\n` : row.text;
  const ended = row.state === "done" ? cutShort(item, t) : {};
  return { ...row, ...ended, text: before + text, thoughts: row.thoughts + thoughts };
}

/** The state of an answer that was not finished. */
function cutShort(
  { outcome, reason }: HistoryItem,
  t: Translate,
  turnId?: string,
): Pick<UnversionedRow<AnswerRow>, "state" | "error"> {
  if (outcome !== "failed" && outcome !== "interrupted") return { state: "stopped" };
  const message = outcome === "interrupted" ? t("The answer was interrupted.") : (reason ?? t("The answer failed."));
  // Behind finished rounds it is gone on with, if it can be, and not asked again.
  const kind = turnId === undefined ? "unfinished" : "failed";
  return { state: "failed", error: errorView({ kind, message }, t, 0, turnId) };
}

/** The place of an answer that was never finished. */
export function unanswered(item: HistoryItem, turnId: string, dated: Dated, t: Translate): UnversionedRow<AnswerRow> {
  return {
    kind: "answer",
    id: `a:${turnId}`,
    turnId,
    model: "",
    text: "",
    thoughts: "",
    tools: [],
    attempt: 1,
    ...dated,
    ...cutShort(item, t, turnId),
  };
}
