/** A turn that waits, since so much goes on at once elsewhere, says so in its line, and no longer than it waits. */
import { expect, it } from "vitest";
import { answerStateText } from "../../../webview/transcript/rows/answerState.js";
import { english } from "../../../src/chat/pure/words.js";
import { ScriptedEvents } from "./scriptedEvents.js";

const language = { t: english, locale: "en" };

function lineOf(told: ScriptedEvents): string {
  return answerStateText(told.answer("t1"), 0, language);
}

it("what it waits for stands there until it goes on", () => {
  const told = new ScriptedEvents().started("t1", "why?");
  const before = lineOf(told);
  told.event({ type: "waitingForSlot", kind: "model" }, "t1");
  expect(lineOf(told)).toBe("Waiting for other requests to end");
  told.event({ type: "waitingForSlot", kind: "model", isOver: true }, "t1");
  expect(lineOf(told)).toBe(before);
});

it("of two waits the end of one leaves the other standing", () => {
  const told = new ScriptedEvents().started("t1", "why?");
  told.event({ type: "waitingForSlot", kind: "model" }, "t1");
  told.event({ type: "waitingForSlot", kind: "process" }, "t1");
  told.event({ type: "waitingForSlot", kind: "model", isOver: true }, "t1");
  expect(lineOf(told)).toBe("Waiting for other commands to end");
});

it("a turn that was stopped while it waited says that it was stopped", () => {
  const told = new ScriptedEvents().started("t1", "why?");
  told.event({ type: "waitingForSlot", kind: "model" }, "t1");
  told.event({ type: "turnCancelled", by: "me" }, "t1");
  expect(lineOf(told)).toBe("Stopped before it began");
});

it("what waits outside of a turn changes no row", () => {
  const told = new ScriptedEvents().started("t1", "why?");
  const rows = JSON.stringify(told.rows);
  told.event({ type: "waitingForSlot", kind: "model" });
  expect(JSON.stringify(told.rows)).toBe(rows);
});
