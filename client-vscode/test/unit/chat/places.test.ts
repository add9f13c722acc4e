/** Places that a rule, a recalled passage or a line of a snapshot names, found in the chat. */
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { placeIn, sharedPassage } from "../../../src/chat/pure/places.js";
import { content, ScriptedEvents } from "./scriptedEvents.js";

const passage = (text: string, words: string): string | undefined => {
  const shared = sharedPassage(text, words);
  return shared && text.slice(shared.start, shared.start + shared.length);
};

describe("the passage that two texts share", () => {
  it("is the longest run of words that stands in both, whatever stands between them", () => {
    expect(passage("First. The buffer is lost, at the end.", "- [turn 4] the buffer is  LOST")).toBe(
      "The buffer is lost",
    );
  });

  it("ends where the text is formatted: on the page nothing stands there", () => {
    expect(passage("the **last line** of the file", "the last line of the file")).toBe("of the file");
  });

  it("is found in languages without spaces between words", () => {
    expect(passage("バッファは最後に消えます。", "最後に消える")).toBe("最後に消え");
  });

  it("is none where only a short word is the same", () => {
    expect(passage("it is so", "is")).toBe(undefined);
    expect(passage("", "anything")).toBe(undefined);
    expect(passage("anything", "")).toBe(undefined);
  });

  it("stands in the text as it is, for any two texts", () => {
    const texts = fc.array(fc.constantFrom("flush", "the", "buffer", " ", "\n", "`", "末", "尾", "😀", "_x"), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const shared = sharedPassage(one.join(""), other.join(""));
        if (shared === undefined) return;
        const found = one.join("").slice(shared.start, shared.start + shared.length);
        expect(found).toHaveLength(shared.length);
        expect(found).not.toMatch(/\n|`/);
      }),
    );
  });

  it("takes time in proportion to the text", () => {
    const words = "the buffer of the file ".repeat(40);
    const cpu = (times: number): number => {
      const text = "the buffer of the end ".repeat(times);
      const costs = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        sharedPassage(text, words);
        const { user, system } = process.cpuUsage(start);
        return user + system;
      });
      return Math.min(...costs);
    };
    expect(cpu(20_000)).toBeLessThan(100 * Math.max(cpu(2_000), 1_000));
  });
});

describe("a place", () => {
  const told = new ScriptedEvents();
  const items = [
    content("prompt", "t1", "Never touch generated/."),
    content("reply", "t1", "I leave generated/ alone."),
    content("prompt", "t2", "And the parser?"),
    content("reply", "t2", "The parser reads line by line."),
  ];
  told.chat.load(items, [], [], new Set());

  it("is found by the entry that a source names", () => {
    const entryId = items[3]?.entryId;
    expect(placeIn(told.chat, { entryId, words: "parser reads" })).toEqual({
      row: 3,
      rowId: "a:t2",
      start: 4,
      length: 12,
    });
  });

  it("is the row of its turn that says it, else the prompt", () => {
    expect(placeIn(told.chat, { turnId: "t1", words: "leave generated alone" })).toMatchObject({ rowId: "a:t1" });
    expect(placeIn(told.chat, { turnId: "t1", words: "never touch generated/" })).toMatchObject({ rowId: "p:t1" });
    expect(placeIn(told.chat, { turnId: "t2" })).toEqual({ row: 2, rowId: "p:t2", start: 0, length: 0 });
  });

  it("is none in a chat that does not have it", () => {
    expect(placeIn(told.chat, { turnId: "t9", words: "never" })).toBe(undefined);
    expect(placeIn(told.chat, { entryId: "gone", turnId: "t1" })).toMatchObject({ rowId: "p:t1" });
    expect(placeIn(told.chat, {})).toBe(undefined);
  });
});
