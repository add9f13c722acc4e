/**
 * Shows the matches of the find bar without touching the DOM: ranges in the registry of CSS highlights. A match is a place in the row's
 * source; on the page it is looked for in the block that was made of that source, as the n-th occurrence of its words. All matches of a
 * block are looked for together: there can be a thousand of them in one long text.
 */
import type { Match } from "./host.js";
import type { Extent, MarkdownView } from "./markdown/markdownView.js";

const ALL = "transcript-match";
const CURRENT = "transcript-match-current";

/** The text of the nodes below an element, and where each of them begins in it. */
interface Shown {
  /** Folded. */
  readonly text: string;
  readonly nodes: readonly Text[];
  readonly starts: readonly number[];
}

/** The ranges on the page for matches in a row's text, in the same order; none for one whose words are not shown (the address of a link, say). */
export function rangesOfMatches(
  article: HTMLElement,
  text: string,
  matches: readonly Match[],
  markdown: Pick<MarkdownView, "blockAt"> | undefined,
): readonly (Range | undefined)[] {
  const plain = markdown === undefined ? article.querySelector<HTMLElement>(".prompt-text, .notice-text") : null;
  const places = new Map<string, Places>();
  let block: Extent | undefined = plain === null ? undefined : { element: plain, start: 0, length: text.length };
  return matches.map((match) => {
    if (markdown !== undefined && !isIn(block, match.start)) {
      block = markdown.blockAt(match.start);
      places.clear();
    }
    const words = folded(text.slice(match.start, match.start + match.length));
    if (block === undefined || words === "") return undefined;
    const known = places.get(words) ?? new Places(words, text, block);
    places.set(words, known);
    return known.rangeOf(match.start);
  });
}

function isIn(block: Extent | undefined, offset: number): boolean {
  return block !== undefined && offset >= block.start && offset < block.start + block.length;
}

/** The places of some words in a block: in its source, and on the page. */
class Places {
  readonly #length: number;
  readonly #sources: readonly number[];
  readonly #shown: Shown;
  readonly #onPage: readonly number[];

  constructor(words: string, text: string, block: Extent) {
    this.#length = words.length;
    const source = folded(text.slice(block.start, block.start + block.length));
    this.#sources = occurrences(source, words).map((at) => block.start + at);
    this.#shown = shownIn(block.element);
    this.#onPage = occurrences(this.#shown.text, words);
  }

  /** The n-th (from 0) occurrence, or the last one if there are fewer: formatting can split some. */
  rangeOf(start: number): Range | undefined {
    const nth = countBelow(this.#sources, start - this.#length + 1);
    const found = this.#onPage[Math.min(nth, this.#onPage.length - 1)];
    if (found === undefined) return undefined;
    const [first, last] = [this.#placeOf(found), this.#placeOf(found + this.#length - 1)];
    if (first === undefined || last === undefined) return undefined;
    const range = document.createRange();
    range.setStart(...first);
    range.setEnd(last[0], Math.min(last[1] + 1, last[0].length));
    return range;
  }

  #placeOf(offset: number): readonly [Text, number] | undefined {
    const { nodes, starts } = this.#shown;
    const index = countBelow(starts, offset + 1) - 1;
    const node = nodes[index];
    return node && [node, Math.min(offset - (starts[index] ?? 0), node.length)];
  }
}

/** What is shown of matches, by their row; made anew where a row's nodes are not those any more. */
interface ShownRow {
  readonly matches: readonly Match[];
  readonly ranges: readonly (Range | undefined)[];
  /** What the ranges were made of, and how long its text was: what is folded may come later. */
  readonly of: MountedRow;
  readonly size: number;
}

/** A row that is on the page, as far as matches need it. */
export interface MountedRow {
  readonly text: string;
  readonly article: HTMLElement;
  readonly markdown: Pick<MarkdownView, "blockAt"> | undefined;
}

/** The matches that are shown. Those in rows that are not on the page get their marks when these are mounted. */
export class Marks {
  readonly #mounted: (match: Match) => MountedRow | undefined;
  #byRow = new Map<string, readonly Match[]>();
  #shown = new Map<string, ShownRow>();
  #current: Match | undefined;

  /** @param mounted - the row of a match, if it is on the page */
  constructor(mounted: (match: Match) => MountedRow | undefined) {
    this.#mounted = mounted;
  }

