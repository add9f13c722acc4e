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
  ).toEqual(["info: b answers from here on: a cannot answer now.", "info: b answers from here on."]);
});
