/** Budgets and other models that answer: a row that says why. */
import { expect, it } from "vitest";
import { stage } from "./fakeDaemon.js";
import type { BudgetUsed, CompanionEvent } from "../../../src/protocol.gen.js";

const USED: BudgetUsed = {
  ...{ type: "budgetUsed", scope: "day", unit: "cost", spent: 4.2, limit: 5, outcome: "warned" },
  setting: "companion.budget.dayCost",
};

async function noticesOf(...events: CompanionEvent[]): Promise<string[]> {
  const { chat } = stage();
  await chat.begin();
  await chat.session();
  for (const [at, event] of events.entries())
    chat.conversation.apply({ sessionId: "s1", seq: at + 1, time: 0, turnId: "t1", event });
  return chat.conversation.rows.flatMap((row) => (row.kind === "notice" ? [`${row.level}: ${row.text}`] : []));
}

it("a budget that is nearly used, or used up, is a row with what sets it", async () => {
  const tokens = {
    ...USED,
    scope: "session",
    unit: "tokens",
    spent: 12_000,
    limit: 12_000,
    outcome: "stopped",
  } as const;
  expect(await noticesOf(USED, { ...tokens, setting: "companion.budget.sessionTokens" })).toEqual([
    "warning: Most of today's budget is used: $4.20 of $5.00 (companion.budget.dayCost).",
    "warning: The budget of this chat is used up: 12,000 tokens of 12,000 tokens. Raise companion.budget.sessionTokens in your settings to go on.",
  ]);
});

it("another model that answers is a row with the reason, unless a person named it", async () => {
  const changed = { type: "modelChanged", from: "a", to: "b" } as const;
  expect(
    await noticesOf({ ...changed, reason: "a cannot answer now" }, { ...changed, reason: "named in the request" }),
  ).toEqual(["info: b answers from here on."]);
  expect(await noticesOf({ ...changed, reason: "a cannot answer now" })).toEqual([
    "info: b answers now: a cannot answer now.",
  ]);
});

it("which model answers instead is one row that says what holds now, and goes when it is over", async () => {
  const first = { type: "modelChanged", from: "a", to: "b", reason: "a cannot answer now" } as const;
  const second = { type: "modelChanged", from: "b", to: "c", reason: "a cannot answer now" } as const;
  expect(await noticesOf(first, second)).toEqual(["info: c answers now: a cannot answer now."]);
  const again = { type: "modelChanged", from: "c", to: "a", reason: "a is asked again" } as const;
  expect(await noticesOf(first, second, again)).toEqual([]);
  const turn = { type: "turnStarted", prompt: [{ text: "Go on." }] } as const;
  expect(await noticesOf(first, second, { ...turn, model: "a" })).toEqual([]);
  expect(await noticesOf(first, second, { ...turn, model: "c" })).toHaveLength(1);
});
