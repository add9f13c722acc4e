/** Rows for MCP servers that failed, or that wait for the person. */
import type { McpServersChanged } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";

type Server = McpServersChanged["servers"][number];

/** By chat: what was said last of each server. */
const told = new WeakMap<ConversationRows, Map<string, string>>();

export function serversChanged(chat: ConversationRows, { servers }: McpServersChanged): void {
  const known = told.get(chat) ?? new Map<string, string>();
  told.set(chat, known);
  for (const server of servers) {
    const text = said(chat, server);
    if (text !== undefined && known.get(server.name) !== text)
      chat.notice(server.state === "failed" ? "warning" : "info", text);
    // One that works again is told of anew the next time.
    if (text !== undefined) known.set(server.name, text);
    else if (server.state === "ready") known.delete(server.name);
  }
}

function said(chat: ConversationRows, { name, state, error }: Server): string | undefined {
  switch (state) {
    case "failed":
      return chat.t("The MCP server {0} failed: {1}", name, error);
    case "loginNeeded":
      return chat.t("The MCP server {0} wants you to log in: see “MCP Servers” in the menu.", name);
    case "consentNeeded":
      return chat.t("This workspace wants to start the MCP server {0}: see “MCP Servers” in the menu.", name);
    default:
      return undefined;
  }
}
