/**
 * A Markdown text on the page that can grow. Blocks that cannot change any more are sealed: rendered, sanitised and coloured once, never
 * touched again. Only what is behind them is lexed at each rendering; an open fence is not even that, its text is appended. At the end
 * the whole is rendered once more, and where the parts differ from it (a link defined after its use, a list that became loose), it wins.
 */
import type { Token, Tokens } from "marked";
import morphdom from "morphdom";
import { element } from "../element.js";
import type { Translate } from "../host.js";
import { CodeFigure, finishFigure } from "./codeFigure.js";
import { fenceStart, isMarkdown, OpenFence, sealable, withoutUndecidedFence } from "./cutter.js";
import { dress } from "./dress.js";
import type { OpenHeadings } from "./headings.js";
import { escapeHtml, fenceLanguage, HtmlWriter } from "./html.js";
import { foldTables } from "./longTable.js";
import { lex, noDefinitions, type Definitions } from "./lexer.js";
import { sanitiseMarkdown } from "./sanitise.js";

/** Where the source of a block is in the text. */
export interface Extent {
  readonly element: HTMLElement;
  readonly start: number;
  readonly length: number;
}

interface Block {
  readonly element: HTMLElement;
  /** A top-level block of code; all others are made of HTML. */
  readonly figure?: CodeFigure;
  /** Equal HTML makes equal nodes. */
  html: string;
  /** Whether the code in it has been coloured. */
  finished: boolean;
  start: number;
  length: number;
}

interface Fence {
  readonly stream: OpenFence;
  readonly block: Block;
  readonly figure: CodeFigure;
  /** Offset of the text that the stream has not seen yet. */
  taken: number;
}

export class MarkdownView {
  readonly element = element("div", { class: "markdown" });
  readonly #t: Translate;
  #blocks: Block[] = [];
  #text = "";
  #afterReturn = false;
  #stale = false;
  #whole = false;
  /** Text before this offset is in sealed blocks. */
  #sealedEnd = 0;
  #sealedBlocks = 0;
  #sealedHeadings: OpenHeadings = [];
  #definitions: Definitions = noDefinitions();
  #fence: Fence | undefined;

  constructor(t: Translate) {
    this.#t = t;
  }

  /** The text with `\n` as its only line end. */
  get text(): string {
    return this.#text;
  }

  /** Whether there is something that `render` would show. */
  get stale(): boolean {
    return this.#stale;
  }

