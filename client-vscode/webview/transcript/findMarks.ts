/**
 * Shows the matches of the find bar without touching the DOM: ranges in the registry of CSS highlights. A match is a place in the row's
 * source; on the page it is looked for in the block that was made of that source, as the n-th occurrence of its words.
 */
import type { Match } from "./host.js";
import type { MarkdownView } from "./markdown/markdownView.js";

const ALL = "transcript-match";
const CURRENT = "transcript-match-current";

/** The range on the page for a match in a row's text; none if its words are not shown (the address of a link, say). */
export function rangeOfMatch(
  article: HTMLElement,
  text: string,
  match: Match,
  markdown: Pick<MarkdownView, "blockAt"> | undefined,
): Range | undefined {
  const words = text.slice(match.start, match.start + match.length);
  const block = markdown?.blockAt(match.start);
  const root = markdown === undefined ? article.querySelector(".prompt-text, .notice-text") : block?.element;
  if (root === null || root === undefined || words === "") return undefined;
  const from = block?.start ?? 0;
  const nth = occurrences(text.slice(from, match.start), words);
  return nthRange(root, words, nth);
}

/** The matches that are shown. Those in rows that are not on the page get their marks when these are mounted. */
export class Marks {
  readonly #rangeOf: (match: Match) => Range | undefined;
  #matches: readonly Match[] = [];
  #current: Match | undefined;

  constructor(rangeOf: (match: Match) => Range | undefined) {
    this.#rangeOf = rangeOf;
  }

  show(matches: readonly Match[], current: Match | undefined): void {
    this.#matches = matches;
    this.#current = current;
    this.#paint();
  }

  setCurrent(match: Match): void {
    this.show(this.#matches, match);
  }

  /** Other rows are on the page now. */
  refresh(): void {
    if (this.#matches.length > 0 || this.#current !== undefined) this.#paint();
  }

  clear(): void {
    this.#matches = [];
    this.#current = undefined;
    const registry = highlights();
    registry?.delete(ALL);
    registry?.delete(CURRENT);
  }

  #paint(): void {
    const registry = highlights();
    if (registry === undefined) return;
    registry.set(ALL, new Highlight(...this.#matches.map(this.#rangeOf).filter((range) => range !== undefined)));
    const current = this.#current && this.#rangeOf(this.#current);
    if (current === undefined) registry.delete(CURRENT);
    else registry.set(CURRENT, Object.assign(new Highlight(current), { priority: 1 }));
  }
}

/** The browser's registry, where there is one. */
function highlights(): HighlightRegistry | undefined {
  return typeof CSS !== "undefined" && "highlights" in CSS ? CSS.highlights : undefined;
}

function occurrences(text: string, words: string): number {
  let count = 0;
  const [hay, needle] = [text.toLowerCase(), words.toLowerCase()];
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + needle.length)) count++;
  return count;
}

/** The n-th (from 0) occurrence, or the last one if there are fewer: formatting can split some. */
function nthRange(root: Element, words: string, nth: number): Range | undefined {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(".code-bar") === null ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT,
  );
  const texts: { readonly node: Text; readonly start: number }[] = [];
  let all = "";
  while (walker.nextNode()) {
    const node = walker.currentNode as Text; // the walker shows text nodes only
    texts.push({ node, start: all.length });
    all += node.data;
  }
  const [hay, needle] = [all.toLowerCase(), words.toLowerCase()];
  let found = -1;
  for (
    let at = hay.indexOf(needle), left = nth;
    at !== -1 && left >= 0;
    at = hay.indexOf(needle, at + needle.length), left--
  )
    found = at;
  if (found === -1) return undefined;
  const place = (offset: number): readonly [Text, number] | undefined => {
    const text = texts.findLast(({ start }) => start <= offset);
    return text && [text.node, Math.min(offset - text.start, text.node.length)];
  };
  const start = place(found);
  const end = place(found + words.length - 1);
  if (start === undefined || end === undefined) return undefined;
  const range = document.createRange();
  range.setStart(...start);
  range.setEnd(end[0], end[1] + 1);
  return range;
}
