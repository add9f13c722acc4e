/** What is said of another model that answers. */
import type { ModelChanged } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";

/** The row that says which model answers instead: there is one at most, and it says what holds now. */
const INSTEAD = "n:model";

export function tellOfModel(chat: ConversationRows, above: string, { from, to, reason }: ModelChanged): void {
  const meant = chat.meantModel ?? from;
  endInstead(chat);
  // That a person named it needs no explanation, and stays: it is what was done.
  if (reason === "" || reason === "named in the request")
    chat.noticeBefore(above, "info", chat.t("{0} answers from here on.", to));
  else if (to !== meant) {
    chat.meantModel = meant;
    const text = chat.t("{0} answers now: {1}.", to, reason);
    chat.addBefore(above, { kind: "notice", id: INSTEAD, level: "info", text, actions: [], time: chat.now() });
  }
}

/** The model that was meant answers again. */
export function endInstead(chat: ConversationRows): void {
  chat.meantModel = undefined;
  chat.remove(INSTEAD);
}
