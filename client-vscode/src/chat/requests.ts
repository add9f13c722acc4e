/** The page's questions, answered. */
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import { cancelledFault } from "../daemon/pure/faults.js";
import type { PageRequest, PageResults } from "../panel/contract.js";
import { ErrorCode, type McpList, type RuleList } from "../protocol.gen.js";
import type { Chat } from "./chat.js";
import { ROWS_PER_PAGE } from "./pageLink.js";
import { findIn } from "./pure/finding.js";
import { asSentAgain } from "./pure/slashes.js";

/** Files and sessions in one answer. */
const MOST_LISTED = 50;
/** Resources of MCP servers in one answer. */
const MOST_RESOURCES = 20;
/** Passages in one answer. */
const MOST_RECALLED = 12;

/** Questions that mean the same whichever chat is shown. Every other one is about the chat that the page shows when it asks. */
const OF_NO_CHAT: ReadonlySet<PageRequest["do"]> = new Set<PageRequest["do"]>([
  "files",
  "check",
  "sessions",
  "keep",
  "memory",
  "addMemory",
  "commands",
  "skills",
  "enableSkill",
  "servers",
  "serverAction",
  "serverLog",
  "recall",
  "addPicture",
  "picture",
]);

/** Rejects with `DaemonFault`: also with a cancelled one where the chat that is meant, by its number, is not the one that is shown any more. */
export async function answerPage(
  chat: Chat,
  request: PageRequest,
  number = chat.number,
): Promise<PageResults[PageRequest["do"]]> {
  const stay = (): void => {
    if (number !== chat.number && !OF_NO_CHAT.has(request.do)) throw cancelledFault(chat.t);
  };
  stay();
  const answer = await answered(chat, request);
  stay();
  return answer;
}