  show(matches: readonly Match[], current: Match | undefined): void {
    this.#byRow = byRow(matches);
    this.#shown.clear();
    this.#current = current;
    this.refresh();
  }

  /** The range of a match on the page; none while its row is not mounted. */
  rangeOf(match: Match): Range | undefined {
    const shown = this.#rowOf(match);
    const index = shown?.matches.findIndex(({ start, length }) => start === match.start && length === match.length);
    if (shown !== undefined && index !== undefined && index !== -1) return shown.ranges[index];
    const row = this.#mounted(match);
    return row && rangesOfMatches(row.article, row.text, [match], row.markdown)[0];
  }

  setCurrent(match: Match): void {
    this.#current = match;
    this.refresh();
  }

  /** Other rows are on the page now, or other nodes in them. */
  refresh(): void {
    if (this.#byRow.size === 0 && this.#current === undefined) return;
    const registry = highlights();
    if (registry === undefined) return;
    const ranges = [...this.#byRow.values()].flatMap(([first]) => (first && this.#rowOf(first)?.ranges) ?? []);
    registry.set(ALL, new Highlight(...ranges.filter((range) => range !== undefined)));
    const current = this.#current && this.rangeOf(this.#current);
    if (current === undefined) registry.delete(CURRENT);
    else registry.set(CURRENT, Object.assign(new Highlight(current), { priority: 1 }));
  }

  clear(): void {
    this.#byRow.clear();
    this.#shown.clear();
    this.#current = undefined;
    const registry = highlights();
    registry?.delete(ALL);
    registry?.delete(CURRENT);
  }

  /** The matches of a row with their ranges, if it is on the page. */
  #rowOf({ rowId }: Match): ShownRow | undefined {
    const matches = this.#byRow.get(rowId);
    const [first] = matches ?? [];
    if (matches === undefined || first === undefined) return undefined;
    const row = this.#mounted(first);
    if (row === undefined) {
      this.#shown.delete(rowId);
      return undefined;
    }
    const known = this.#shown.get(rowId);
    if (known !== undefined && isStill(known, row)) return known;
    const ranges = rangesOfMatches(row.article, row.text, matches, row.markdown);
    const made = { matches, ranges, of: row, size: sizeOf(row) };
    this.#shown.set(rowId, made);
    return made;
  }
}

/** Whether ranges still stand in the nodes that show the row: where a node went, its ranges shrank to nothing. */
function isStill({ of, size, ranges }: ShownRow, row: MountedRow): boolean {
  if (of.article !== row.article || of.text !== row.text || size !== sizeOf(row)) return false;
  return ranges.every((range) => range === undefined || !range.collapsed);
}

function sizeOf({ article }: MountedRow): number {
  return article.textContent.length;
}

/** The browser's registry, where there is one. */
function highlights(): HighlightRegistry | undefined {
  return typeof CSS !== "undefined" && "highlights" in CSS ? CSS.highlights : undefined;
}

function byRow(matches: readonly Match[]): Map<string, readonly Match[]> {
  const rows = new Map<string, Match[]>();
  for (const match of matches) {
    const others = rows.get(match.rowId);
    if (others === undefined) rows.set(match.rowId, [match]);
    else others.push(match);
  }
  return rows;
}

/** A text without the difference of small and capital letters, as long as it was: a few letters would become two. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join("");
}

/** Where `words` are in a text, one behind the other. */
function occurrences(text: string, words: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) found.push(at);
  return found;
}

/** How many of the numbers, which rise, are below `limit`. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? Infinity) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words do not go on from one of these to the next: two cells are not one number. */
const APART = new Set(["TD", "TH", "LI", "P", "BLOCKQUOTE", "PRE", "BR"]);

function shownIn(root: Element): Shown {
  const entered = new Set<string>();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (!(node instanceof Element)) return NodeFilter.FILTER_ACCEPT;
    if (APART.has(node.nodeName)) entered.add(node.nodeName);
    return node.classList.contains("code-bar") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const nodes: Text[] = [];
  const starts: number[] = [];
  const texts: string[] = [];
  let length = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text; // the walker stops at text nodes only
    if (entered.size > 0) {
      texts.push("\0");
      length++;
    }
    entered.clear();
    nodes.push(node);
    starts.push(length);
    texts.push(folded(node.data));
    length += node.length;
  }
  return { text: texts.join(""), nodes, starts };
}
