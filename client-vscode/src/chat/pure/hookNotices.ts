/** Rows for hooks that had an effect, failed or were slow. */
import type { ConversationRows } from "./conversationRows.js";
import type { HookRan } from "../../protocol.gen.js";

export function hookRan(chat: ConversationRows, event: HookRan): void {
  if (event.isNotable !== true) return;
  const failed = event.outcome === "failed" || event.outcome === "timedOut";
  chat.notice(failed ? "warning" : "info", said(chat, event));
}

function said(chat: ConversationRows, { event, name, outcome, durationMs, message = "" }: HookRan): string {
  switch (outcome) {
    case "denied":
    case "stopped":
      return chat.t("The hook {0} ({1}) refused: {2}", name, event, message);
    case "failed":
    case "timedOut":
      return chat.t("The hook {0} ({1}) failed: {2}", name, event, message);
    case "asked":
      return chat.t("The hook {0} ({1}) wants you to be asked.", name, event);
    case "changed":
      return chat.t("The hook {0} ({1}) changed what Gemini gets.", name, event);
    default:
      return message === ""
        ? chat.t("The hook {0} ({1}) took {2} s.", name, event, (durationMs / 1000).toFixed(1))
        : chat.t("The hook {0} ({1}) says: {2}", name, event, message);
  }
}
