// @vitest-environment jsdom
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MarkdownView } from "../../../webview/transcript/markdown/markdownView.js";
import { t } from "./support.js";

/** Pieces that decide where blocks begin and end, and some that do not. */
const line = fc.oneof(
  fc.constantFrom(
    "",
    "",
    "text of a paragraph",
    "more *text* with `code`",
    "# Heading",
    "### Deeper",
    "- item",
    "  - nested item",
    "  continued",
    "1. one",
    "2. two",
    "> quote",
    "> > deeper",
    "lazy",
    "```",
    "```python",
    "~~~",
    "    indented",
    "---",
    "===",
    "| a | b |",
    "| --- | :-: |",
    "| 1 | 2 |",
    "<div>",
    "</div>",
    "<!-- comment",
    "-->",
    "* * *",
    "+ plus",
    "* [ ] task",
    "\\",
    "**open",
    "[text](https://example.org)",
    "![alt](a.png)",
    "\tx",
    "   ",
    "``",
    "````",
  ),
  fc.string({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      "`",
      "~",
      "-",
      "*",
      "#",
      ">",
      " ",
      "1",
      ".",
      "|",
      "\n",
      "a",
      "[",
      "]",
      "(",
      ")",
      "_",
      "<",
      "\r",
    ),
    maxLength: 16,
  }),
);
const markdown = fc.array(line, { maxLength: 24 }).map((lines) => lines.join("\n"));

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

function whole(text: string): string {
  const view = new MarkdownView(t);
  view.append(text);
  view.finish();
  return view.element.innerHTML;
}

it.each([
  ["```\n\n```\n", ""],
  ["```\na\n\n```\n", "a\n"],
  ["- ```\n  a\n\n  ```\n", "a\n"],
])("a fence with empty lines at its end shows those that were written: %j", (text, shown) => {
  const view = new MarkdownView(t);
  for (const piece of text) {
    view.append(piece);
    view.render();
  }
  view.finish();
  expect(view.element.querySelector("code")?.textContent).toBe(shown);
});

const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 });

describe("a streamed text", () => {
  it("ends as the same nodes as one full rendering", () => {
    fc.assert(
      fc.property(markdown, cuts, (text, sizes) => {
        const view = new MarkdownView(t);
        for (const piece of cut(text, sizes)) {
          view.append(piece);
          view.render();
        }
        view.finish();
        expect(view.element.innerHTML).toBe(whole(text));
      }),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 60) },
    );
  });

  it("is rendered right in its parts: but for the last block the end changes nothing", () => {
    fc.assert(
      fc.property(markdown, cuts, (text, sizes) => {
        const view = new MarkdownView(t);
        // Complete lines and a block that ends all others: nothing is undecided any more.
        for (const piece of cut(`${text}\n\n`, sizes)) {
          view.append(piece);
          view.render();
        }
        const streamed = [...view.element.children].slice(0, -1);
        const markup = streamed.map((node) => node.outerHTML);
        view.finish();
        const after = [...view.element.children].slice(0, streamed.length);
        expect(after.map((node) => node.outerHTML)).toEqual(markup);
        expect(after.every((node, index) => node === streamed[index])).toBe(true);
      }),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 60) },
    );
  });
});
