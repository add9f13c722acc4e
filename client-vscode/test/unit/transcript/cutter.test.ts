import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fenceStart, OpenFence, sealable, withoutUndecidedFence } from "../../../webview/transcript/markdown/cutter.js";
import { lex, noDefinitions } from "../../../webview/transcript/markdown/lexer.js";

function sealed(text: string): string {
  const tokens = lex(text, noDefinitions());
  return tokens
    .slice(0, sealable(tokens))
    .map((token) => token.raw)
    .join("");
}

describe("what is sealed of an unfinished text", () => {
  it("is nothing while there is one block", () => {
    expect(sealed("one paragraph\nwith lines\n\n")).toBe("");
  });

  it("is a paragraph once the next block has a whole line", () => {
    expect(sealed("one\n\ntwo\n")).toBe("one\n\n");
  });

  it("is not a list that an unfinished line may continue", () => {
    expect(sealed("1. one\n\n2")).toBe("");
    expect(sealed("- one\n\n-")).toBe("");
  });

  it("is not a paragraph whose last line may become the head of a table", () => {
    expect(sealed("text\n| a | b |\n| --- | -")).toBe("");
    expect(sealed("text\n| a | b |\n| --- | --- |\n")).toBe("text\n");
  });

  it("is everything before a fence that is open", () => {
    expect(sealed("# Title\n\ntext\n\n```js\nlet x")).toBe("# Title\n\ntext\n\n");
  });
});

describe("a fence's opening line", () => {
  it("counts once it is whole", () => {
    expect(fenceStart("```js\nlet")).toEqual({ marker: "```", length: 6 });
    expect(fenceStart("~~~~\n")).toEqual({ marker: "~~~~", length: 5 });
    expect(fenceStart("```js")).toBeUndefined();
  });

  it("is none with an indentation or with backticks behind it", () => {
    expect(fenceStart(" ```\n")).toBeUndefined();
    expect(fenceStart("``` a`b\n")).toBeUndefined();
  });

  it("is held back until it is decided", () => {
    expect(withoutUndecidedFence("text\n``")).toBe("text\n");
    expect(withoutUndecidedFence("text\n```py")).toBe("text\n");
    expect(withoutUndecidedFence("text\n`code` and")).toBe("text\n`code` and");
  });
});

describe("an open fence", () => {
  /** Content without a line that would close it. */
  const line = fc
    .string({ unit: fc.constantFrom("a", " ", "`", "~", "\t", "}"), maxLength: 8 })
    .filter((text) => !/^ {0,3}```/.test(text));
  const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 6 });

  it("shows its content however it is cut, and gives back what is behind it", () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        fc.string({ maxLength: 10 }),
        cuts,
        (lines, behind, sizes) => {
          const text = `${lines.join("\n")}\n\`\`\`\n${behind}`;
          const fence = new OpenFence("```");
          let shown = "";
          for (let at = 0, turn = 0; ; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            const pushed = fence.push(text.slice(at, at + size));
            shown += pushed.shown;
            at += size;
            if (pushed.rest !== undefined) {
              expect(pushed.rest + text.slice(at)).toBe(behind);
              break;
            }
            expect(at).toBeLessThan(text.length);
          }
          expect(shown).toBe(lines.join("\n"));
        },
      ),
    );
  });

  it("holds back a line that may close it, and shows it when it does not", () => {
    const fence = new OpenFence("```");
    expect(fence.push("a\n``").shown).toBe("a");
    expect(fence.push("`x\n").shown).toBe("\n```x");
  });

  it("is not closed by a shorter fence or another kind", () => {
    const fence = new OpenFence("````");
    expect(fence.push("```\n~~~~\n")).toEqual({ shown: "```\n~~~~" });
    expect(fence.push("`````\nafter")).toEqual({ shown: "", rest: "after" });
  });
});
