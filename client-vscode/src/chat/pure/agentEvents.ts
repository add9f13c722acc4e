/** What a subagent does, in the row of the call that handed it its task. */
import type { CompanionEvent } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";
import type { Translate } from "./words.js";

type AgentActivity = Extract<CompanionEvent, { readonly type: "agentActivity" }>;

export function agentActivity(chat: ConversationRows, event: AgentActivity): void {
  const found = chat.tool(event.toolCallId);
  if (found === undefined) return;
  if (found.tool.agentSession !== event.agentSessionId)
    chat.setTool(found.turnId, { ...found.tool, agentSession: event.agentSessionId });
  const line = lineOf(event, chat.t);
  if (line !== "") chat.extendTool(event.toolCallId, `${line}\n`);
}

function lineOf({ kind, text = "" }: AgentActivity, t: Translate): string {
  switch (kind) {
    case "started":
    case "tool": // its end says the same, and what came of it
      return "";
    case "toolEnded":
    case "said":
      return text;
    case "compressed":
      return t("Its window was compressed: {0}", text);
    case "ended":
      return text === "done" ? "" : t("It ended early: {0}", text);
  }
}
