import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HiddenRun } from "../../../src/panel/contract.js";
import { keyCommand, type Key } from "../../../webview/transcript/keys.js";
import { placeHeading, type OpenHeadings } from "../../../webview/transcript/markdown/headings.js";
import { Pacer } from "../../../webview/transcript/markdown/pacing.js";
import { Outline } from "../../../webview/transcript/outline.js";
import { RowStore } from "../../../webview/transcript/rowStore.js";
import { countText, durationText, plural, shareText, timeText } from "../../../webview/transcript/texts.js";
import { answerRow, conversation, promptRow } from "../../browser/rows.js";
import { t } from "./support.js";

const english = { t, locale: "en" };

describe("pacing", () => {
  it("lets cheap renderings follow each other", () => {
    const pacer = new Pacer();
    pacer.rendered(100, 104);
    expect(pacer.due(104)).toBe(true);
  });

  it("pauses four times what a dear one cost, at most half a second", () => {
    const pacer = new Pacer();
    pacer.rendered(100, 120);
    expect(pacer.due(199)).toBe(false);
    expect(pacer.due(200)).toBe(true);
    pacer.rendered(1_000, 2_000);
    expect(pacer.due(2_499)).toBe(false);
    expect(pacer.due(2_500)).toBe(true);
  });
});

describe("numbers and times", () => {
  it("group digits as the locale does", () => {
    expect(countText(812_340, "en")).toBe("812,340");
    expect(countText(812_340, "de")).toBe("812.340");
  });

  it("survive a locale that is none", () => {
    expect(countText(1_000, "no such locale!")).toMatch(/1.?000/);
  });

  it("never call a part the whole", () => {
    expect(shareText(0.999, "en")).toBe("99%");
    expect(shareText(1, "en")).toBe("100%");
    expect(shareText(0.94, "en")).toBe("94%");
  });

  it("name seconds, minutes and hours", () => {
    expect(durationText(300, english)).toBe("1 s");
    expect(durationText(6_200, english)).toBe("6 s");
    expect(durationText(125_000, english)).toBe("2 min 5 s");
    expect(durationText(3_780_000, english)).toBe("1 h 3 min");
  });

  it("give the day with a time of another day only", () => {
    const noon = new Date(2026, 4, 3, 12, 5).getTime();
    expect(timeText(noon, "en-GB", noon + 3_600_000)).toBe("12:05");
    expect(timeText(noon, "en-GB", noon + 86_400_000)).toMatch(/3 May.*12:05/);
  });

  it("tell one from many", () => {
    expect(plural(1, "{0} turn", "{0} turns", english)).toBe("1 turn");
    expect(plural(1_200, "{0} turn", "{0} turns", english)).toBe("1,200 turns");
  });
});

describe("headings", () => {
  it("never skip a level, and stay below the message's", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 6 })), (depths) => {
        let open: OpenHeadings = [];
        let before = 2;
        for (const depth of depths) {
          const placed = placeHeading(open, depth);
          expect(placed.level).toBeGreaterThan(2);
          expect(placed.level).toBeLessThanOrEqual(Math.min(6, before + 1));
          open = placed.open;
          before = placed.level;
        }
      }),
    );
  });

  it("of the same depth have the same level", () => {
    const first = placeHeading([], 2);
    expect(placeHeading(first.open, 2).level).toBe(first.level);
  });
});

describe("the outline", () => {
  const run = (from: number, to: number, compressionId = `c${from}`): HiddenRun => ({
    from,
    to,
    compressionId,
    turns: to - from + 1,
  });

  it("folds a hidden run into one item and unfolds it below", () => {
    const folded = new Outline(10, [run(2, 5, "c")], new Set());
    expect(folded.length).toBe(7);
    expect(folded.at(1)).toEqual({ kind: "row", row: 1 });
    expect(folded.at(2)).toMatchObject({ kind: "fold" });
    expect(folded.at(3)).toEqual({ kind: "row", row: 6 });
    const open = new Outline(10, [run(2, 5, "c")], new Set(["c"]));
    expect(open.length).toBe(11);
    expect(open.at(3)).toEqual({ kind: "row", row: 2 });
  });

  it("finds the item of every row, whatever the runs are", () => {
    const runs = fc.array(
      fc.tuple(fc.integer({ min: -2, max: 30 }), fc.integer({ min: -2, max: 30 })).map(([from, to]) => run(from, to)),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 25 }),
        runs,
        fc.array(fc.integer({ min: 0, max: 30 })),
        (total, some, open) => {
          const outline = new Outline(total, some, new Set(open.map((from) => `c${from}`)));
          const listed = Array.from({ length: outline.length }, (_, index) => outline.at(index));
          expect(listed).not.toContain(undefined);
          expect(outline.at(outline.length)).toBeUndefined();
          for (let row = 0; row < total; row++) {
            const index = outline.indexOfRow(row);
            const item = outline.at(index);
            if (item?.kind === "row") expect(item.row).toBe(row);
            else expect(item !== undefined && row >= item.run.from && row <= item.run.to).toBe(true);
          }
          const rows = listed.flatMap((item) => (item?.kind === "row" ? [item.row] : []));
          expect(rows).toEqual(rows.toSorted((one, other) => one - other));
          expect(new Set(rows).size).toBe(rows.length);
        },
      ),
    );
  });
});

