/** A prompt after "New Chat" goes into the new chat, whatever the daemon is at. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Actions, type ActionNeeds } from "../../../src/chat/actions.js";
import { answerPage } from "../../../src/chat/requests.js";
import type { SessionInfo } from "../../../src/protocol.gen.js";
import { FakeMemory, fault, info, stage, type Stage } from "./fakeDaemon.js";
import { turn } from "./scriptedEvents.js";

let folder: string;
let made: Stage;
/** Lets the daemon answer what it was asked and holds back. */
let answer: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "companion-"));
  made = stage(folder, new FakeMemory({ lastSession: "s1" }));
  made.daemon.sessions.set("s1", turn("t1"));
  made.daemon.sessions.set("s2", turn("t2"));
  made.daemon.answers["gemini/session/new"] = () => Promise.resolve(session("n1"));
});
afterEach(async () => {
  made.chat.dispose();
  await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 });
});

function session(sessionId: string): SessionInfo {
  made.daemon.sessions.set(sessionId, []);
  return info(sessionId);
}

/** The daemon makes, opens and copies chats only when `answer` is called. */
function slow(): void {
  const gate = new Promise<void>((resolve) => (answer = resolve));
  const { answers } = made.daemon;
  const make = answers["gemini/session/new"];
  answers["gemini/session/new"] = async (params) => {
    await gate;
    return make ? make(params) : session("n1");
  };
  answers["gemini/session/open"] = async ({ sessionId }) => {
    await gate;
    return info(sessionId);
  };
  answers["gemini/session/fork"] = async () => {
    await gate;
    return session("f1");
  };
}

/** They are made, opened and copied at once again. */
function quick(): void {
  for (const method of ["gemini/session/new", "gemini/session/open", "gemini/session/fork"] as const)
    delete made.daemon.answers[method];
}

const ids = (): string[] => made.chat.conversation.rows.map(({ id }) => id);
const asked = (): string[] =>
  made.daemon.calls
    .filter(({ method }) => method === "gemini/chat")
    .map(({ params }) => `${String(params["sessionId"])}: ${String(params["prompt"])}`);
const called = (method: string): boolean => made.daemon.calls.some((call) => call.method === method);

describe("a new chat is there at once, and what is sent goes to it,", () => {
  beforeEach(() => void made.daemon.playTurns());

  it("in the same moment", async () => {
    await made.chat.begin();
    expect(ids()).toEqual(["p:t1", "a:t1"]);
    void made.chat.startNew();
    expect([ids(), made.chat.info]).toEqual([[], undefined]);
    void made.chat.prompts.send("for the new one", {});
    await vi.waitFor(() => expect(asked()).toEqual(["n1: for the new one"]));
  });

  it("while the last chat is still being opened, which does not come in its place", async () => {
    made.daemon.answers["gemini/session/newest"] = () => Promise.reject(fault("methodNotFound", -32601));
    slow();
    const begun = made.chat.begin();
    await vi.waitFor(() => expect(called("gemini/session/open")).toBe(true));
    void made.chat.startNew();
    void made.chat.prompts.send("for the new one", {});
    expect(ids()).toEqual(["p:local-1", "a:local-1"]);
    answer();
    await begun;
    await vi.waitFor(() => expect(asked()).toEqual(["n1: for the new one"]));
    expect(made.chat.info?.sessionId).toBe("n1");
    expect(ids().filter((id) => id.endsWith("t1"))).toEqual([]);
    expect(made.memory.values["lastSession"]).toBe("n1");
  });

  it("before the daemon is there, also where it starts anew", async () => {
    let run: () => void = () => undefined;
    const starting = new Promise<void>((resolve) => (run = resolve));
    const start = made.daemon.start.bind(made.daemon);
    made.daemon.start = async () => {
      await starting;
      return start();
    };
    void made.chat.begin();
    await made.chat.loaded;
    const shown = made.chat.startNew();
    void made.chat.prompts.send("for the new one", {});
    expect(ids()).toEqual(["p:local-1", "a:local-1"]);
    run();
    await shown;
    await vi.waitFor(() => expect(asked()).toEqual(["n1: for the new one"]));
    expect(made.chat.info?.sessionId).toBe("n1");
    await made.daemon.restart();
    expect(made.chat.info?.sessionId).toBe("n1");
  });

  it("while another one is being opened or copied, which was asked for before", async () => {
    await made.chat.begin();
    for (const before of [() => made.chat.open("s2"), () => made.chat.fork()]) {
      slow();
      const earlier = before();
      const shown = made.chat.startNew();
      answer();
      await Promise.all([earlier, shown]);
      expect([ids(), made.chat.info]).toEqual([[], undefined]);
      quick();
      await made.chat.open("s1");
    }
  });

  it("and a second one has prompts of its own, though the first is not begun yet", async () => {
    let number = 0;
    made.daemon.answers["gemini/session/new"] = () => Promise.resolve(session(`n${++number}`));
    await made.chat.begin();
    slow();
    void made.chat.startNew();
    void made.chat.prompts.send("first", {});
    await made.chat.prompts.send("waits behind it", {});
    void made.chat.startNew();
    expect([ids(), made.chat.queue.prompts]).toEqual([[], []]);
    void made.chat.prompts.send("second", {});
    answer();
    await vi.waitFor(() => expect(asked()).toEqual(["n1: first", "n2: second"]));
    quick();
    await made.chat.open("n1");
    expect(ids()).toEqual(["p:local-1", "a:local-1"]);
    expect(made.chat.queue.prompts.map(({ text }) => text)).toEqual(["waits behind it"]);
  });

  it("and what cannot be begun after it was left comes back to the composer", async () => {
    made.daemon.answers["gemini/session/new"] = () => Promise.reject(fault("storage", 1005));
    await made.chat.begin();
    void made.chat.startNew();
    const sent = made.chat.prompts.send("not lost", {});
    void made.chat.startNew();
    await sent;
    expect(made.chat.saved.draft).toBe("not lost");
  });
});

