/** Rows of compressions, as events tell of them. */
import { COMPRESSION_STATUSES, dividerLook } from "../../panel/statuses.js";
import type { CompressionCompleted, CompressionFailed, CompressionStarted } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";

/**
 * The row that a new compression stands above. One that nobody asked for makes room for a prompt: it comes before that, or behind it where
 * the history has the prompt already (`behindTurn`), unless the turn has said or done something.
 */
export function rowBelow(
  chat: ConversationRows,
  { trigger, behindTurn }: Pick<CompressionStarted, "trigger" | "behindTurn">,
): string {
  const answer = trigger === "manual" ? undefined : chat.runningAnswer;
  const isFirst = answer?.state === "sending" && answer.text === "" && answer.tools.length === 0;
  return isFirst ? `${behindTurn === answer.turnId ? "a" : "p"}:${answer.turnId}` : "";
}

/** What came of a compression, in its row; one that nobody saw begin has none yet. */
export function compressionConcluded(
  chat: ConversationRows,
  event: CompressionCompleted | CompressionFailed,
  time: number,
): void {
  const { state } = COMPRESSION_STATUSES[event.result.status];
  const id = `c:${event.compressionId}`;
  if (!chat.divider(event.compressionId)) {
    chat.addBefore(rowBelow(chat, event.result), {
      kind: "divider",
      id,
      compressionId: event.compressionId,
      state,
      trigger: event.result.trigger,
      time,
      result: event.result,
    });
    return;
  }
  chat.change(id, "divider", {
    state,
    result: event.result,
    ...(dividerLook(state).isUndoable ? { canUndo: true } : {}),
  });
}
