/** A prompt that was a slash command: shown as it was typed, sent again as a command, and told of while it runs. */
import { describe, expect, it } from "vitest";
import { rowsOf } from "../../../src/chat/pure/history.js";
import { asSentAgain } from "../../../src/chat/pure/slashes.js";
import { decodeToPage } from "../../../src/panel/toPage.js";
import type { CommandUse, HistoryItem } from "../../../src/protocol.gen.js";

const command: CommandUse = {
  name: "git:review",
  scope: "workspace",
  parts: 1,
  files: [{ path: "/w/notes.md" }],
  calls: [{ callId: "c1", name: "run_shell_command", outcome: "ok" }],
};
const item: HistoryItem = {
  role: "user",
  kind: "prompt",
  entryId: "e1",
  seq: 1,
  turnId: "t1",
  parts: [{ text: "/git:review it" }, { text: "<slash_command>…</slash_command>" }, { text: "a file" }],
  attachments: [{ path: "/w/it.py" }],
  command,
};
const [row] = rowsOf({ items: [item], compressions: [], constraints: [], discarded: new Set() }, (text) => text);

describe("a prompt that was a slash command", () => {
  it("is shown as it was typed, with all that it brought in", () => {
    if (row?.kind !== "prompt") throw new Error("The row is no prompt.");
    expect(row.text).toBe("/git:review it");
    expect(row.command).toEqual(command);
    expect(row.receipt?.mentioned).toEqual(["/w/notes.md", "/w/it.py"]);
  });

  it("is a command when it is sent again, where a text with a slash stays a text", () => {
    expect(asSentAgain({ text: "/git:review it", command })).toEqual({ text: "/git:review it" });
    expect(asSentAgain({ text: "/review it", command })).toEqual({ text: "/review it" });
    expect(asSentAgain({ text: "/review it" })).toEqual({ text: "//review it" });
  });

  it("reaches the page with its row", () => {
    const rows = [{ ...row, version: 1 }];
    expect(decodeToPage({ type: "rows", rev: 1, total: 1, from: 0, rows }).ok).toBe(true);
  });
});
