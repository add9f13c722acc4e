/** Rules in the rows, places in this chat and in others, reminders, and which model answers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Places } from "../../../src/chat/places.js";
import { panelState, type PanelSources } from "../../../src/chat/pure/panelState.js";
import { english as t } from "../../../src/chat/pure/words.js";
import { answerPage } from "../../../src/chat/requests.js";
import { statusText } from "../../../src/compression/pure/texts.js";
import { sectionOf } from "../../../src/daemon/pure/settings.js";
import { decodeFromPage } from "../../../src/panel/fromPage.js";
import type { PageCommand } from "../../../src/panel/contract.js";
import { meterText } from "../../../src/status/pure/meterText.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { compression, constraint, content, ScriptedEvents, turn } from "./scriptedEvents.js";
import { baseState } from "../../panel/chatRows.js";

const NONE = new Set<string>();
const stages: Stage[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { chat } of stages.splice(0)) chat.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

async function staged(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "companion-"));
  folders.push(folder);
  const made = stage(folder);
  stages.push(made);
  made.daemon.sessions.set("s1", turn("t1"));
  made.daemon.sessions.set("s2", turn("t2"));
  return made;
}

describe("rules", () => {
  it("stand at the prompt that brought them, from the transcript and from events alike", () => {
    const read = new ScriptedEvents();
    read.chat.load(turn("t1"), [], [constraint()], NONE);
    const told = new ScriptedEvents().started("t1", "never touch generated/").completed("t1");
    told.event({ type: "constraintsChanged", constraints: [constraint()] }, "t1");
    for (const { chat } of [read, told]) {
      expect(chat.prompt("t1")?.rules).toEqual([constraint()]);
      expect(chat.answer("t1")).not.toHaveProperty("rules");
      expect(chat.constraints).toEqual([constraint()]);
    }
  });

  it("change the rows that they concern, and no others", () => {
    const told = new ScriptedEvents().started("t1", "never").completed("t1").started("t2", "why?").completed("t2");
    const before = told.rows.map(({ version }) => version);
    told.event({ type: "constraintsChanged", constraints: [constraint()] }, "t1");
    told.event({ type: "constraintsChanged", constraints: [constraint()] }, "t1");
    const changed = told.rows.map(({ version }, index) => version !== before[index]);
    expect(changed).toEqual([true, false, false, false]);
    told.event({ type: "constraintsChanged", constraints: [constraint({ state: "released" })] });
    expect(told.chat.prompt("t1")?.rules?.[0]?.state).toBe("released");
    told.event({ type: "constraintsChanged", constraints: [] });
    expect(told.chat.prompt("t1")).not.toHaveProperty("rules");
  });

  it("leave a pin where it was: at the prompt and at the answer, and not among the rules", () => {
    const told = new ScriptedEvents();
    const pin = constraint({ source: "pin", constraintId: "pin1" });
    told.chat.load(turn("t1"), [], [pin, constraint()], NONE);
    expect(told.chat.prompt("t1")).toMatchObject({ pinId: "pin1", rules: [constraint()] });
    expect(told.chat.answer("t1")?.pinId).toBe("pin1");
    told.event({ type: "constraintsChanged", constraints: [{ ...pin, state: "released" }] });
    expect(told.chat.prompt("t1")).not.toHaveProperty("pinId");
    expect(told.chat.answer("t1")).not.toHaveProperty("pinId");
  });

  it("are set in the open session", async () => {
    const made = await staged();
    await made.chat.open("s1");
    made.daemon.answers["gemini/constraints/set"] = () => Promise.resolve(constraint());
    await answerPage(made.chat, { do: "setRule", text: "answer in one sentence", state: "inForce" });
    expect(made.daemon.calls.at(-1)).toEqual({
      method: "gemini/constraints/set",
      params: { sessionId: "s1", text: "answer in one sentence", state: "inForce" },
    });
  });
});

describe("what a compression keeps", () => {
  it("is asked for and set in the open session, and there is nothing in a chat that is not begun", async () => {
    const made = await staged();
    await made.chat.open("s1");
    await answerPage(made.chat, { do: "kept" });
    await answerPage(made.chat, { do: "kept", compressionId: "c1" });
    await answerPage(made.chat, { do: "keepStatement", statementId: "4.2", isKept: false });
    expect(made.daemon.calls.filter(({ method }) => method.startsWith("gemini/kept"))).toEqual([
      { method: "gemini/kept", params: { sessionId: "s1" } },
      { method: "gemini/kept", params: { sessionId: "s1", compressionId: "c1" } },
      { method: "gemini/kept/set", params: { sessionId: "s1", statementId: "4.2", isKept: false } },
    ]);
    await made.chat.startNew();
    made.daemon.calls.length = 0;
    expect(await answerPage(made.chat, { do: "kept" })).toEqual({});
    expect(made.daemon.calls).toEqual([]);
  });
});

describe("memory files", () => {
  it("are listed, read anew and added to, whatever chat is open", async () => {
    const made = await staged();
    const list = { files: [], tokenCount: 0 };
    made.daemon.answers["gemini/memory/list"] = () => Promise.resolve(list);
    made.daemon.answers["gemini/memory/reload"] = () => Promise.resolve(list);
    made.daemon.answers["gemini/memory/add"] = () => Promise.resolve({ path: "/p/GEMINI.md", diff: "" });
    await answerPage(made.chat, { do: "memory", reload: false });
    await answerPage(made.chat, { do: "memory", reload: true });
    await answerPage(made.chat, { do: "addMemory", fact: "tea", scope: "global" });
    expect(made.daemon.calls.slice(-3)).toEqual([
      { method: "gemini/memory/list", params: {} },
      { method: "gemini/memory/reload", params: {} },
      { method: "gemini/memory/add", params: { fact: "tea", scope: "global" } },
    ]);
  });
});

describe("MCP servers", () => {
  it("are listed and acted on as the daemon has it, and their resources are completed behind the files", async () => {
    const made = await staged();
    const list = { servers: [], problems: [] };
    for (const method of ["list", "enable", "agree", "restart", "login", "logout"] as const)
      made.daemon.answers[`gemini/mcp/${method}`] = () => Promise.resolve(list);
    for (const action of ["enable", "disable", "restart", "login", "logout"] as const)
      await answerPage(made.chat, { do: "serverAction", server: "s", action });
    await answerPage(made.chat, { do: "serverAction", server: "s", action: "agree", digest: "d" });
    expect(made.daemon.calls.slice(-7)).toEqual([
      { method: "gemini/mcp/enable", params: { server: "s", enabled: true } },
      { method: "gemini/mcp/enable", params: { server: "s", enabled: false } },
      { method: "gemini/mcp/restart", params: { server: "s" } },
      { method: "gemini/mcp/login", params: { server: "s" } },
      { method: "gemini/mcp/logout", params: { server: "s" } },
      { method: "gemini/mcp/agree", params: { server: "s", digest: "d" } },
      { method: "gemini/mcp/restart", params: { server: "s" } },
    ]);
    made.daemon.answers["gemini/files"] = () => Promise.resolve({ files: [], truncated: false });
    const resources = [{ mention: '@"s:memo://a b"', name: "A memo", description: "" }];
    made.daemon.answers["gemini/mcp/complete"] = () => Promise.resolve({ prompts: [], resources });
    expect(await answerPage(made.chat, { do: "files", query: "me" })).toEqual({
      files: [{ path: "s:memo://a b", label: "A memo" }],
    });
  });
});

describe("an MCP server that needs the person", () => {
  it("is told of once, and anew after it has worked", () => {
    const told = new ScriptedEvents();
    const server = (state: "failed" | "ready" | "consentNeeded") => ({
      type: "mcpServersChanged" as const,
      servers: [{ name: "git", state, tools: 0, error: "no such program" }],
    });
    const notices = () => told.chat.rows.filter((row) => row.kind === "notice").length;
    for (const state of ["failed", "failed", "ready", "failed"] as const) told.event(server(state));
    expect(notices()).toBe(2);
    told.event(server("consentNeeded"));
    expect(notices()).toBe(3);
  });
});

describe("what a compression kept", () => {
  it("is known of older ones too", () => {
    const retention = { score: 0.5, facts: 2, kept: 1, repaired: 0, missing: [], appended: 1, unsupported: [] };
    const told = new ScriptedEvents();
    told.chat.load(turn("t1"), [compression("inForce", 1e9, { retention, appendix: "- a.py" })], [], NONE);
    expect(told.chat.divider("c1")?.result).toMatchObject({ retention, appendix: "- a.py" });
  });
});

describe("a place", () => {
  const shown: PageCommand[] = [];
  const said: string[] = [];
  const placesOf = ({ chat }: Stage): Places => {
    shown.length = said.length = 0;
    return new Places(
      chat,
      (command) => Promise.resolve(void shown.push(command)),
      (text) => said.push(text),
    );
  };

  it("of the open chat is shown there", async () => {
    const made = await staged();
    await made.chat.open("s1");
    await placesOf(made).show({ turnId: "t1", words: "the answer of t1 it was" });
    expect(shown).toEqual([{ do: "showPlace", row: 1, rowId: "a:t1", start: 0, length: 12 }]);
  });

  it("of another chat opens that first", async () => {
    const made = await staged();
    await made.chat.open("s1");
    await placesOf(made).show({ sessionId: "s2", turnId: "t2", words: "" });
    expect(made.chat.info?.sessionId).toBe("s2");
    expect(shown).toMatchObject([{ rowId: "p:t2", length: 0 }]);
  });

  it("of a turn that is in no open chat is looked for in the project", async () => {
    const made = await staged();
    await made.chat.open("s1");
    const hit = {
      sessionId: "s2",
      sessionTitle: "",
      turnId: "t2",
      entryId: "e",
      role: "user",
      time: 0,
      text: "",
    } as const;
    made.daemon.answers["gemini/recall"] = ({ turnId }) => Promise.resolve({ hits: turnId === "t2" ? [hit] : [] });
    await placesOf(made).show({ turnId: "t2" });
    expect(shown).toMatchObject([{ rowId: "p:t2" }]);
    await placesOf(made).show({ turnId: "t9" });
    expect(shown).toEqual([]);
    expect(said).toEqual(["This place is in no chat any more."]);
  });

  it("of a chat that was deleted is said to be gone", async () => {
    const made = await staged();
    await made.chat.open("s1");
    await placesOf(made).show({ sessionId: "gone", turnId: "t1" });
    expect([shown, said]).toEqual([[], ["This place is in no chat any more."]]);
    expect([made.chat.info?.sessionId, made.chat.fault]).toEqual(["s1", undefined]);
  });

  it("is found by an entry of the log, a further round of the answer included", () => {
    const told = new ScriptedEvents();
    const items = [content("prompt", "t1", "go"), content("reply", "t1", "first"), content("reply", "t1", "second")];
    told.chat.load(items, [], [], NONE);
    expect(items.map(({ entryId }) => told.chat.rowOfEntry(entryId))).toEqual(["p:t1", "a:t1", "a:t1"]);
  });
});

describe("a chat that was deleted elsewhere", () => {
  it("is no fault of what asks for its title", async () => {
    const made = await staged();
    made.daemon.show({ kind: "ready", version: "1" });
    await made.chat.open("s1");
    made.daemon.sessions.delete("s1");
    await made.chat.refreshInfo();
    expect([made.chat.info?.sessionId, made.chat.fault]).toEqual(["s1", undefined]);
  });
});

describe("a reminder", () => {
  it("comes when a compression is due, is put off, and comes again when the chat has grown", async () => {
    const made = await staged();
    await made.chat.open("s1");
    const due = { mode: "remind", isDue: true, tokenCount: 100, tokensUntilCompression: 0 } as const;
    expect(made.chat.isReminderDue).toBe(false);
    made.daemon.tellStatus({ ...due, mode: "auto" });
    expect(made.chat.isReminderDue).toBe(false);
    made.daemon.tellStatus(due);
    expect(made.chat.isReminderDue).toBe(true);
    made.chat.remindLater();
    expect(made.chat.isReminderDue).toBe(false);
    made.daemon.tellStatus({ ...due, tokenCount: 109 });
    expect(made.chat.isReminderDue).toBe(false);
    made.daemon.tellStatus({ ...due, tokenCount: 120 });
    expect(made.chat.isReminderDue).toBe(true);
  });

  it("says in meter and status that nothing starts by itself", () => {
    const meter = { used: 40, limit: 100, source: "api", compressionAt: 50, mode: "remind" } as const;
    expect(meterText(meter, false, t, String).tooltip).toContain("You are reminded to compress at 50.");
    expect(meterText({ ...meter, mode: "off" }, false, t, String).tooltip).toContain("Automatic compression is off.");
    const report = {
      sessionId: "s",
      state: "idle",
      hasFailedCompressionAttempt: false,
      forceFullIdeContext: false,
      tokenCount: 40,
      tokenCountSource: "api",
      tokenLimit: 100,
      threshold: 0.5,
      tokensUntilCompression: 10,
      compressions: 0,
      canUndo: false,
      mode: "remind",
      isDue: false,
    } as const;
    expect(statusText(report, t, String)).toContain("You are reminded to compress in 10 tokens.");
    expect(statusText({ ...report, isDue: true }, t, String)).toContain("The chat is long enough to be compressed.");
    expect(statusText({ ...report, mode: "off" }, t, String)).toContain("Automatic compression is off.");
  });
});

describe("around the transcript", () => {
  const models = {
    models: [],
    current: "",
    default: "gemini-3-pro",
    provider: "gemini",
    isLocal: false,
    reason: "",
    hint: "",
  };
  const sources: PanelSources = {
    chat: 1,
    daemon: { kind: "ready", version: "1" },
    trusted: true,
    job: { kind: "idle" },
    files: [],
    outlook: new Map(),
    relative: (uri) => uri,
    constraints: [{ state: "inForce" }, { state: "inForce" }, { state: "proposed" }, { state: "released" }],
    reminds: false,
    work: baseState.work,
    queue: [],
    hidden: [],
    settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
    knowsOffline: false,
    models,
  };

  it("counts the rules", () => {
    expect(panelState(sources, t).rules).toEqual({ inForce: 2, proposed: 1 });
  });

  it("tells a model of one's own from the built-in one, which alone has a banner", () => {
    expect(panelState({ ...sources, askedModel: "local:tiny" }, t)).toMatchObject({
      isLocal: true,
      localModel: "local:tiny",
    });
    expect(panelState({ ...sources, askedModel: "local:tiny" }, t).banner).toBe(undefined);
    expect(panelState({ ...sources, askedModel: "offline" }, t)).toMatchObject({
      isLocal: true,
      banner: { kind: "offline" },
    });
    expect(panelState({ ...sources, askedModel: "offline" }, t)).not.toHaveProperty("localModel");
    expect(panelState(sources, t)).toMatchObject({ isLocal: false });
  });

  it("offers a compression that is due, with what it would bring", () => {
    const { banner } = panelState({ ...sources, reminds: true }, t);
    expect(banner).toMatchObject({ kind: "compressionDue", level: "info" });
    expect(banner?.actions.map(({ id }) => id)).toEqual(["compress", "remindLater"]);
  });
});

describe("what the page asks for", () => {
  it("is taken only as it is meant", () => {
    expect(decodeFromPage({ type: "rule", constraintId: "r1", state: "inForce" })).toBeDefined();
    expect(decodeFromPage({ type: "rule", constraintId: "r1", state: "forced" })).toBe(undefined);
    expect(decodeFromPage({ type: "place", turnId: "t1", words: "x".repeat(5_000) })).toBe(undefined);
    expect(decodeFromPage({ type: "compress", preview: true, guided: false, upTo: 7 })).toBe(undefined);
    const written = (text: string) => ({ type: "call", call: 1, request: { do: "setRule", state: "inForce", text } });
    expect(decodeFromPage(written("x".repeat(4_000)))).toBeDefined();
    expect(decodeFromPage(written("x".repeat(4_001)))).toBe(undefined);
  });
});

describe("the editor's settings", () => {
  it("carry what a person chose about compressions, false and 0 included, and nothing that is unset", () => {
    const chosen: Readonly<Record<string, unknown>> = {
      "compression.gate": false,
      "compression.retentionFloor": 0,
      "compression.strategy": "semantic",
      "compression.mode": "",
      "compression.adaptive": null,
    };
    const section = sectionOf((key) => ({ user: chosen[key], workspace: undefined }), true);
    expect(section).toEqual({ companion: { compression: { gate: false, retentionFloor: 0, strategy: "semantic" } } });
  });
});
