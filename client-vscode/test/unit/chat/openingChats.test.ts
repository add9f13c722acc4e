/** A chat that is being opened shows its newest turns before the daemon has loaded it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Places } from "../../../src/chat/places.js";
import { SessionActions } from "../../../src/chat/sessionActions.js";
import type { TextViews } from "../../../src/compression/documents.js";
import type { HistoryItem } from "../../../src/protocol.gen.js";
import { fault, info, stage, type Stage } from "./fakeDaemon.js";
import { content, turn, USAGE } from "./scriptedEvents.js";

let path: string;
let made: Stage;
/** Lets the daemon open s2, or refuse it. */
let open: () => void;
let refuse: (error: Error) => void;

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "companion-"));
  made = stage(path);
  made.daemon.sessions.set("s1", turn("t1"));
  made.daemon.sessions.set("s2", chat(6));
  const gate = new Promise<void>((resolve, reject) => ([open, refuse] = [resolve, reject]));
  made.daemon.answers["gemini/session/open"] = async ({ sessionId }) => {
    if (sessionId === "s2") await gate;
    return info(sessionId);
  };
  // All that is said of a session but its newest turns waits until it is open, as in the daemon.
  made.daemon.answers["gemini/session/history"] = async ({ sessionId }) => {
    if (sessionId === "s2") await gate;
    return { contents: made.daemon.sessions.get(sessionId ?? "") ?? [], version: 1, epoch: 1 };
  };
  made.daemon.answers["gemini/session/newest"] = ({ sessionId }) =>
    Promise.resolve({
      session: { ...info(sessionId), turns: 6 },
      contents: (made.daemon.sessions.get(sessionId) ?? []).slice(-4),
    });
  await made.chat.open("s1");
});
afterEach(async () => {
  made.chat.dispose();
  await rm(path, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

function chat(turns: number): HistoryItem[] {
  return Array.from({ length: turns }, (_, number) => [
    content("prompt", `n${number}`, `Question ${number}`, { entryId: `p${number}`, seq: 2 * number + 1 }),
    content("reply", `n${number}`, `Answer ${number}`, { entryId: `r${number}`, seq: 2 * number + 2 }),
  ]).flat();
}

const ids = (): string[] => made.chat.conversation.rows.map(({ id }) => id);
const ALL = Array.from({ length: 6 }, (_, number) => [`p:n${number}`, `a:n${number}`]).flat();
const NEWEST = ALL.slice(-4);
const prompts = (): unknown[] =>
  made.daemon.calls.filter(({ method }) => method === "gemini/chat").map(({ params }) => params["sessionId"]);

it("they can be read, under its title, while it is loaded; then all of it is there, each turn once", async () => {
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  expect(made.chat.info?.title).toBe("title of s2");
  const shown = [...made.chat.conversation.rows];
  open();
  await opening;
  expect(ids()).toEqual(ALL);
  expect(made.chat.conversation.rows.slice(-4)).toEqual(shown);
});

it("they are asked for ahead of the opening, which would hold them up", async () => {
  const opening = made.chat.open("s2");
  open();
  await opening;
  const methods = made.daemon.calls.filter(({ params }) => params["sessionId"] === "s2").map(({ method }) => method);
  expect(methods.slice(0, 2)).toEqual(["gemini/session/newest", "gemini/session/open"]);
});

it("nothing of the chat before is shown beside them: neither its numbers nor its changes", async () => {
  made.daemon.answers["gemini/changes"] = ({ sessionId }) =>
    Promise.resolve({
      changes:
        sessionId === "s1"
          ? [{ changeId: "c1", turnId: "t1", path: "/a.py", kind: "edited", state: "done", time: 0, diff: "" } as never]
          : [],
    });
  await made.chat.open("s1");
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  expect(made.chat.status).toBeUndefined();
  expect(made.chat.work.changesOf()).toEqual([]);
  open();
  await opening;
  expect(made.chat.status?.sessionId).toBe("s2");
});

it("a prompt that is sent meanwhile waits for the chat, and stands below everything", async () => {
  const plays = made.daemon.playTurns();
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  void made.chat.prompts.submit("Go on.");
  await vi.waitFor(() => expect(ids().slice(-2)).toEqual(["p:local-1", "a:local-1"]));
  expect(prompts()).toEqual([]);
  open();
  await opening;
  await vi.waitFor(() => expect(plays).toHaveLength(1));
  expect(prompts()).toEqual(["s2"]);
  expect(ids()).toEqual([...ALL, "p:local-1", "a:local-1"]);
});

it("the draft of the chat is in the composer with them, so that nothing typed since is lost", async () => {
  const drafts: string[] = [];
  made.chat.onPrefill((text) => drafts.push(text));
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  expect(drafts).toEqual([""]);
  made.chat.setDraft("typed while it loads", { row: "", offset: 0 } as never);
  open();
  await opening;
  expect(drafts).toEqual([""]);
  expect(made.chat.saved.draft).toBe("typed while it loads");
});

it("a turn that runs in the chat is joined, whatever comes of it before the chat is open", async () => {
  made.daemon.answers["gemini/session/newest"] = ({ sessionId }) =>
    Promise.resolve({ session: { ...info(sessionId), runningTurn: "n5" }, contents: chat(6).slice(-4) });
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  expect(made.chat.job).toMatchObject({ kind: "turn", id: "n5" });
  open();
  await opening;
  expect(ids()).toEqual(ALL);
});

describe("a turn that was said to run, and has ended when the chat is open,", () => {
  const END = { type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 1 } as const;
  let opening: Promise<void>;
  const begin = async (): Promise<void> => {
    made.daemon.answers["gemini/session/newest"] = ({ sessionId }) =>
      Promise.resolve({ session: { ...info(sessionId), runningTurn: "n5" }, contents: chat(6).slice(-4) });
    opening = made.chat.open("s2");
    await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  };
  const isIdle = async (): Promise<void> => {
    open();
    await opening;
    expect(made.chat.job).toEqual({ kind: "idle" });
    expect(made.chat.conversation.answer("n5")).toMatchObject({ state: "done", text: "Answer 5" });
    expect(ids()).toEqual(ALL);
  };

  it("is not under way for ever where nobody told this window of its end", async () => {
    await begin();
    await isIdle();
  });

  it("nor where its end was told before the answer that still had it", async () => {
    const answers = made.daemon.answers["gemini/session/open"];
    made.daemon.answers["gemini/session/open"] = async (params, token) => ({
      ...(await (answers?.(params, token) ?? info(params.sessionId))),
      runningTurn: "n5",
    });
    await begin();
    made.daemon.emit(END, "n5", "s2");
    await isIdle();
  });

  it("and one that goes on is", async () => {
    await begin();
    made.daemon.emit(END, "n5", "s2");
    made.daemon.emit({ type: "turnStarted", prompt: [{ text: "Question 5" }], model: "gemini-3-pro" }, "n5", "s2");
    open();
    await opening;
    expect(made.chat.job).toMatchObject({ kind: "turn", id: "n5" });
  });
});

it("the chat that is opened is the last one that the daemon was told of, whatever ends in the one before", async () => {
  const plays = made.daemon.playTurns();
  made.daemon.answers["gemini/session/newest"] = () => Promise.reject(fault("methodNotFound", -32601));
  const sent = made.chat.prompts.submit("A question.");
  await vi.waitFor(() => expect(plays).toHaveLength(1));
  const opened = (): unknown[] =>
    made.daemon.calls.filter(({ method }) => method === "gemini/session/open").map(({ params }) => params["sessionId"]);
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(opened().at(-1)).toBe("s2"));
  plays[0]?.start().complete();
  await plays[0]?.result;
  await vi.waitFor(() => expect(made.chat.job).toEqual({ kind: "idle" }));
  open();
  await Promise.all([opening, sent]);
  expect(opened().at(-1)).toBe("s2");
});

it("what is looked for in it is found once all of it is there, and its document has all of it", async () => {
  const [shown, said, documents]: [unknown[], string[], string[]] = [[], [], []];
  const places = new Places(
    made.chat,
    (command) => Promise.resolve(void shown.push(command)),
    (text) => said.push(text),
  );
  const actions = new SessionActions(made.chat, {
    show: (_name: string, text: string) => Promise.resolve(void documents.push(text)),
  } as TextViews);
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  await places.show({ sessionId: "s2", turnId: "n5" });
  expect(shown).toMatchObject([{ rowId: "p:n5" }]);
  const asked = [places.show({ sessionId: "s2", turnId: "n0" }), actions.openAsMarkdown()];
  open();
  await Promise.all([opening, ...asked]);
  expect([shown, said]).toMatchObject([[{ rowId: "p:n5" }, { rowId: "p:n0", row: 0 }], []]);
  expect(documents).toEqual([expect.stringContaining("Question 0")]);
});

it("where the chat cannot be opened it is said, and another try shows all of it", async () => {
  const failing = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  refuse(fault("storage", 1005));
  await expect(failing).rejects.toThrow();
  made.daemon.answers["gemini/session/open"] = ({ sessionId }) => Promise.resolve(info(sessionId));
  delete made.daemon.answers["gemini/session/history"];
  await made.chat.open("s2");
  expect(ids()).toEqual(ALL);
});

it("a prompt that waits because another window had the chat goes out when it is open here", async () => {
  made.daemon.playTurns();
  made.daemon.show({ kind: "ready", version: "1" });
  made.daemon.answers["gemini/session/newest"] = ({ sessionId }) =>
    Promise.resolve({ session: { ...info(sessionId), heldBy: 4711 }, contents: chat(6).slice(-4) });
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  await made.chat.prompts.submit("Go on.");
  expect(made.chat.queue.prompts).toHaveLength(1);
  open();
  await opening;
  await vi.waitFor(() => expect(prompts()).toEqual(["s2"]));
  expect(made.chat.queue.prompts).toEqual([]);
});

it("a prompt that is sent meanwhile to a chat which turns out to be deleted comes back to the composer", async () => {
  made.daemon.answers["gemini/chat"] = () => Promise.reject(fault("sessionNotFound", 1001));
  const drafts: string[] = [];
  made.chat.onPrefill((text) => drafts.push(text));
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(ids()).toEqual(NEWEST));
  const sent = made.chat.prompts.submit("Go on.");
  refuse(fault("sessionNotFound", 1001));
  await Promise.all([opening, sent]);
  expect(ids()).toEqual([]);
  expect(drafts.at(-1)).toBe("Go on.");
  expect(made.chat.saved.draft).toBe("Go on.");
  expect(made.chat.fault?.message).toBe("It failed.");
});

it("a daemon that does not know them opens the chat as it always did", async () => {
  made.daemon.answers["gemini/session/newest"] = () => Promise.reject(fault("methodNotFound", -32601));
  const opening = made.chat.open("s2");
  open();
  await opening;
  expect(ids()).toEqual(ALL);
});

it("a chat whose only turn is longer than what is read ahead waits, with the chat before it in sight", async () => {
  made.daemon.answers["gemini/session/newest"] = ({ sessionId }) =>
    Promise.resolve({ session: info(sessionId), contents: [] });
  const opening = made.chat.open("s2");
  await vi.waitFor(() => expect(made.daemon.calls.some(({ params }) => params["sessionId"] === "s2")).toBe(true));
  expect(ids()).toEqual(["p:t1", "a:t1"]);
  open();
  await opening;
  expect(ids()).toEqual(ALL);
});
