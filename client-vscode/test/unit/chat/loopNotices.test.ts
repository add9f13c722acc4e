/** A model that goes round in circles: a row that says what it repeats, live and in a chat that is opened again. */
import { expect, it } from "vitest";
import { rowsOf } from "../../../src/chat/pure/history.js";
import { stage } from "./fakeDaemon.js";
import type { HistoryItem, LoopDetected } from "../../../src/protocol.gen.js";

const FOUND: LoopDetected = { type: "loopDetected", kind: "repeatedCalls", detail: "5 × read(a)", outcome: "told" };

async function noticesOf(...events: LoopDetected[]): Promise<string[]> {
  const { chat } = stage();
  await chat.begin();
  await chat.session();
  for (const [at, event] of events.entries())
    chat.conversation.apply({ sessionId: "s1", seq: at + 1, time: 0, turnId: "t1", event });
  return chat.conversation.rows.flatMap((row) => (row.kind === "notice" ? [`${row.level}: ${row.text}`] : []));
}

it("a loop is a row, and the end of a turn because of one says so", async () => {
  expect(await noticesOf(FOUND, { ...FOUND, kind: "repeatedText", detail: "", outcome: "stopped" })).toEqual([
    "warning: Gemini went round in circles and was told so: 5 × read(a)",
    "warning: Gemini went round in circles again, so its turn was stopped: repeatedText",
  ]);
});

it("what the model was told is no prompt of the person's in a chat that is opened again", () => {
  const item = (entryId: string, kind: string, role: "user" | "model", text: string): HistoryItem => ({
    ...{ entryId, kind, role, parts: [{ text }] },
    ...{ seq: Number(entryId), turnId: "t1", time: 1 },
    ...(kind === "reminder" ? { reason: "5 × read(a)" } : {}),
  });
  const items = [
    item("1", "prompt", "user", "Go."),
    item("2", "reply", "model", "Let me see."),
    item("3", "reminder", "user", "<system_reminder>"),
    item("4", "reply", "model", "Done."),
  ];
  const rows = rowsOf({ items, compressions: [], discarded: new Set(), constraints: [] }, (text, ...args) =>
    text.replace(/\{(\d)\}/gu, (_, at: string) => String(args[Number(at)])),
  );
  expect(rows.map((row) => [row.kind, "text" in row ? row.text : ""])).toEqual([
    ["prompt", "Go."],
    ["answer", "Let me see.\n\nDone."],
    ["notice", "Gemini went round in circles and was told so: 5 × read(a)"],
  ]);
});
