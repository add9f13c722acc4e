import { describe, expect, it } from "vitest";
import { screenshot } from "../../panel/pictures.js";
import fc from "fast-check";
import { decodeFromPage } from "../../../src/panel/fromPage.js";
import { decodeDraft, encodeDraft, EMPTY_DRAFT } from "../../../src/chat/pure/savedDraft.js";

describe("messages of the page", () => {
  it.each([
    [{ type: "ready", boot: true }],
    [{ type: "send", text: "hello" }],
    [{ type: "send", text: "hello", now: true }],
    [{ type: "action", action: { id: "retry", label: "Retry", argument: "t1" } }],
    [{ type: "draft", draft: 1, text: "x", scroll: { rowId: "p:t1", offset: 12.5 } }],
    [{ type: "draft", draft: 1, text: "x", scroll: "end" }],
    [{ type: "compression", do: "rate", compressionId: "c", rating: 5 }],
    [{ type: "call", call: 3, request: { do: "find", query: "x", caseSensitive: false } }],
    [{ type: "drop", uris: ["file:///a"] }],
  ])("passes %j on as it is", (message) => {
    expect(decodeFromPage(message)).toEqual(message);
  });

  it.each([
    ["null", null],
    ["a string", "ready"],
    ["an unknown type", { type: "eval", text: "x" }],
    ["a name of the prototype", { type: "constructor" }],
    ["a missing field", { type: "send" }],
    ["a field of another type", { type: "send", text: 5 }],
    ["an unknown word", { type: "code", do: "run", text: "x", language: "" }],
    ["an unknown action", { type: "action", action: { id: "workbench.action.terminal.new", label: "" } }],
    ["a rating out of range", { type: "compression", do: "rate", compressionId: "c", rating: 6 }],
    ["an unknown question", { type: "call", call: 1, request: { do: "toString" } }],
    ["a negative index", { type: "call", call: 1, request: { do: "rows", from: -1, to: 2 } }],
    ["an endless text", { type: "copy", text: "x".repeat(4_000_001) }],
    ["too many files", { type: "drop", uris: Array.from({ length: 101 }, () => "file:///a") }],
  ])("drops %s", (_, message) => {
    expect(decodeFromPage(message)).toBeUndefined();
  });

  it("never throws, whatever comes", () => {
    fc.assert(fc.property(fc.anything(), (value) => void decodeFromPage(value)));
    fc.assert(
      fc.property(
        fc.record({
          type: fc.constantFrom("send", "call", "action", "queue", "draft"),
          text: fc.anything(),
          action: fc.anything(),
          request: fc.anything(),
        }),
        (value) => void decodeFromPage(value),
      ),
    );
  });
});

describe("the draft's file", () => {
  it("comes back as it was kept", () => {
    const anchor = fc.oneof(
      fc.constant("end" as const),
      fc.record({
        rowId: fc.string(),
        offset: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
      }),
    );
    fc.assert(
      fc.property(
        fc.string(),
        anchor,
        fc.array(fc.string()),
        fc.array(fc.string()),
        (draft, scroll, texts, excluded) => {
          const kept = {
            draft,
            pasted: texts.map((text, start) => ({ start, length: text.length + 1 })),
            pictures: texts.length > 0 ? [screenshot] : [],
            scroll,
            queue: texts.map((text, index) => ({ id: `q${index}`, text })),
            excluded,
            compressing: draft,
            discarded: [],
          };
          expect(decodeDraft(encodeDraft(kept))).toEqual(kept);
        },
      ),
    );
  });

  it("gives nothing for a file that is broken, and what is right of one that is half right", () => {
    expect(decodeDraft("{")).toEqual(EMPTY_DRAFT);
    expect(decodeDraft('{"draft": "kept", "queue": [5, {"text": "next"}], "scroll": 7}')).toEqual({
      ...EMPTY_DRAFT,
      draft: "kept",
      queue: [{ id: "q1", text: "next" }],
    });
    fc.assert(fc.property(fc.json(), (text) => void decodeDraft(text)));
  });
});
