/** Prompts and queues of a chat while another one is shown. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FakeMemory, fault, info, stage, type Stage } from "./fakeDaemon.js";
import { content, result, turn, USAGE } from "./scriptedEvents.js";

const stages: Stage[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { chat } of stages.splice(0)) chat.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "companion-"));
  folders.push(path);
  return path;
}

/** A window that knows the chats s1 and s2. */
async function staged(path?: string, memory?: FakeMemory): Promise<Stage> {
  const made = stage(path ?? (await folder()), memory);
  stages.push(made);
  made.daemon.sessions.set("s1", []);
  made.daemon.sessions.set("s2", []);
  return made;
}

/** The chat s2 opens only when the returned function is called. */
function slowToOpen({ daemon }: Stage): () => void {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  daemon.answers["gemini/session/open"] = async ({ sessionId }) => {
    if (sessionId === "s2") await gate;
    return info(sessionId);
  };
  return () => open();
}

const asked = ({ daemon }: Stage): string[] =>
  daemon.calls
    .filter(({ method }) => method === "gemini/chat")
    .map(({ params }) => `${String(params["sessionId"])}: ${String(params["prompt"])}`);
const opened = ({ daemon }: Stage): unknown[] =>
  daemon.calls.filter(({ method }) => method === "gemini/session/open").map(({ params }) => params["sessionId"]);
const states = ({ chat }: Stage): string[] =>
  chat.conversation.rows.map((row) => `${row.id} ${"state" in row ? row.state : ""}`.trim());

describe("a chat whose turn runs when it is opened", () => {
  const opening = async (whileRead: (made: Stage) => void = () => undefined): Promise<Stage> => {
    const made = await staged();
    made.daemon.sessions.set("s2", turn("t7"));
    made.daemon.answers["gemini/session/open"] = ({ sessionId }) =>
      Promise.resolve({ ...info(sessionId), runningTurn: "t7" });
    await made.chat.ready();
    const reading = made.chat.open("s2");
    await vi.waitFor(() => expect(made.chat.info?.sessionId).toBe("s2"));
    whileRead(made);
    await reading;
    return made;
  };
  const ends = { type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 1 } as const;

  it("goes on here, with all that it says read once more when it ends", async () => {
    const made = await opening();
    expect(states(made)).toEqual(["p:t7", "a:t7 working"]);
    expect(made.chat.job).toMatchObject({ kind: "turn", id: "t7" });
    made.daemon.sessions.set("s2", [...turn("t7"), content("reply", "t7", "said before, and since")]);
    made.daemon.emit(ends, "t7", "s2");
    await vi.waitFor(() => expect(made.chat.conversation.answer("t7")?.text).toContain("said before, and since"));
    expect(made.chat.job.kind).toBe("idle");
  });

  it("has ended if it does so while the transcript is read", async () => {
    const made = await opening(({ daemon }) => daemon.emit(ends, "t7", "s2"));
    expect(states(made)).toEqual(["p:t7", "a:t7 done"]);
  });
});

describe("a prompt", () => {
  it("goes to the chat that it was written in, although another one is shown before the daemon is asked", async () => {
    const made = await staged();
    made.daemon.playTurns();
    await made.chat.open("s1");
    const letOpen = slowToOpen(made);
    const opening = made.chat.open("s2");
    await vi.waitFor(() => expect(opened(made)).toContain("s2"));
    void made.chat.prompts.submit("written in s1");
    letOpen();
    await opening;
    await vi.waitFor(() => expect(asked(made)).toEqual(["s1: written in s1"]));
    expect(states(made)).toEqual([]);
    await made.chat.open("s1");
    expect(states(made)).toEqual(["p:local-1", "a:local-1 sending"]);
  });

  it("that waited goes to its own chat if the answer before it ends while another chat opens", async () => {
    const made = await staged();
    const turns = made.daemon.playTurns();
    await made.chat.open("s1");
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    const letOpen = slowToOpen(made);
    const opening = made.chat.open("s2");
    await vi.waitFor(() => expect(opened(made)).toContain("s2"));
    turns[0]?.complete();
    await vi.waitFor(() => expect(made.chat.queue.prompts).toEqual([]));
    letOpen();
    await opening;
    await vi.waitFor(() => expect(asked(made)).toEqual(["s1: one", "s1: two"]));
  });
});

