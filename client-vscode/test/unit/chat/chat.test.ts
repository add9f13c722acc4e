import { afterEach, describe, expect, it, vi } from "vitest";
import type { AnswerRow } from "../../../src/panel/contract.js";
import { english } from "../../../src/chat/pure/words.js";
import { answerStateText } from "../../../webview/transcript/rows/answerState.js";
import { answer as answerRow } from "../../panel/chatRows.js";
import { commandRow } from "../../panel/toolRows.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { result, USAGE } from "./scriptedEvents.js";

const stages: Stage[] = [];

afterEach(() => {
  for (const { chat } of stages.splice(0)) chat.dispose();
});

function staged(...args: Parameters<typeof stage>): Stage {
  const made = stage(...args);
  stages.push(made);
  return made;
}

const ids = ({ chat }: Stage): string[] => chat.conversation.rows.map((row) => row.id);
const last = ({ chat }: Stage): AnswerRow => {
  const row = chat.conversation.rows.at(-1);
  if (row?.kind !== "answer") throw new Error("no answer");
  return row;
};

describe("sending", () => {
  it("starts the daemon and a session with the first prompt, and reports the editor to it before", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("hello");
    expect(last(made).state).toBe("sending");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    expect(made.reporter.flushes).toBe(1);
    turns[0]?.start().say("Hi").complete("Hi");
    await sent;
    expect(ids(made)).toEqual(["p:t1", "a:t1"]);
    expect(last(made)).toMatchObject({ state: "done", text: "Hi" });
    expect(made.memory.get("lastSession")).toBe("s1");
  });

  it("queues what comes meanwhile, in order, and sends it when the answer is done", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    await made.chat.prompts.submit("three");
    expect(made.chat.queue.prompts.map(({ text }) => text)).toEqual(["two", "three"]);
    turns[0]?.complete();
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    turns[1]?.start().complete();
    await vi.waitFor(() => expect(turns).toHaveLength(3));
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "two", "three"]);
  });

  it("sends what was queued behind a compression when that is over, however it ends", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const first = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().complete();
    await first;
    made.daemon.emit({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    await made.chat.prompts.submit("two");
    expect(made.chat.queue.prompts).toHaveLength(1);
    made.daemon.emit({ type: "compressionCancelled", compressionId: "c1" });
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(turns[1]?.prompt).toBe("two");
  });

  it("goes on receiving after an event that is not as it should be", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    made.daemon.emit({ type: "turnFailed" } as never, "t1");
    turns[0]?.say("still here").complete("still here");
    await sent;
    expect(last(made).text).toBe("still here");
  });

  it("ends what runs when a queued prompt is wanted now", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half");
    await made.chat.prompts.submit("two");
    made.daemon.answers["gemini/cancel"] = () => {
      turns[0]?.cancelled();
      return Promise.resolve({ cancelled: true });
    };
    await made.chat.prompts.submit("three");
    void made.chat.prompts.sendQueued(made.chat.queue.prompts[0]?.id ?? "");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(made.chat.queue.held).toBeUndefined();
    expect(made.chat.conversation.answer("t1")).toMatchObject({ state: "stopped", text: "half" });
    expect(turns[1]?.prompt).toBe("two");
  });

  it("holds the queue after a stop: the next prompt was written for an answer that never came", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.submit("two");
    const stopped = made.chat.prompts.stop();
    expect(last(made).state).toBe("stopping");
    turns[0]?.cancelled();
    await Promise.all([sent, stopped]);
    expect(made.chat.queue.held).toBe("ended");
    expect(turns).toHaveLength(1);
  });

  it("takes a prompt back that is stopped before the daemon knew of it", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    await made.chat.prompts.stop();
    await sent;
    expect(last(made).state).toBe("stopped");
  });

  it("leaves no row for a command, and says what came of it", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("/compress");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.answer({ text: "Nothing to compress.", compression: result("NOOP", { compressionId: "none" }) });
    await sent;
    expect(made.chat.conversation.rows).toMatchObject([{ kind: "notice", text: "Nothing to compress." }]);
  });

  it("says once what came of a command that changed nothing", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("/compress");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    const { compressionId: _, ...nothing } = result("NOOP", { message: "Nothing to compress." });
    made.daemon.emit({ type: "compressionStarted", compressionId: "c9", trigger: "manual" });
    made.daemon.emit({ type: "compressionCompleted", compressionId: "c9", result: nothing });
    turns[0]?.answer({ text: "Nothing to compress.", compression: nothing });
    await sent;
    expect(made.chat.conversation.rows).toMatchObject([{ kind: "divider", state: "unchanged" }]);
  });
});

