/** A turn that ended early: its answer offers to go on, and goes on in its place. */
import { describe, expect, it } from "vitest";
import { setUnfinished } from "../../../src/chat/pure/unfinished.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { content, ScriptedEvents, turn, USAGE } from "./scriptedEvents.js";

const CUT = { turnId: "t1", outcome: "interrupted" } as const;
const settle = () => new Promise((resolve) => setTimeout(resolve));

describe("an unfinished turn", () => {
  it("that the log shows as finished rounds says that it was interrupted, and offers to go on", () => {
    const { chat } = new ScriptedEvents();
    setUnfinished(chat, CUT);
    chat.load(turn("t1"), [], [], new Set());
    expect(chat.answer("t1")).toMatchObject({ state: "failed", canGoOn: true, text: "answer of t1" });
    expect(chat.answer("t1")?.error?.message).toBe("The answer was interrupted.");
  });

  it.each([
    ["cancelled", "", { state: "stopped" }],
    ["stopped", "maxToolRounds", { state: "done", finishReason: "maxToolRounds" }],
    ["failed", "The service was away.", { state: "failed", error: { message: "The service was away." } }],
  ] as const)("that was %s is shown as that after a reload", (outcome, reason, shown) => {
    const { chat } = new ScriptedEvents();
    chat.load(turn("t1"), [], [], new Set());
    setUnfinished(chat, { turnId: "t1", outcome, reason });
    expect(chat.answer("t1")).toMatchObject({ ...shown, canGoOn: true });
  });

  it("keeps what this window saw of its end", () => {
    const events = new ScriptedEvents()
      .started("t1", "Go.")
      .event(
        { type: "turnFailed", error: { code: 1, kind: "quota", message: "Too many.", hint: "", retryable: true } },
        "t1",
      );
    setUnfinished(events.chat, { ...CUT, outcome: "failed", reason: "quota" });
    expect(events.answer("t1")).toMatchObject({ canGoOn: true, error: { kind: "quota" } });
  });

  it("that ended with its daemon is told as interrupted, not as stopped by somebody", () => {
    const events = new ScriptedEvents().started("t1", "Go.").event({ type: "turnCancelled", by: "interrupted" }, "t1");
    expect(events.answer("t1")).toMatchObject({ state: "failed", error: { message: "The answer was interrupted." } });
    expect(events.chat.prompt("t1")?.outcome).toBe("interrupted");
  });

  it("goes on in its own row, and what was said of its end is gone", () => {
    const events = new ScriptedEvents().started("t1", "Go.").event({ type: "turnCancelled", by: "interrupted" }, "t1");
    setUnfinished(events.chat, CUT);
    events.started("t1", "Go.").said("t1", "On.").completed("t1");
    expect(events.rows.map(({ id }) => id)).toEqual(["p:t1", "a:t1"]);
    expect(events.answer("t1")).toMatchObject({ state: "done", text: "On." });
    expect(events.answer("t1")).not.toHaveProperty("error");
    expect(events.answer("t1")).not.toHaveProperty("canGoOn");
    expect(events.chat.prompt("t1")).not.toHaveProperty("outcome");
  });

  it("offers nothing any more once another prompt is answered", () => {
    const events = new ScriptedEvents();
    events.chat.load(turn("t1"), [], [], new Set());
    setUnfinished(events.chat, CUT);
    events.started("t2", "Else.");
    expect(events.answer("t1")).not.toHaveProperty("canGoOn");
  });
});

describe("going on", () => {
  /** A chat whose newest turn failed after a finished round. */
  async function failed(): Promise<Stage> {
    const made = stage();
    const unfinished = { turnId: "t1", outcome: "failed", reason: "It failed." } as const;
    made.daemon.answers["gemini/tools"] = () => Promise.resolve({ mode: "ask", tools: [], unfinished });
    const plays = made.daemon.playTurns();
    await made.chat.begin();
    const sent = made.chat.prompts.submit("Go.");
    await settle();
    plays[0]?.start().say("I look.").fail("quota");
    await sent;
    await settle();
    return made;
  }

  it("is offered when a turn failed, and asks the daemon for the same turn", async () => {
    const { chat, daemon } = await failed();
    expect(chat.conversation.answer("t1")?.canGoOn).toBe(true);
    daemon.answers["gemini/chat/resume"] = () => {
      daemon.answers["gemini/tools"] = () => Promise.resolve({ mode: "ask", tools: [] });
      daemon.emit({ type: "turnStarted", prompt: [{ text: "Go." }], model: "gemini-3-pro" }, "t1");
      daemon.emit({ type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 1 }, "t1");
      daemon.sessions.set("s1", [content("prompt", "t1", "Go."), content("reply", "t1", "I look. On.")]);
      const result = { sessionId: "s1", turnId: "t1", text: "", finishReason: "STOP", model: "gemini-3-pro" };
      return Promise.resolve({ ...result, usage: USAGE });
    };
    await chat.prompts.goOn();
    expect(chat.conversation.answer("t1")).toMatchObject({ state: "done", text: "I look. On." });
    expect(chat.conversation.answer("t1")).not.toHaveProperty("canGoOn");
  });

  it("lets what is queued wait if it fails again", async () => {
    const { chat, daemon } = await failed();
    chat.queue.add({ text: "Next." });
    daemon.answers["gemini/chat/resume"] = () => Promise.reject(new Error("gone"));
    await expect(chat.prompts.goOn()).rejects.toThrow("gone");
    expect(chat.queue.held).toBe("ended");
    expect(chat.queue.prompts).toHaveLength(1);
  });
});
