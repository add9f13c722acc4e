/** What an answer waits for, since so much goes on at once elsewhere. */
import type { ConversationRows } from "./conversationRows.js";
import type { WaitingForSlot } from "../../protocol.gen.js";

/** The end of one wait leaves another kind's standing. */
export function waitsForSlot(chat: ConversationRows, turnId: string, { kind, isOver }: WaitingForSlot): void {
  const row = chat.answer(turnId);
  if (row && (isOver !== true || row.waitsFor === kind))
    chat.change(row.id, "answer", { waitsFor: isOver === true ? "" : kind });
}