describe("a stop", () => {
  it("ends the prompt of the chat that is shown, and not the one of another chat", async () => {
    const made = await staged();
    const cancelled: string[] = [];
    made.daemon.answers["gemini/chat"] = ({ prompt }, token) =>
      new Promise((_, reject) => {
        token?.onCancellationRequested(() => {
          cancelled.push(typeof prompt === "string" ? prompt : "");
          reject(fault("cancelled", -32800));
        });
      });
    await made.chat.open("s1");
    void made.chat.prompts.submit("in s1");
    await vi.waitFor(() => expect(asked(made)).toHaveLength(1));
    await made.chat.open("s2");
    void made.chat.prompts.submit("in s2");
    await vi.waitFor(() => expect(asked(made)).toHaveLength(2));
    await made.chat.open("s1");
    await made.chat.prompts.stop();
    expect(cancelled).toEqual(["in s1"]);
    await vi.waitFor(() => expect(made.chat.job.kind).toBe("idle"));
  });
});

describe("a queue", () => {
  it("of an earlier window stays held when another chat was looked at", async () => {
    const path = await folder();
    const memory = new FakeMemory({ lastSession: "s1" });
    const first = await staged(path, memory);
    const turns = first.daemon.playTurns();
    await first.chat.begin();
    void first.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await first.chat.prompts.submit("two");
    await first.chat.flushDraft();
    const second = await staged(path, memory);
    second.daemon.playTurns();
    await second.chat.begin();
    await vi.waitFor(() => expect(second.chat.queue.held).toBe("restored"));
    await second.chat.open("s2");
    await second.chat.open("s1");
    expect(second.chat.queue.held).toBe("restored");
    expect(second.chat.queue.prompts.map(({ text }) => text)).toEqual(["two"]);
    expect(asked(second)).toEqual([]);
  });

  it("goes on behind the answer that is asked for again", async () => {
    const made = await staged();
    const turns = made.daemon.playTurns();
    await made.chat.open("s1");
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    turns[0]?.fail("modelUnavailable");
    await sent;
    expect(made.chat.queue.held).toBe("ended");
    void made.chat.prompts.retry("t1");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    turns[1]?.start().complete();
    await vi.waitFor(() => expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "one", "two"]));
  });

  it("is held by the end of an answer in its own chat, and not by one in a chat that was left", async () => {
    const made = await staged();
    const turns = made.daemon.playTurns();
    await made.chat.open("s1");
    const sent = made.chat.prompts.submit("in s1");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("queued in s1");
    await made.chat.open("s2");
    void made.chat.prompts.submit("in s2");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    await made.chat.prompts.submit("queued in s2");
    turns[0]?.answer({ stopped: "contextWindowWillOverflow" });
    await sent;
    expect(made.chat.queue.held).toBeUndefined();
    await made.chat.open("s1");
    expect(made.chat.queue.held).toBe("ended");
  });
});

describe("a compression", () => {
  /** An answer is under way in s1, a compression waits for it, and s2 is shown. */
  async function waiting(): Promise<{ made: Stage; turns: ReturnType<Stage["daemon"]["playTurns"]> }> {
    const made = await staged();
    const turns = made.daemon.playTurns();
    await made.chat.open("s1");
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    made.daemon.tellStatus({ compressionId: "c1", phase: "waiting", state: "running" });
    expect(made.chat.conversation.divider("c1")?.state).toBe("waiting");
    return { made, turns };
  }

  it("that was called off while another chat was shown waits no longer", async () => {
    const { made } = await waiting();
    await made.chat.open("s2");
    made.daemon.tellStatus({});
    await made.chat.open("s1");
    expect(made.chat.conversation.divider("c1")?.state).toBe("cancelled");
  });

  it("whose end nothing told of waits no longer when its chat is read", async () => {
    const { made, turns } = await waiting();
    await made.chat.open("s2");
    turns[0]?.complete();
    await made.chat.open("s1");
    expect(made.chat.conversation.divider("c1")?.state).toBe("cancelled");
    expect(made.chat.job.kind).toBe("idle");
  });

  it("that came to nothing while another chat was shown says why", async () => {
    const made = await staged();
    await made.chat.open("s1");
    made.daemon.emit({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    await made.chat.open("s2");
    made.daemon.emit({
      type: "compressionFailed",
      compressionId: "c1",
      result: result("COMPRESSION_FAILED_EMPTY_SUMMARY", { message: "The model gave no summary." }),
    });
    await made.chat.open("s1");
    expect(made.chat.conversation.divider("c1")).toMatchObject({
      state: "unchanged",
      result: { message: "The model gave no summary." },
    });
  });
});
