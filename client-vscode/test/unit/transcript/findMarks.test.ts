// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Marks, rangesOfMatches } from "../../../webview/transcript/findMarks.js";
import type { Match } from "../../../webview/transcript/host.js";
import { unfoldTables } from "../../../webview/transcript/markdown/longTable.js";
import { MarkdownView } from "../../../webview/transcript/markdown/markdownView.js";
import { t } from "./support.js";

function match(text: string, words: string, nth = 0, row = 0): Match {
  let start = text.indexOf(words);
  for (let left = nth; left > 0; left--) start = text.indexOf(words, start + words.length);
  return { row, rowId: `a:t${row}`, start, length: words.length };
}

function rendered(text: string): { readonly article: HTMLElement; readonly markdown: MarkdownView } {
  const markdown = new MarkdownView(t);
  markdown.append(text);
  markdown.finish();
  const article = document.createElement("article");
  article.append(markdown.element);
  document.body.replaceChildren(article);
  return { article, markdown };
}

/** A range with some of what stands around it. */
function around(range: Range | undefined): string {
  const text = range?.startContainer.textContent ?? "";
  return text.slice(range?.startOffset, (range?.endOffset ?? 0) + 2);
}

afterEach(() => vi.restoreAllMocks());

describe("ranges of matches", () => {
  test("each match is marked where it stands, across blocks and formatting", () => {
    const text = "one loop A\n\n- loop B\n- a **loop C**\n\n```python\nloop D # loop E\n```\n";
    const { article, markdown } = rendered(text);
    const matches = [0, 1, 2, 3, 4].map((nth) => match(text, "loop", nth));
    expect(rangesOfMatches(article, text, matches, markdown).map(around)).toEqual([
      "loop A",
      "loop B",
      "loop C",
      "loop D",
      "loop E",
    ]);
  });

  test("the label of a block of code is no part of it", () => {
    const text = "```python\nprint(python)\n```\n";
    const { article, markdown } = rendered(text);
    const inCode = match(text, "python", 1);
    const [range] = rangesOfMatches(article, text, [inCode], markdown);
    expect(range?.startContainer.parentElement?.closest("code")).not.toBeNull();
  });

  test("a letter that is two in small letters moves no mark behind it", () => {
    const text = "İİİİ the loop ends";
    const { article, markdown } = rendered(text);
    expect(around(rangesOfMatches(article, text, [match(text, "loop")], markdown)[0])).toBe("loop e");
  });

  test("words that are not shown have no range", () => {
    const text = "[here](https://example.org/loop)";
    const { article, markdown } = rendered(text);
    expect(rangesOfMatches(article, text, [match(text, "loop")], markdown)).toEqual([undefined]);
  });

  test("two cells of a table are not one word", () => {
    const text = "| a | b |\n| --- | --- |\n| 30 | 12 |\n| x | 301 |\n";
    const { article, markdown } = rendered(text);
    const [range] = rangesOfMatches(article, text, [match(text, "301")], markdown);
    expect(range?.startContainer).toBe(range?.endContainer);
    expect(String(range)).toBe("301");
  });

  test("a thousand matches of one block take one walk through it", () => {
    const text = `\`\`\`\n${"loop = 1\n".repeat(1_000)}\`\`\`\n`;
    const { article, markdown } = rendered(text);
    const walks = vi.spyOn(document, "createTreeWalker");
    const matches = Array.from({ length: 1_000 }, (_, line) => ({
      row: 0,
      rowId: "a:t0",
      start: 4 + line * 9,
      length: 4,
    }));
    const ranges = rangesOfMatches(article, text, matches, markdown);
    expect(ranges.every((range) => String(range) === "loop")).toBe(true);
    expect(walks).toHaveBeenCalledOnce();
  });
});

describe("marks", () => {
  const registry = new Map<string, ReadonlySet<Range>>();

  beforeEach(() => {
    registry.clear();
    vi.stubGlobal("CSS", { highlights: registry });
    vi.stubGlobal(
      "Highlight",
      class extends Set<Range> {
        constructor(...ranges: Range[]) {
          super(ranges);
        }
      },
    );
  });
  afterEach(() => vi.unstubAllGlobals());

  test("going on to the next match looks for none of them again", () => {
    const text = "loop, loop, loop";
    const row = { text, ...rendered(text) };
    const marks = new Marks(() => row);
    const matches = [0, 1, 2].map((nth) => match(text, "loop", nth));
    marks.show(matches, undefined);
    const walks = vi.spyOn(document, "createTreeWalker");
    for (const one of matches) marks.setCurrent(one);
    expect(walks).not.toHaveBeenCalled();
    expect([...(registry.get("transcript-match") ?? [])].map(String)).toEqual(["loop", "loop", "loop"]);
    expect([...(registry.get("transcript-match-current") ?? [])].map(({ startOffset }) => startOffset)).toEqual([12]);
  });

  test("where the nodes of a row were replaced, its matches are marked in the new ones", () => {
    const text = "```\nloop\n```\n";
    const row = { text, ...rendered(text) };
    const marks = new Marks(() => row);
    marks.show([match(text, "loop")], undefined);
    const code = row.article.querySelector("code");
    code?.replaceChildren(Object.assign(document.createElement("span"), { textContent: "loop" }));
    marks.refresh();
    const [range] = registry.get("transcript-match") ?? [];
    expect(range?.startContainer.parentElement?.nodeName).toBe("SPAN");
  });

  test("what came to a row since, the other rows of a long table say, is marked too", () => {
    const text = `| a | b |\n| --- | --- |\n${Array.from({ length: 400 }, (_, at) => `| n${at} | b |\n`).join("")}`;
    const row = { text, ...rendered(text) };
    const marks = new Marks(() => row);
    const late = match(text, "n301");
    marks.show([late], undefined);
    expect(marks.rangeOf(late)).toBeUndefined();
    unfoldTables(row.article);
    expect(String(marks.rangeOf(late))).toBe("n301");
  });

  test("a row that is not on the page has no marks until it is", () => {
    const text = "the loop";
    const row = { text, ...rendered(text) };
    let isMounted = false;
    const marks = new Marks(() => (isMounted ? row : undefined));
    marks.show([match(text, "loop")], undefined);
    expect(registry.get("transcript-match")?.size).toBe(0);
    isMounted = true;
    marks.refresh();
    expect(registry.get("transcript-match")?.size).toBe(1);
  });
});
