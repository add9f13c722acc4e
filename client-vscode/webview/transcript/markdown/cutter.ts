/**
 * Where a growing Markdown text can be cut: blocks before the cut never change, whatever follows, so they are rendered once.
 */
import type { Token } from "marked";

/**
 * How many of the leading tokens of an unfinished text are final. A block is final once a later block has begun with a whole line: marked
 * decides by lines, and a line that is still being written can turn out to continue the block before it (`2` may become `2. item`).
 */
export function sealable(tokens: readonly Token[]): number {
  for (let index = tokens.length - 1; index > 0; index--) {
    const token = tokens[index];
    if (token === undefined || token.type === "space") continue;
    if (index < tokens.length - 1 || hasBegun(token)) return index;
  }
  return 0;
}

/**
 * Whether the last block is certain to be one of its own. Most are by their first line; a table and an underlined heading only by their
 * second or last line: until that is whole, what stands above it may belong to the paragraph before.
 */
function hasBegun({ type, raw }: Token): boolean {
  if (type === "table") return /\n.*\n/.test(raw);
  return type === "heading" ? raw.endsWith("\n") : raw.includes("\n");
}

/** Whether a fence's language is Markdown, so that there are fences in it. */
export function isMarkdown(language: string): boolean {
  return /^(?:markdown|md|mdx|mkd|mdown)$/.test(language);
}

/** A fence that begins a top-level block and has no indentation: the only kind whose content is taken over as it stands. */
export interface FenceStart {
  /** The characters of the fence, such as three backticks. */
  readonly marker: string;
  /** Characters of the opening line, its line end included. */
  readonly length: number;
}

/** The opening line of a fence, if it is whole. */
export function fenceStart(raw: string): FenceStart | undefined {
  const found = /^(`{3,}(?=[^`\n]*\n)|~{3,}(?!~))[^\n]*\n/.exec(raw);
  return found?.[1] === undefined ? undefined : { marker: found[1], length: found[0].length };
}

/** What to show of a text that ends in the beginning of a fence: a lone or unfinished line of backticks is held back until it is decided. */
export function withoutUndecidedFence(tail: string): string {
  const line = tail.lastIndexOf("\n") + 1;
  return /^ {0,3}(?:`{1,2}|`{3,}[^`\n]*|~{3,}(?!~)[^\n]*)$/.test(tail.slice(line, line + 200))
    ? tail.slice(0, line)
    : tail;
}

/**
 * The content of an open fence as it streams in. What is shown is only ever appended to: a line that may become the closing one is held
 * back, and so is each line end until a next line is shown. In a fence of Markdown, one with a language opens a fence within, and the next
 * end is that one's.
 */
export class OpenFence {
  readonly #closing: RegExp;
  readonly #hasFences: boolean;
  readonly #marker: string;
  #held = "";
  #separator = "";
  /** What is shown already of the line that `#held` would continue: it cannot be the closing one. */
  #begun = "";
  /** The fences that are open within, the innermost last. */
  readonly #within: { readonly closing: RegExp; readonly isMarkdown: boolean }[] = [];

  constructor(marker: string, hasFences = false) {
    this.#marker = marker;
    this.#closing = closingOf(marker);
    this.#hasFences = hasFences;
  }

  /** Takes more text. `rest` is what follows the closing line, if that came; then nothing may be pushed any more. */
  push(text: string): { readonly shown: string; readonly rest?: string } {
    const all = this.#held + text;
    let shown = "";
    let from = 0;
    for (let end = all.indexOf("\n"); end !== -1; end = all.indexOf("\n", from)) {
      const line = all.slice(from, end);
      if (this.#closes(line)) return { shown, rest: all.slice(end + 1) };
      shown += (this.#begun === "" ? this.#separator : "") + line;
      this.#goWithin(this.#begun + line);
      this.#separator = "\n";
      this.#begun = "";
      from = end + 1;
    }
    const partial = all.slice(from);
    if (this.#begun === "" && (partial === "" || this.#mayClose(partial))) {
      this.#held = partial;
    } else {
      shown += (this.#begun === "" ? this.#separator : "") + partial;
      this.#begun += partial;
      this.#held = "";
    }
    return { shown };
  }

  #closes(line: string): boolean {
    return this.#begun === "" && this.#within.length === 0 && this.#closing.test(line);
  }

  /** Takes note of a whole line that opens or ends a fence within. */
  #goWithin(line: string): void {
    if (!this.#hasFences) return;
    const innermost = this.#within.at(-1);
    if (innermost?.closing.test(line) === true) {
      this.#within.pop();
      return;
    }
    const [, marker = "", info = ""] = /^ {0,3}(`{3,}|~{3,}) *([^\s`~][^`]*)$/.exec(line) ?? [];
    // The end of one with a shorter or another marker ends nothing out here, so nothing need be known of it.
    if (innermost?.isMarkdown !== false && marker.startsWith(this.#marker))
      this.#within.push({ closing: closingOf(marker), isMarkdown: isMarkdown(info.trim()) });
  }

  #mayClose(partial: string): boolean {
    const fence = partial.replace(/^ {0,3}/, "");
    return this.#marker.startsWith(fence) || this.#closing.test(partial);
  }
}

/** A line that ends what a fence began. */
function closingOf(marker: string): RegExp {
  return new RegExp(`^ {0,3}${marker}[~\`]* *$`);
}
