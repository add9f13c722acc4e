/** Prompts that are asked again, stopped early, queued and pinned. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AnswerRow } from "../../../src/panel/contract.js";
import { FakeMemory, fault, info, stage, type Stage } from "./fakeDaemon.js";
import { constraint, content } from "./scriptedEvents.js";

const stages: Stage[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { chat } of stages.splice(0)) chat.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

function staged(...args: Parameters<typeof stage>): Stage {
  const made = stage(...args);
  stages.push(made);
  return made;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "companion-"));
  folders.push(path);
  return path;
}

const ids = ({ chat }: Stage): string[] => chat.conversation.rows.map((row) => row.id);
const last = ({ chat }: Stage): AnswerRow => {
  const row = chat.conversation.rows.at(-1);
  if (row?.kind !== "answer") throw new Error("no answer");
  return row;
};

describe("asking again", () => {
  it("is offered for the newest turn alone, and does nothing for another one", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    for (const [index, prompt] of ["one", "two"].entries()) {
      const sent = made.chat.prompts.submit(prompt);
      await vi.waitFor(() => expect(turns).toHaveLength(index + 1));
      expect(made.chat.retryTurn).toBeUndefined();
      turns[index]?.start().complete();
      await sent;
    }
    expect(made.chat.retryTurn).toBe("t2");
    await made.chat.prompts.retry("t1");
    expect(turns).toHaveLength(2);
    expect(ids(made)).toEqual(["p:t1", "a:t1", "p:t2", "a:t2"]);
  });

  it("leaves no second prompt if the daemon refuses it, and says why", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().complete();
    await sent;
    made.daemon.answers["gemini/chat"] = () => Promise.reject(fault("invalid", -32602));
    await made.chat.prompts.retry("t1");
    expect(ids(made)).toEqual(["p:t1", "a:t1"]);
    expect(made.chat.fault?.message).toBe("It failed.");
  });
});

describe("a stop that comes early", () => {
  it("ends a prompt that the daemon has not been asked yet, because it is still starting", async () => {
    const made = staged();
    made.daemon.start = () => new Promise(() => undefined);
    const sent = made.chat.prompts.submit("one");
    await made.chat.prompts.stop();
    await sent;
    expect(last(made).state).toBe("stopped");
    expect(made.daemon.calls.filter(({ method }) => method === "gemini/chat")).toEqual([]);
  });

  it("leaves the prompt at the end of the chat, to be sent again, when the transcript is read after it", async () => {
    const made = staged(undefined, new FakeMemory({ lastSession: "s1" }));
    const turns = made.daemon.playTurns();
    made.daemon.sessions.set("s1", [content("prompt", "t0", "old"), content("reply", "t0", "Done.")]);
    let begin: () => void = () => undefined;
    made.daemon.start = () => new Promise((resolve) => (begin = resolve));
    const sent = made.chat.prompts.submit("precious");
    await made.chat.prompts.stop();
    await sent;
    await made.daemon.restart();
    begin();
    await vi.waitFor(() => expect(ids(made)).toEqual(["p:t0", "a:t0", "p:local-1", "a:local-1"]));
    expect(made.chat.retryTurn).toBe("local-1");
    made.daemon.start = () => Promise.resolve();
    void made.chat.prompts.retry("local-1");
    await vi.waitFor(() => expect(turns.map(({ prompt }) => prompt)).toEqual(["precious"]));
  });

  it("leaves the prompt where it stood when the transcript is read again", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const first = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().complete();
    await first;
    made.daemon.answers["gemini/chat"] = (_params, token) =>
      new Promise((_, reject) => token?.onCancellationRequested(() => reject(fault("cancelled", -32800))));
    const second = made.chat.prompts.submit("precious");
    await made.chat.prompts.stop();
    await second;
    await made.chat.refresh();
    expect(ids(made)).toEqual(["p:t1", "a:t1", "p:local-2", "a:local-2"]);
    expect(made.chat.conversation.prompt("local-2")?.text).toBe("precious");
  });
});

describe("a queue", () => {
  it("goes on after a compression that was stopped: it was not written for that", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const first = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().complete();
    await first;
    made.daemon.emit({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    await made.chat.prompts.submit("two");
    await made.chat.prompts.stop();
    made.daemon.emit({ type: "compressionCancelled", compressionId: "c1" });
    await vi.waitFor(() => expect(turns).toHaveLength(2));
  });

  it("goes on when its chat is shown again, if the answer that it waited for came meanwhile", async () => {
    const made = staged(await folder());
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    await made.chat.startNew();
    turns[0]?.complete();
    await made.chat.open("s1");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(turns[1]?.prompt).toBe("two");
  });

  it("stays held when its chat is shown again, if that answer failed", async () => {
    const made = staged(await folder());
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    await made.chat.startNew();
    turns[0]?.say("half").fail("modelUnavailable");
    made.daemon.sessions.set("s1", [{ ...content("prompt", "t1", "one"), outcome: "failed" }]);
    await made.chat.open("s1");
    expect(made.chat.queue.held).toBe("ended");
    expect(turns).toHaveLength(1);
  });

  it("is sent when a daemon comes back that was lost while nothing ran", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    await made.chat.begin();
    made.daemon.show({ kind: "lost", attempt: 1, retryAt: 0 });
    await made.chat.prompts.submit("one");
    expect(made.chat.queue.held).toBeUndefined();
    await made.daemon.restart();
    await vi.waitFor(() => expect(turns).toHaveLength(1));
  });
});

describe("a compression", () => {
  const idle = { tokenCount: 1, tokenLimit: 100 } as const;

  async function answering(): Promise<{ made: Stage; turns: ReturnType<Stage["daemon"]["playTurns"]> }> {
    const made = staged(await folder());
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half");
    return { made, turns };
  }

  it("that waits for the answer has its row, which is the one that runs then", async () => {
    const { made, turns } = await answering();
    made.daemon.tellStatus({ ...idle, state: "running", compressionId: "c1", phase: "waiting" });
    expect(made.chat.conversation.divider("c1")?.state).toBe("waiting");
    turns[0]?.complete("half");
    made.daemon.emit({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    expect(made.chat.conversation.rows.filter(({ kind }) => kind === "divider")).toMatchObject([{ state: "running" }]);
  });

  it("that is called off while it waits says so", async () => {
    const { made } = await answering();
    made.daemon.tellStatus({ ...idle, state: "running", compressionId: "c1", phase: "waiting" });
    made.daemon.tellStatus(idle);
    expect(made.chat.conversation.divider("c1")?.state).toBe("cancelled");
  });

  it("that begins at once has no row of waiting", async () => {
    const made = staged();
    await made.chat.session();
    made.daemon.tellStatus({ ...idle, state: "running", compressionId: "c1", phase: "waiting" });
    expect(made.chat.conversation.rows).toEqual([]);
  });

  it.each([
    ["cancelled", {}],
    ["waiting", { compressionId: "c1", phase: "waiting", elapsedMs: 5_000 }],
    ["running", { compressionId: "c1", phase: "summarising", elapsedMs: 5_000 }],
  ] as const)("that ran when the window was closed is shown as %s when it is open again", async (state, status) => {
    const path = await folder();
    const memory = new FakeMemory();
    const first = staged(path, memory);
    await first.chat.session();
    first.daemon.emit({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    await first.chat.flushDraft();
    const second = staged(path, memory);
    second.daemon.sessions.set("s1", []);
    second.daemon.status = status;
    await second.chat.begin();
    await vi.waitFor(() => expect(second.chat.conversation.divider("c1")?.state).toBe(state));
  });
});

describe("the model", () => {
  it("that was picked is let go when the settings name another one, and the chat says so", async () => {
    const made = staged();
    await made.chat.session();
    made.chat.chooseModel("gemini-3-flash");
    expect(made.chat.nextModel).toBe("gemini-3-flash");
    made.daemon.emit({ type: "settingsChanged", keys: ["model.name"] });
    await vi.waitFor(() => expect(made.chat.conversation.rows).toMatchObject([{ kind: "notice" }]));
    expect(made.chat.askedModel).toBeUndefined();
  });

  it("of the settings is named where the session keeps to an earlier pick", async () => {
    const made = staged();
    await made.chat.session();
    await made.chat.modelSettingChanged();
    expect(made.chat.nextModel).toBeUndefined();
    made.chat.renamed({ ...info("s1"), model: "gemini-3-flash" });
    expect(made.chat.nextModel).toBe("gemini-3-pro");
  });

  it("of settings that changed before there was a session is asked about, not named as it was", async () => {
    const made = staged();
    await made.chat.modelSettingChanged(); // it knows "gemini-3-pro"
    const report = await made.daemon.request("gemini/models", {});
    made.daemon.answers["gemini/models"] = () => Promise.resolve({ ...report, default: "gemini-2.5-pro" });
    made.daemon.answers["gemini/session/new"] = () => Promise.resolve({ ...info("s1"), model: "gemini-2.5-pro" });
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    const [asked] = made.daemon.calls.filter(({ method }) => method === "gemini/chat");
    expect(asked?.params).not.toHaveProperty("model");
    turns[0]?.start().say("Hi");
    turns[0]?.complete("Hi");
    await sent;
  });

  it("that answers from here on is named above its first answer", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("Hi");
    made.daemon.emit({ type: "modelChanged", from: "a", to: "b", reason: "" }, "t1");
    turns[0]?.complete("Hi");
    await sent;
    expect(made.chat.conversation.rows.map(({ kind }) => kind)).toEqual(["prompt", "notice", "answer"]);
  });
});

describe("a pin", () => {
  it("is the same at the prompt and at the answer, also while that is being made", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half");
    const pins = (): unknown[] => [
      made.chat.conversation.prompt("t1")?.pinId,
      made.chat.conversation.answer("t1")?.pinId,
    ];
    made.daemon.answers["gemini/constraints"] = () =>
      Promise.resolve({ constraints: [constraint({ source: "pin", constraintId: "n1" })] });
    await made.chat.refresh();
    expect(pins()).toEqual(["n1", "n1"]);
    turns[0]?.complete("half");
    await sent;
    expect(pins()).toEqual(["n1", "n1"]);
    made.daemon.answers["gemini/constraints"] = () => Promise.resolve({ constraints: [] });
    await made.chat.refresh();
    expect(pins()).toEqual([undefined, undefined]);
  });
});
