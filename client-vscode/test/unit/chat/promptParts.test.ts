import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isLongPaste, piecesOf } from "../../../src/panel/written.js";
import { pastedIn, promptOf } from "../../../src/chat/pure/promptParts.js";
import { asLogged } from "../../../src/chat/pure/slashes.js";
import { visibleText } from "../../../src/chat/pure/history.js";
import { stage, type Stage } from "./fakeDaemon.js";

const log = Array.from({ length: 2_500 }, (_, line) => `line ${line}`).join("\n");
const text = `What went wrong?\n${log}\nSay it in short.`;
const pasted = [{ start: 17, length: log.length }];

describe("a prompt with a pasted text", () => {
  it("goes as parts that are the text word for word, and in which the paste is known again", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("x\n", "😀").map((one) => one.repeat(1_500)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.boolean())), (pieces) => {
        let whole = "";
        const ranges: { start: number; length: number }[] = [];
        for (const [one, isPasted] of pieces) {
          if (isPasted && isLongPaste(one)) ranges.push({ start: whole.length, length: one.length });
          whole += one;
        }
        const prompt = promptOf({ text: whole, pasted: ranges });
        const parts = typeof prompt === "string" ? [{ text: prompt }] : prompt;
        expect(visibleText(parts)).toBe(whole);
        if (parts.length > 1) expect(pastedIn(parts)).toEqual(ranges);
        expect(parts.every((part) => !/[\uD800-\uDBFF]$/.test(String(part["text"])))).toBe(true);
      }),
    );
  });

  it("is one text where it may be a command, which the daemon knows in nothing else", () => {
    const command = `/review ${log}`;
    expect(promptOf({ text: command, pasted: [{ start: 8, length: log.length }] })).toBe(command);
    expect(promptOf({ text: `/home/me/app.log: ${log}`, pasted: [{ start: 18, length: log.length }] })).toHaveLength(2);
  });

  it("knows its place behind a slash that is doubled", () => {
    const written = asLogged({ text: `/review ${log}`, pasted: [{ start: 8, length: log.length }] });
    expect(piecesOf(written).map((piece) => piece.text)).toEqual(["//review ", log]);
  });
});

describe("a chat with a pasted text", () => {
  let made: Stage | undefined;
  afterEach(() => made?.chat.dispose());

  it("shows it as one while it is sent, when it is read again, under ↑, and when it is asked again", async () => {
    made = stage();
    const turns = made.daemon.playTurns();
    const sent = made.chat.prompts.send(text, { pasted });
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    expect(turns[0]?.parts).toEqual([{ text: "What went wrong?\n" }, { text: log }, { text: "\nSay it in short." }]);
    expect(made.chat.conversation.rows[0]).toMatchObject({ kind: "prompt", text, pasted });
    turns[0]?.start().complete();
    await sent;
    expect(made.chat.conversation.rows[0]).toMatchObject({ id: "p:t1", text, pasted });
    const again = made.chat.prompts.retry("t1");
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(turns[1]?.parts).toEqual(turns[0]?.parts);
    turns[1]?.start().complete();
    await again;
  });

  it("keeps it while it waits behind what runs", async () => {
    made = stage();
    const turns = made.daemon.playTurns();
    const first = made.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await made.chat.prompts.send(text, { pasted });
    expect(made.chat.queue.prompts).toMatchObject([{ text, pasted }]);
    turns[0]?.complete();
    await first;
    await vi.waitFor(() => expect(turns).toHaveLength(2));
    expect(turns[1]?.parts).toHaveLength(3);
    turns[1]?.start().complete();
  });
});
