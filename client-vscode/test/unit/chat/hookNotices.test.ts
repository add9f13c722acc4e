/** Hooks are told of only where something came of them. */
import { expect, it } from "vitest";
import { stage } from "./fakeDaemon.js";
import type { HookRan } from "../../../src/protocol.gen.js";

const RAN: HookRan = { type: "hookRan", event: "BeforeTool", name: "guard", outcome: "ok", durationMs: 20 };

async function noticesOf(...events: HookRan[]): Promise<string[]> {
  const { chat } = stage();
  await chat.begin();
  await chat.session();
  for (const [at, event] of events.entries())
    chat.conversation.apply({ sessionId: "s1", seq: at + 1, time: 0, turnId: "t1", event });
  return chat.conversation.rows.flatMap((row) => (row.kind === "notice" ? [`${row.level}: ${row.text}`] : []));
}

it("a hook that merely ran is no row", async () => {
  expect(await noticesOf(RAN, { ...RAN, outcome: "failed" })).toEqual([]);
});

it("one that refused, failed, changed something or was slow is a row that says so", async () => {
  const notable = { ...RAN, isNotable: true };
  const rows = await noticesOf(
    { ...notable, outcome: "denied", message: "no rm" },
    { ...notable, outcome: "timedOut", message: "it took too long and was ended" },
    { ...notable, outcome: "changed" },
    { ...notable, durationMs: 1500 },
  );
  expect(rows).toEqual([
    "info: The hook guard (BeforeTool) refused: no rm",
    "warning: The hook guard (BeforeTool) failed: it took too long and was ended",
    "info: The hook guard (BeforeTool) changed what Gemini gets.",
    "info: The hook guard (BeforeTool) took 1.5 s.",
  ]);
});
