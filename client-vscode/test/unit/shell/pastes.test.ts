/** Long texts that were pasted: what stands for them, and what the prompt is. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLongPaste, LONG_PASTE } from "../../../src/panel/written.js";
import { besideMarker, markerDeletion, Pastes } from "../../../webview/shell/pastes.js";

const log = (lines: number, name = "line") => Array.from({ length: lines }, (_, at) => `${name} ${at}`).join("\n");

/** A composer with a pasted text between two words. */
function pasted(text: string) {
  const pastes = new Pastes();
  const { marker } = pastes.add(text, "", "en");
  return { pastes, marker, shown: `before ${marker} behind` };
}

describe("a pasted text", () => {
  it("is an attachment if it is long, in characters or in lines", () => {
    expect(isLongPaste("x".repeat(LONG_PASTE.characters))).toBe(false);
    expect(isLongPaste("x".repeat(LONG_PASTE.characters + 1))).toBe(true);
    expect(isLongPaste(`${log(LONG_PASTE.lines)}\n`)).toBe(false);
    expect(isLongPaste(log(LONG_PASTE.lines + 1))).toBe(true);
  });

  it("stands where it was pasted, word for word", () => {
    const { pastes, marker, shown } = pasted(log(1_200));
    expect(marker).toBe("[Pasted text 1: 1,200 lines]");
    expect(pastes.expanded(shown)).toBe(`before ${log(1_200)} behind`);
    expect(pastes.ranges(shown)).toEqual([{ start: 7, length: log(1_200).length }]);
  });

  it("is gone from the prompt with its marker, and back with it, as undo does it", () => {
    const { pastes, shown } = pasted(log(50));
    const other = pastes.add(log(50, "other"), "", "en");
    expect(pastes.expanded("before ")).toBe("before ");
    expect(pastes.expanded(other.marker)).toBe(log(50, "other"));
    expect(pastes.expanded(shown)).toBe(`before ${log(50)} behind`);
  });

  it("is another one than the same text that stands there already, and the same one after it was cut", () => {
    const { pastes, marker, shown } = pasted(log(50));
    expect(pastes.add(log(50), shown, "en").marker).not.toBe(marker);
    expect(pastes.add(log(50), "", "en").marker).toBe(marker);
  });

  it("has no marker that stands in the prompt or in itself already", () => {
    const pastes = new Pastes();
    const text = `${log(41)}\n[Pasted text 2: 42 lines]`;
    expect(pastes.add(text, "[Pasted text 1: 42 lines]", "en").marker).toBe("[Pasted text 3: 42 lines]");
  });
});

describe("a prompt that comes back", () => {
  it("has its attachments at the places that were kept, in a page that knows none of them", () => {
    const { pastes, shown } = pasted(log(50));
    const fresh = new Pastes();
    const again = fresh.folded(pastes.expanded(shown), pastes.ranges(shown), "en");
    expect(again).toBe("before [Pasted text 1: 50 lines] behind");
    expect(fresh.expanded(again)).toBe(pastes.expanded(shown));
  });

  it("has the attachments that the page knows, but for those that were put into the text", () => {
    const { pastes, shown } = pasted(log(50));
    const full = pastes.expanded(shown);
    expect(pastes.folded(full, [], "en")).toBe(shown);
    const [placed] = pastes.placed(shown);
    if (placed) pastes.unfold(placed.paste);
    expect(pastes.folded(full, [], "en")).toBe(full);
  });

  it("means itself where something in it looks like a marker", () => {
    const { pastes, marker } = pasted(log(50));
    const prompt = `What is ${marker}?`;
    expect(pastes.expanded(pastes.folded(prompt, [], "en"))).toBe(prompt);
  });

  it("is the same prompt, whatever places are said", () => {
    const range = fc.record({ start: fc.integer(), length: fc.integer() });
    const text = fc.stringMatching(/^[ab\n[\]]*$/);
    fc.assert(
      fc.property(text, fc.array(range), (full, ranges) => {
        const pastes = new Pastes();
        expect(pastes.expanded(pastes.folded(full, ranges, "en"))).toBe(full);
      }),
    );
  });

  it("comes back from its own places, however many pasted texts it has", () => {
    const part = fc.tuple(fc.boolean(), fc.stringMatching(/^[xy ]{1,9}$/));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const pastes = new Pastes();
        let shown = "";
        for (const [isPasted, text] of parts) shown += isPasted ? pastes.add(text, shown, "en").marker : text;
        const full = parts.map(([, text]) => text).join("");
        expect(pastes.expanded(shown)).toBe(full);
        const fresh = new Pastes();
        const again = fresh.folded(full, pastes.ranges(shown), "en");
        expect(fresh.expanded(again)).toBe(full);
        expect(fresh.ranges(again)).toEqual(pastes.ranges(shown));
      }),
    );
  });
});

describe("a marker", () => {
  const { pastes, marker, shown } = pasted(log(50));
  const placed = pastes.placed(shown);
  const [start, end] = [7, 7 + marker.length];

  it("is deleted as one, from either side", () => {
    expect(markerDeletion(placed, "Backspace", end)).toEqual({ start, end, text: "" });
    expect(markerDeletion(placed, "Delete", start)).toEqual({ start, end, text: "" });
    expect(markerDeletion(placed, "Backspace", start)).toBeUndefined();
    expect(markerDeletion(placed, "Delete", end)).toBeUndefined();
    expect(markerDeletion(placed, "x", end)).toBeUndefined();
  });

  it("is passed as one, and a click puts the caret at its nearer end", () => {
    expect(besideMarker(placed, start + 1, start)).toBe(end);
    expect(besideMarker(placed, end - 1, end)).toBe(start);
    expect(besideMarker(placed, start + 2, 0)).toBe(start);
    expect(besideMarker(placed, end - 2, 0)).toBe(end);
    expect(besideMarker(placed, start, 0)).toBe(start);
  });
});
