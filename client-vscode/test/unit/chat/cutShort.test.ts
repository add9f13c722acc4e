/** Answers that were cut short: what came of them is read from the log. */
import { describe, expect, it } from "vitest";
import { content, ScriptedEvents } from "./scriptedEvents.js";

const NONE = new Set<string>();
const HALF = { shown: { text: "half", thoughts: "Hm." } };

describe("an answer that was cut short, read from the log", () => {
  it.each([
    ["stopped", { outcome: "cancelled", by: "client-1" }, "cancelled", undefined],
    ["stopped", { outcome: "cancelled", by: "leave" }, "left", undefined],
    ["stopped", { outcome: "cancelled", by: "shutdown" }, "interrupted", undefined],
    ["stopped", { outcome: "cancelled", by: "takeOver" }, "interrupted", undefined],
    ["failed", { outcome: "failed", reason: "It broke off." }, "failed", "It broke off."],
    ["stopped", { outcome: "replaced" }, "replaced", undefined],
  ] as const)("shows what the log has of an answer that was cut short: %s, %o", (state, how, outcome, message) => {
    const { chat } = new ScriptedEvents();
    chat.load([content("prompt", "t1", "why?", { ...HALF, ...how })], [], [], NONE);
    expect(chat.answer("t1")).toMatchObject({ state, text: "half", thoughts: "Hm." });
    expect(chat.answer("t1")?.error?.message).toBe(message);
    expect(chat.prompt("t1")?.outcome).toBe(outcome);
  });

  it("shows an answer that was stopped as the window showed it that saw it", () => {
    const told = new ScriptedEvents()
      .started("t1", "prompt of t1")
      .said("t1", "half")
      .event({ type: "turnCancelled", by: "me" }, "t1");
    const { chat } = new ScriptedEvents();
    chat.load(
      [content("prompt", "t1", "prompt of t1", { outcome: "cancelled", shown: { text: "half" } })],
      [],
      [],
      NONE,
    );
    const { state, text, thoughts } = told.answer("t1");
    expect(chat.answer("t1")).toMatchObject({ state, text, thoughts });
  });

  it("shows behind finished rounds what came of the next one, also once the turn has gone on", () => {
    const { chat } = new ScriptedEvents();
    const [asked, looked] = [content("prompt", "t1", "why?"), content("reply", "t1", "I look.")];
    const results = content("toolResult", "t1", "", { ...HALF, outcome: "cancelled" });
    chat.load([asked, looked, results], [], [], NONE);
    expect(chat.answer("t1")).toMatchObject({ state: "stopped", text: "I look.\n\nhalf" });
    chat.load([asked, looked, results, content("reply", "t1", "Two.")], [], [], NONE);
    expect(chat.answer("t1")).toMatchObject({ state: "done", text: "I look.\n\nhalf\n\nTwo." });
    const { chat: failed } = new ScriptedEvents();
    failed.load([asked, looked, { ...results, outcome: "failed", reason: "Away." }], [], [], NONE);
    expect(failed.answer("t1")).toMatchObject({ state: "failed", error: { kind: "unfinished", message: "Away." } });
  });
});
