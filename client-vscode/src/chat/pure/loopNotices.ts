/** What is said of a model that goes round in circles. */
import type { ConversationRows } from "./conversationRows.js";
import type { LoopDetected } from "../../protocol.gen.js";
import { wasTold } from "./history.js";

export function loopDetected(chat: ConversationRows, { kind, detail, outcome }: LoopDetected): void {
  const what = detail === "" ? kind : detail;
  if (outcome === "stopped")
    chat.notice("warning", chat.t("Gemini went round in circles again, so its turn was stopped: {0}", what));
  else chat.notice("warning", wasTold(chat.t, what));
}
