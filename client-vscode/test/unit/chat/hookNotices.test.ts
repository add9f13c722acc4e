/** Hooks are told of only where something came of them: a row for each turn, unfolded by who wants to know. */
import { expect, it } from "vitest";
import { stage } from "./fakeDaemon.js";
import type { NoticeRow } from "../../../src/panel/contract.js";
import type { HookRan } from "../../../src/protocol.gen.js";

const RAN: HookRan = { type: "hookRan", event: "BeforeTool", name: "guard", outcome: "ok", durationMs: 20 };
const NOTABLE = { ...RAN, isNotable: true };

async function noticesOf(...events: [turnId: string | undefined, event: HookRan][]): Promise<NoticeRow[]> {
  const { chat } = stage();
  await chat.begin();
  await chat.session();
  for (const [at, [turnId, event]] of events.entries())
    chat.conversation.apply({
      sessionId: "s1",
      seq: at + 1,
      time: 0,
      ...(turnId === undefined ? {} : { turnId }),
      event,
    });
  return chat.conversation.rows.filter((row) => row.kind === "notice");
}

it("a hook that merely ran is no row", async () => {
  expect(await noticesOf(["t1", RAN], ["t1", { ...RAN, outcome: "failed" }])).toEqual([]);
});

it("one that refused, failed, changed something or was slow is a row that says so", async () => {
  const rows = await noticesOf(
    ["t1", { ...NOTABLE, outcome: "denied", message: "no\nrm" }],
    ["t2", { ...NOTABLE, outcome: "timedOut", message: "it took too long and was ended" }],
    ["t3", { ...NOTABLE, outcome: "changed" }],
    ["t4", { ...NOTABLE, durationMs: 1500 }],
    ["t5", { ...NOTABLE, outcome: "changed", message: "the chat so far is no longer sent" }],
    [undefined, { ...NOTABLE, event: "PostCompress", message: "hello" }],
  );
  expect(rows.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    "info: The hook guard (BeforeTool) refused: no rm",
    "warning: The hook guard (BeforeTool) failed: it took too long and was ended",
    "info: The hook guard (BeforeTool) changed what Gemini gets.",
    "info: The hook guard (BeforeTool) took 1.5 s.",
    "info: The hook guard (BeforeTool) changed what Gemini gets: the chat so far is no longer sent",
    "info: The hook guard (PostCompress) says: hello",
  ]);
});

it("several of one turn are one row, which counts what is the same and does not grow without end", async () => {
  const refusal = { ...NOTABLE, outcome: "denied", message: "no" } as const;
  const many = Array.from({ length: 50 }, (_, at): [string, HookRan] => ["t1", { ...NOTABLE, name: `hook ${at}` }]);
  const [row, ...others] = await noticesOf(["t1", refusal], ["t1", refusal], ["t1", { ...NOTABLE, outcome: "failed" }]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    level: "warning",
    text: "Hooks stepped in 3 times, 1 of them without success.",
    details: [
      { text: "The hook guard (BeforeTool) refused: no", times: 2 },
      { text: "The hook guard (BeforeTool) failed: ", times: 1 },
    ],
  });
  const [long] = await noticesOf(...many);
  expect(long?.text).toBe("Hooks stepped in 50 times.");
  expect(long?.details).toHaveLength(20);
});
