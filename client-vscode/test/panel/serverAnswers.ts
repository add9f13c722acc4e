/** What the host answers about the MCP servers of the chat of `answers`. */
import daemonTexts from "./daemonTexts.json" with { type: "json" };
import type { PageResults } from "../../src/panel/contract.js";

const server = {
  name: "files",
  state: "ready",
  source: "user",
  isPersonal: true,
  transport: "stdio",
  command: "npx -y server-filesystem /home/me",
  digest: "f".repeat(64),
  /** As one that deceives would be. */
  warnings: ["The variable NODE_OPTIONS decides what is\u202e run."],
  isTrusted: false,
  canLogIn: false,
  title: "secure-filesystem-server 0.2",
  error: "",
  restarts: 0,
  tools: [{ name: "mcp_files_read", wireName: "read", description: "Reads a file." }],
  prompts: 1,
  resources: 0,
} as const;
const servers: PageResults["servers"] = {
  servers: [
    server,
    {
      ...server,
      name: "notes",
      state: "consentNeeded",
      source: "workspace",
      isPersonal: false,
      tools: [],
      warnings: [daemonTexts.unseen],
    },
    {
      ...server,
      name: "tickets",
      state: "loginNeeded",
      transport: "http",
      canLogIn: true,
      tools: [],
      error: "It wants you to log in.",
    },
    {
      ...server,
      name: "vault",
      state: "held",
      tools: [],
      prompts: 0,
      title: "",
      warnings: [],
      error: daemonTexts.heldServer,
    },
  ],
  problems: ["user settings: mcpServers.old: it must have either a `command` or a `url`."],
};

export const serverAnswers: Pick<PageResults, "servers" | "serverAction" | "serverLog"> = {
  servers,
  serverAction: servers,
  serverLog: { lines: ["Starting.", "Listening."] },
};
