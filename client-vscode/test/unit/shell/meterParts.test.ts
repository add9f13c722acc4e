import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contextParts, slices } from "../../../webview/shell/meterParts.js";
import { answers } from "../../panel/answers.js";

const parts = fc.record({
  systemInstruction: fc.nat(1_000_000),
  tools: fc.nat(1_000_000),
  environment: fc.nat(1_000_000),
  memory: fc.nat(1_000_000),
  ideContext: fc.nat(1_000_000),
  snapshot: fc.nat(1_000_000),
  constraints: fc.nat(1_000_000),
  messages: fc.nat(1_000_000),
  toolOutputs: fc.nat(1_000_000),
});

describe("the parts of the context", () => {
  it("are all there, with what is free last, and add up to the limit", () => {
    const all = contextParts(answers.context);
    expect(all.at(-1)).toEqual({ name: "free", tokens: answers.context.free });
    expect(all.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(answers.context.tokenLimit);
  });

  it("fill the bar from end to end without gaps, whatever they are", () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: -1_000, max: 1_000_000 }), (byPart, free) => {
        const bar = slices(contextParts({ byPart, free }));
        let end = 0;
        for (const { x, width } of bar) {
          expect(x).toBeCloseTo(end, 9);
          expect(width).toBeGreaterThan(0);
          end = x + width;
        }
        expect(bar.length === 0 ? 1 : end).toBeCloseTo(1, 9);
      }),
    );
  });
});
