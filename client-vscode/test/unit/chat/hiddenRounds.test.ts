/** A turn of which a compression hides some rounds: what of it stays in sight. */
import { expect, it } from "vitest";
import { hiddenRuns } from "../../../src/chat/pure/history.js";
import { retryableTurn } from "../../../src/chat/pure/retrying.js";
import { content, ScriptedEvents, turn } from "./scriptedEvents.js";

const NONE = new Set<string>();

it("an answer whose first rounds are hidden stays in sight, and is not replaced", () => {
  const told = new ScriptedEvents();
  const items = turn("t1").map((item) => (item.kind === "reply" ? { ...item, hiddenBy: "c1" } : item));
  told.chat.load([...items, content("reply", "t1", "the end")], [], [], NONE);
  expect(hiddenRuns(told.rows)).toEqual([]);
  expect(told.answer("t1")).toMatchObject({ isPartHidden: true });
  expect(retryableTurn(told.rows, { kind: "idle" })).toBeUndefined();
});

it("an answer all of whose rounds are hidden folds with its prompt", () => {
  const told = new ScriptedEvents();
  const items = [...turn("t1"), content("reply", "t1", "the end")].map((item) => ({ ...item, hiddenBy: "c1" }));
  told.chat.load(items, [], [], NONE);
  expect(hiddenRuns(told.rows)).toMatchObject([{ from: 0, to: 1 }]);
  expect(told.answer("t1").isPartHidden).toBeUndefined();
});