describe("the draft", () => {
  it("of the new chat takes the old one's place in the same moment, and each finds its own again", async () => {
    await made.chat.begin();
    made.chat.setDraft("of the old chat", "end");
    const prefilled: string[] = [];
    made.chat.onPrefill((text) => prefilled.push(text));
    void made.chat.startNew();
    expect([made.chat.saved.draft, prefilled]).toEqual(["", [""]]);
    made.chat.setDraft("of the new chat", "end");
    await made.chat.open("s1");
    expect(made.chat.saved.draft).toBe("of the old chat");
    void made.chat.startNew();
    expect(made.chat.saved.draft).toBe("of the new chat");
  });

  it("of a new chat that is asked for again stays", async () => {
    await made.chat.begin();
    await made.chat.startNew();
    made.chat.setDraft("begun", "end");
    await made.chat.startNew();
    expect(made.chat.saved.draft).toBe("begun");
  });
});

describe("what the page asks for says which chat it shows", () => {
  const actions = (): Actions => new Actions({ chat: made.chat, typed: () => undefined } as unknown as ActionNeeds); // the others are not asked

  it("a prompt goes there, also where another chat has just taken its place", async () => {
    made.daemon.playTurns();
    await made.chat.begin();
    const chat = made.chat.number;
    await made.chat.open("s2");
    void actions().handle({ type: "send", text: "written in s1", chat });
    await vi.waitFor(() => expect(asked()).toEqual(["s1: written in s1"]));
    expect(ids()).toEqual(["p:t2", "a:t2"]);
  });

  it("but to a new chat that was asked for before it was sent", async () => {
    made.daemon.playTurns();
    await made.chat.begin();
    const chat = made.chat.number;
    void made.chat.startNew();
    void actions().handle({ type: "send", text: "for the new one", chat });
    await vi.waitFor(() => expect(asked()).toEqual(["n1: for the new one"]));
  });

  it("a stop, a retry and a mode come to nothing in another chat than it shows", async () => {
    await made.chat.begin();
    const chat = made.chat.number;
    await made.chat.open("s2");
    const before = made.daemon.calls.length;
    for (const message of [
      { type: "stop", chat },
      { type: "turn", do: "retry", turnId: "t2", chat },
      { type: "mode", mode: "plan", chat },
      { type: "chat", do: "rename", chat },
    ] as const)
      await actions().handle(message);
    expect(made.daemon.calls.slice(before)).toEqual([]);
  });

  it("a question about it is not answered with what another one says", async () => {
    await made.chat.begin();
    const chat = made.chat.number;
    await made.chat.open("s2");
    await expect(answerPage(made.chat, { do: "rows", from: 0, to: 9 }, chat)).rejects.toMatchObject({
      data: { kind: "cancelled" },
    });
    await expect(answerPage(made.chat, { do: "rows", from: 0, to: 9 }, made.chat.number)).resolves.toMatchObject({
      rows: [{ id: "p:t2" }, { id: "a:t2" }],
    });
  });
});

it("until the last chat is there, the page knows which one is coming", async () => {
  made.memory.values["lastTitle"] = "Fix the tokenizer";
  await made.chat.loaded;
  expect(made.chat.coming).toEqual({ title: "Fix the tokenizer" });
  await made.chat.begin();
  expect(made.chat.coming).toBeUndefined();
  slow();
  const opening = made.chat.open("s2");
  expect(made.chat.coming).toEqual({ title: "" });
  answer();
  await opening;
  expect([made.chat.coming, made.memory.values["lastTitle"]]).toEqual([undefined, "title of s2"]);
});