  /** Takes more text; `render` or `finish` shows it. */
  append(text: string): void {
    if (text === "") return;
    if (this.#whole) this.#unseal();
    // A line end of two characters can arrive in two pieces.
    this.#text += (this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text).replace(/\r\n?/g, "\n");
    this.#afterReturn = text.endsWith("\r");
    this.#stale = true;
  }

  /** Begins anew. Blocks that turn out the same keep their nodes. */
  restart(text: string): void {
    this.#unseal();
    this.#text = "";
    this.#afterReturn = false;
    this.append(text);
    this.#stale = true;
  }

  /** Shows what was appended so far, as far as it is decided. */
  render(): void {
    if (!this.#stale) return;
    this.#stale = false;
    if (this.#fence !== undefined && !this.#closes(this.#fence)) return;
    const tail = withoutUndecidedFence(this.#text.slice(this.#sealedEnd));
    const tokens = this.#lex(tail, true);
    this.#place(tokens, sealable(tokens));
    this.#fence = this.#openFence(tokens.at(-1));
  }

  /** Shows the whole text, as if it had come at once. */
  finish(): void {
    if (this.#whole && !this.#stale) return;
    this.#unseal();
    this.#place(this.#lex(this.#text), Infinity);
    this.#stale = false;
    this.#whole = true;
  }

  /** The block whose source holds an offset into `text`. */
  blockAt(offset: number): Extent | undefined {
    return this.#blocks.find((block) => offset >= block.start && offset < block.start + block.length);
  }

  #unseal(): void {
    this.#whole = false;
    this.#sealedEnd = 0;
    this.#sealedBlocks = 0;
    this.#sealedHeadings = [];
    this.#definitions = noDefinitions();
    this.#fence = undefined;
  }

  /** A text that the lexer fails at is shown as it was written: better than not at all. */
  #lex(text: string, isGrowing = false): readonly Token[] {
    try {
      return lex(text, this.#definitions, isGrowing);
    } catch {
      const token: Tokens.Text = { type: "text", raw: text, text };
      return [token];
    }
  }

  /** Puts the blocks of `tokens` behind the sealed ones, and seals the first `final` of them. */
  #place(tokens: readonly Token[], final: number): void {
    const writer = new HtmlWriter(this.#t, this.#sealedHeadings);
    let start = this.#sealedEnd;
    let index = this.#sealedBlocks;
    for (const [number, token] of tokens.entries()) {
      const block = this.#block(token, writer, this.#blocks[index]);
      if (block !== undefined) {
        block.start = start;
        block.length = token.raw.length;
        this.#put(index++, block);
      }
      start += token.raw.length;
      if (number >= final) continue;
      if (block !== undefined) this.#finishBlock(block);
      this.#define(token);
      this.#sealedEnd = start;
      this.#sealedBlocks = index;
      this.#sealedHeadings = writer.open;
    }
    for (const gone of this.#blocks.splice(index)) gone.element.remove();
  }

  /** The block for a token: the old one at its place if it is the same or can be changed into it, else a new one. None if it shows nothing. */
  #block(token: Token, writer: HtmlWriter, old: Block | undefined): Block | undefined {
    if (token.type === "code") {
      const { lang, text } = token as Tokens.Code; // as its type says
      return this.#codeBlock(fenceLanguage(lang), text, old);
    }
    const html = write(writer, token);
    if (html === "") return undefined;
    const block = this.#htmlBlock(html, old);
    foldTables(block.element, writer.rests, this.#t);
    return block;
  }

  #htmlBlock(html: string, old: Block | undefined): Block {
    if (old?.figure === undefined && old?.html === html) return old;
    const made = this.#build(html);
    if (old === undefined || old.figure !== undefined || old.element.nodeName !== made.nodeName) {
      return { element: made, html, finished: false, start: 0, length: 0 };
    }
    morphdom(old.element, made, { onBeforeElUpdated: (from, to) => !from.isEqualNode(to) });
    old.html = html;
    old.finished = false;
    return old;
  }

  #codeBlock(language: string, text: string, old: Block | undefined): Block {
    const figure = old?.figure ?? new CodeFigure(this.#t, language);
    figure.set(language, text);
    return old?.figure === undefined
      ? { element: figure.element, figure, html: "", finished: false, start: 0, length: 0 }
      : old;
  }

  #finishBlock(block: Block): void {
    if (block.figure !== undefined) block.figure.finish();
    else if (!block.finished)
      for (const figure of block.element.querySelectorAll<HTMLElement>("figure.code")) finishFigure(figure, this.#t);
    block.finished = true;
  }

  #define(token: Token): void {
    if (token.type !== "def") return;
    const { tag, href, title } = token as Tokens.Def; // as its type says
    this.#definitions[tag] ??= { href, title };
  }

  #build(html: string): HTMLElement {
    const fragment = sanitiseMarkdown(html);
    dress(fragment, this.#t);
    const only = fragment.firstChild;
    if (fragment.childNodes.length === 1 && only instanceof HTMLElement) return only;
    return element("div", { dir: "auto" }, fragment);
  }

  #put(index: number, block: Block): void {
    const old = this.#blocks[index];
    if (old === block) return;
    if (old === undefined) this.element.append(block.element);
    else old.element.replaceWith(block.element);
    this.#blocks[index] = block;
  }

  /** The fence that the text ends in, if its content can be taken over as it streams. All before it is sealed by then. */
  #openFence(last: Token | undefined): Fence | undefined {
    const block = this.#blocks.at(-1);
    if (last?.type !== "code" || block?.figure === undefined || block.start !== this.#sealedEnd) return undefined;
    const opening = fenceStart(last.raw);
    if (opening === undefined) return undefined;
    const stream = new OpenFence(opening.marker, isMarkdown(block.figure.language));
    const { shown, rest } = stream.push(this.#text.slice(block.start + opening.length));
    if (rest !== undefined) return undefined;
    block.figure.set(block.figure.language, shown);
    return { stream, block, figure: block.figure, taken: this.#text.length };
  }

  /** Shows what the open fence got. Whether it closed, so that there may be something behind it. */
  #closes(fence: Fence): boolean {
    const { shown, rest } = fence.stream.push(this.#text.slice(fence.taken));
    fence.taken = this.#text.length;
    fence.figure.append(shown);
    fence.block.length = this.#text.length - fence.block.start;
    if (rest === undefined) return false;
    this.#fence = undefined;
    this.#sealedEnd = this.#text.length - rest.length;
    this.#sealedBlocks++;
    fence.block.length = this.#sealedEnd - fence.block.start;
    this.#finishBlock(fence.block);
    return true;
  }
}

/** What marked cannot write is shown as it was written. */
function write(writer: HtmlWriter, token: Token): string {
  try {
    return writer.write(token);
  } catch {
    return `<p dir="auto">${escapeHtml(token.raw)}</p>`;
  }
}