describe("the store of rows", () => {
  it("takes a delta that fits and refuses one that does not", () => {
    const store = new RowStore();
    store.reset(2, 0, [promptRow(0, "q"), answerRow(0, "ab", "streaming")]);
    const delta = { rowId: "a:t0", version: 2, field: "text", at: 2, text: "cd" } as const;
    expect(store.append(delta)).toMatchObject({ text: "abcd", version: 2 });
    expect(store.append(delta)).toBeUndefined();
    expect(store.append({ ...delta, rowId: "p:t0" })).toBeUndefined();
    expect(store.append({ ...delta, rowId: "a:none" })).toBeUndefined();
  });

  it("asks for a page once, and again if it does not come", () => {
    const store = new RowStore();
    store.reset(450, 400, conversation(25, 10));
    expect(store.nextPage(399, 0)).toEqual({ from: 200, to: 399 });
    expect(store.nextPage(250, 100)).toBeUndefined();
    expect(store.nextPage(250, 20_000)).toEqual({ from: 200, to: 399 });
    expect(store.nextPage(420, 0)).toBeUndefined();
  });

  it("forgets what lies beyond the new end", () => {
    const store = new RowStore();
    store.reset(4, 0, conversation(2, 10));
    store.set(2, 0, []);
    expect(store.at(2)).toBeUndefined();
    expect(store.indexOf("p:t1")).toBeUndefined();
    expect(store.indexOf("p:t0")).toBe(0);
  });
});

describe("keys", () => {
  const key = (name: string, held: Partial<Key> = {}): Key => ({
    key: name,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...held,
  });

  it("walk from message to message", () => {
    expect(keyCommand(key("PageDown"), "message", false)).toEqual({ do: "move", to: "next" });
    expect(keyCommand(key("k"), "message", true)).toEqual({ do: "move", to: "previous" });
    expect(keyCommand(key("]"), "message", true)).toEqual({ do: "move", to: "nextPrompt" });
    expect(keyCommand(key("End", { ctrlKey: true }), "inside", true)).toEqual({ do: "move", to: "last" });
  });

  it("are no single characters where that is turned off, or where a message itself has no focus", () => {
    for (const letter of "jkcrfpu[]") {
      expect(keyCommand(key(letter), "message", false)).toBeUndefined();
      expect(keyCommand(key(letter), "inside", true)).toBeUndefined();
      expect(keyCommand(key(letter, { ctrlKey: true }), "message", true)).toBeUndefined();
      expect(keyCommand(key(letter, { altKey: true }), "message", true)).toBeUndefined();
    }
  });

  it("copy a block of code only with its focus", () => {
    expect(keyCommand(key("c", { ctrlKey: true }), "code", false)).toEqual({ do: "copyCode" });
    expect(keyCommand(key("c", { metaKey: true }), "code", false)).toEqual({ do: "copyCode" });
    expect(keyCommand(key("c", { ctrlKey: true }), "message", true)).toBeUndefined();
  });

  it("lead in and out, and leave scrolling to code", () => {
    expect(keyCommand(key("Enter"), "message", false)).toEqual({ do: "enter" });
    expect(keyCommand(key("Escape"), "inside", false)).toEqual({ do: "leave" });
    expect(keyCommand(key("Escape"), "message", false)).toBeUndefined();
    expect(keyCommand(key("PageDown"), "code", false)).toBeUndefined();
    expect(keyCommand(key("Home"), "inside", false)).toBeUndefined();
  });
});