describe("failing", () => {
  it("keeps what came, and counts down to the retry", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half").fail("modelUnavailable", 4_000);
    await sent;
    expect(last(made)).toMatchObject({ state: "failed", text: "half" });
    expect(last(made).error?.retryAt).toBeGreaterThan(0);
  });

  it("asks the same again on retry, and for another answer in the place of a whole one", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().fail("modelUnavailable");
    await vi.waitFor(() => expect(made.chat.job.kind).toBe("idle"));
    void made.chat.prompts.retry("t1");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    turns[1]?.start().complete();
    await vi.waitFor(() => expect(made.chat.conversation.answer("t2")?.state).toBe("done"));
    void made.chat.prompts.retry("t2");
    await vi.waitFor(() => expect(turns).toHaveLength(3));
    const chats = made.daemon.calls
      .filter(({ method }) => method === "gemini/chat")
      .map(({ params }) => params["replaces"]);
    expect(chats).toEqual([undefined, undefined, "t2"]);
  });

  it("asks for another answer to a text that begins like a command without making it one", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("//compress what?");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start("/compress what?").complete();
    await vi.waitFor(() => expect(made.chat.job.kind).toBe("idle"));
    expect(ids(made)).toEqual(["p:t1", "a:t1"]);
    expect(made.chat.conversation.prompt("t1")?.text).toBe("/compress what?");
    void made.chat.prompts.retry("t1");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    const chats = made.daemon.calls.filter(({ method }) => method === "gemini/chat");
    expect(chats.map(({ params }) => params["prompt"])).toEqual(["//compress what?", "//compress what?"]);
  });

  it("says that the daemon ended, keeps the half answer, and opens the session again when it is back", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half");
    made.daemon.show({ kind: "lost", attempt: 1, retryAt: 0 });
    expect(last(made)).toMatchObject({
      state: "failed",
      text: "half",
      error: { kind: "daemon", actions: [{ id: "retry" }] },
    });
    await made.daemon.restart();
    await vi.waitFor(() =>
      expect(made.daemon.calls.filter(({ method }) => method === "gemini/session/open")).not.toHaveLength(0),
    );
    expect(last(made).text).toBe("half");
  });

  it("ends what was being made with a daemon that is restarted by choice", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    await made.chat.begin();
    made.daemon.show({ kind: "ready", version: "0" });
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("half");
    made.daemon.show({ kind: "starting", detail: "" });
    expect(last(made)).toMatchObject({ state: "failed", text: "half", error: { kind: "daemon" } });
    expect(made.chat.job.kind).toBe("idle");
  });

  it("keeps a prompt that waits for the first start", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    made.daemon.show({ kind: "starting", detail: "" });
    void made.chat.prompts.submit("one");
    made.daemon.show({ kind: "starting", detail: "Making an environment" });
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("whole").complete();
    await vi.waitFor(() => expect(last(made)).toMatchObject({ state: "done" }));
  });

  it("tells a defect of ours without its inner words", async () => {
    const made = staged();
    made.daemon.answers["gemini/session/new"] = () => Promise.reject(new Error("secret path"));
    await made.chat.prompts.submit("one");
    expect(last(made).error?.message).not.toContain("secret");
  });
});

describe("leaving a chat while it answers", () => {
  it("finds the whole answer when it comes back, and shows nothing of it meanwhile", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start().say("before ");
    await made.chat.startNew();
    turns[0]?.say("meanwhile ");
    expect(made.chat.conversation.rows).toEqual([]);
    await made.chat.open("s1");
    turns[0]?.say("after");
    expect(last(made).text).toBe("before meanwhile after");
  });
});

it("an answer that was ended early keeps what the daemon says of why, until it goes on", async () => {
  const made = staged();
  const turns = made.daemon.playTurns();
  const sent = made.chat.prompts.submit("long");
  await vi.waitFor(() => expect(turns).toHaveLength(1));
  turns[0]?.start();
  made.daemon.emit({ type: "turnCompleted", finishReason: "maxToolRounds", usage: USAGE, durationMs: 1 }, "t1");
  turns[0]?.answer({ turnId: "t1", stopped: "maxToolRounds", message: "100 rounds are used. Shall it go on?" });
  await sent;
  const language = { t: english, locale: "en" };
  const answer = last(made);
  expect(answer).toMatchObject({ endMessage: "100 rounds are used. Shall it go on?" });
  expect(answerStateText({ ...answer, state: "done", finishReason: "maxToolRounds" }, 0, language)).toBe(
    "100 rounds are used. Shall it go on?",
  );
  expect(answerStateText({ ...answer, state: "streaming" }, 0, language)).not.toContain("100 rounds");
  turns[0]?.start();
  expect(last(made).endMessage).toBeUndefined();
});

it("an answer that was stopped after its calls does not say that it never began", () => {
  const language = { t: english, locale: "en" };
  const stopped: AnswerRow = { ...answerRow, state: "stopped", text: "", tools: [commandRow] };
  expect(answerStateText(stopped, 0, language)).toBe("Stopped. What came is kept above.");
  expect(answerStateText({ ...stopped, tools: [] }, 0, language)).toBe("Stopped before it began");
});

describe("a prompt that no log holds", () => {
  it("goes back to the composer when it does not fit", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const prefills: string[] = [];
    made.chat.onPrefill((text) => prefills.push(text));
    const sent = made.chat.prompts.submit("huge");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    made.daemon.emit(
      { type: "contextWindowWillOverflow", estimatedRequestTokenCount: 9, remainingTokenCount: 1 },
      "t1",
    );
    turns[0]?.answer({ turnId: "t1", stopped: "contextWindowWillOverflow" });
    await sent;
    expect(prefills).toEqual(["huge"]);
    expect(last(made).state).toBe("failed");
  });

  it("goes back to the composer when too many wait already", async () => {
    const made = staged();
    const turns = made.daemon.playTurns();
    const prefills: string[] = [];
    made.chat.onPrefill((text) => prefills.push(text));
    void made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    const rows = made.chat.conversation.rows.length;
    for (let count = 0; count < 19; count += 1) await made.chat.prompts.submit(`queued ${count}`);
    expect(prefills[0]).toEqual("queued 16");
    expect(made.chat.conversation.rows).toHaveLength(rows);
  });

  it("does not disturb what is being written", async () => {
    const made = staged();
    made.daemon.answers["gemini/session/new"] = () => Promise.reject(new Error("x"));
    await made.chat.loaded;
    made.chat.setDraft("something else", "end");
    await made.chat.prompts.submit("one");
    expect(made.chat.saved.draft).toBe("something else");
  });
});