async function answered(chat: Chat, request: PageRequest): Promise<PageResults[PageRequest["do"]]> {
  const daemon: DaemonPort = chat.daemon;
  switch (request.do) {
    case "rows": {
      const from = Math.min(request.from, request.to);
      return { from, rows: chat.conversation.rows.slice(from, Math.min(request.to + 1, from + ROWS_PER_PAGE)) };
    }
    case "files": {
      const [{ files }, { resources }] = await Promise.all([
        daemon.request("gemini/files", { query: request.query, limit: MOST_LISTED }),
        daemon.request("gemini/mcp/complete", { query: request.query, limit: MOST_RESOURCES }),
      ]);
      return {
        files: [
          ...files.map((file) => ({
            path: file.isDirectory === true ? `${file.path}/` : file.path,
            label: file.path.split("/").at(-1) ?? file.path,
          })),
          ...resources.map(({ mention, name }) => ({ path: mention.replace(/^@"?|"$/g, ""), label: name || mention })),
        ],
      };
    }
    case "check":
      return daemon.request("gemini/prompt/check", { prompt: request.prompt });
    case "sessions": {
      const listed = await daemon.request("gemini/session/list", {
        query: request.query,
        limit: MOST_LISTED,
        ...(request.cursor === undefined ? {} : { cursor: request.cursor }),
      });
      for (const { sessionId, title } of listed.sessions) chat.titles.set(sessionId, title);
      return listed;
    }
    case "keep":
      return daemon.request("gemini/session/keep", { sessionId: request.sessionId, on: request.on });
    case "context":
      return daemon.request("gemini/context", { sessionId: openSessionId(chat) });
    case "stats":
      return request.all === true
        ? daemon.request("gemini/stats", { all: true })
        : daemon.request("gemini/stats", { sessionId: openSessionId(chat) });
    case "rules":
      return openSession(chat).sessionId === undefined
        ? Promise.resolve({ constraints: [] })
        : daemon.request("gemini/constraints", openSession(chat));
    case "setRule": {
      const { constraintId, state, scope, text } = request;
      return daemon.request("gemini/constraints/set", {
        sessionId: await chat.session(),
        state,
        ...(constraintId === undefined ? {} : { constraintId }),
        ...(scope === undefined ? {} : { scope }),
        ...(text === undefined ? {} : { text }),
      });
    }
    case "kept": {
      const { compressionId } = request;
      return openSession(chat).sessionId === undefined
        ? Promise.resolve({})
        : daemon.request("gemini/kept", {
            ...openSession(chat),
            ...(compressionId === undefined ? {} : { compressionId }),
          });
    }
    case "keepStatement": {
      const { statementId, isKept } = request;
      return daemon.request("gemini/kept/set", { sessionId: await chat.session(), statementId, isKept });
    }
    case "toolRules":
      return ofChat(chat, await daemon.request("gemini/rules", openSession(chat)));
    case "revokeToolRule": {
      const { ruleId } = request;
      return ofChat(chat, await daemon.request("gemini/rules/revoke", { ...openSession(chat), ruleId }));
    }
    case "memory":
      return daemon.request(request.reload ? "gemini/memory/reload" : "gemini/memory/list", {});
    case "addMemory":
      return daemon.request("gemini/memory/add", { fact: request.fact, scope: request.scope });
    case "commands":
      return daemon.request("gemini/commands/list", {});
    case "skills":
      return daemon.request("gemini/skills/list", {});
    case "enableSkill":
      return daemon.request("gemini/skills/enable", { name: request.name, enabled: request.enabled });
    case "servers":
      return daemon.request("gemini/mcp/list", {});
    case "serverAction":
      return actOnServer(daemon, request);
    case "serverLog":
      return daemon.request("gemini/mcp/log", { server: request.server });
    case "recall":
      return daemon.request("gemini/recall", { query: request.query, limit: MOST_RECALLED });
    case "verdict":
      return chat.info ? daemon.request("gemini/compression/verdict", { sessionId: chat.info.sessionId }) : null;
    case "find":
      return { matches: findIn(chat.conversation.rows, request.query, request.caseSensitive) };
    case "prompts": {
      const prompts = chat.conversation.rows.flatMap((row) => (row.kind === "prompt" ? [asSentAgain(row)] : []));
      // Of those with the same text the newest, and all in the order of the newest.
      const byText = new Map(prompts.map((prompt) => [prompt.text, prompt]));
      const texts = [...new Set(prompts.map(({ text }) => text).reverse())].slice(0, ROWS_PER_PAGE);
      return { prompts: texts.flatMap((text) => byText.get(text) ?? []) };
    }
    case "addPicture":
      return chat.pictures.add(request.name, request.data);
    case "picture":
      return (await chat.pictures.read(request.digest)) ?? { type: "", data: null };
    case "compressions":
      return chat.info
        ? daemon.request("gemini/compression/list", { sessionId: chat.info.sessionId })
        : { compressions: [] };
  }
}

async function actOnServer(
  daemon: DaemonPort,
  { server, action, digest }: Extract<PageRequest, { do: "serverAction" }>,
): Promise<McpList> {
  switch (action) {
    case "enable":
    case "disable":
      return daemon.request("gemini/mcp/enable", { server, enabled: action === "enable" });
    case "agree": // the button says that it starts, too
      await daemon.request("gemini/mcp/agree", { server, digest: digest ?? "" });
      return daemon.request("gemini/mcp/restart", { server });
    case "restart":
      return daemon.request("gemini/mcp/restart", { server });
    case "login":
      return daemon.request("gemini/mcp/login", { server });
    case "logout":
      return daemon.request("gemini/mcp/logout", { server });
  }
}

/** The open session, if there is one: else what holds for the whole project is meant. */
function openSession(chat: Chat): { readonly sessionId?: string } {
  return chat.info ? { sessionId: chat.info.sessionId } : {};
}

/** For a chat that is not begun the daemon answers with its current session's rules, which are not this chat's. */
function ofChat(chat: Chat, { rules }: RuleList): RuleList {
  return { rules: chat.info ? rules : rules.filter(({ source }) => source !== "session") };
}

/** The open session's id. A question does not begin one. Throws a `DaemonFault` for a chat that is not begun. */
function openSessionId(chat: Chat): string {
  if (chat.info) return chat.info.sessionId;
  const message = chat.t("This chat is still empty.");
  throw new DaemonFault(ErrorCode.sessionNotFound, {
    kind: "empty",
    message,
    hint: chat.t("Send a prompt first."),
    retryable: false,
  });
}
