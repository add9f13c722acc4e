/**
 * marked's lexer, made safe for text that nobody checked: no raw HTML, and bounded nesting and line length, so that neither the stack nor
 * a regular expression that backtracks can be made to hang the page.
 */
import { Lexer, Tokenizer, type Links, type Token, type Tokens, type TokensList } from "marked";
import markedCjkFriendly from "marked-cjk-friendly";
import { isMarkdown, OpenFence } from "./cutter.js";
import { fenceLanguage } from "./html.js";

/** Block quotes and lists inside each other; deeper ones are shown as the text that they are. */
const MAX_BLOCK_NESTING = 24;
/** Emphasis and links inside each other. */
const MAX_INLINE_NESTING = 16;
/** Characters of one paragraph, heading or cell; longer ones are shown without formatting. */
const MAX_INLINE_LENGTH = 10_000;

/** Fences of Markdown whose end is looked for among other fences in them; each look may go to the end of the text. */
const MOST_NESTED = 8;

/** Emphasis beside Chinese, Japanese and Korean, whose signs stand close: `**注意：**这是` is bold. */
const cjk = markedCjkFriendly().tokenizer?.emStrong;
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

/**
 * Where prose goes on behind an address: at punctuation outside of ASCII, which addresses have percent-encoded. But for the dots and dashes
 * that stand within names: `レオナルド・ダ・ヴィンチ`.
 */
const ENDS_ADDRESS = /(?![\p{ASCII}·・‐-–])\p{P}|[·・‐-–]$/u;

class MarkdownTokenizer extends Tokenizer {
  /** A fence of Markdown goes on behind the fences in it, if its end comes. Is the text still growing, it may yet. */
  readonly #isGrowing: boolean;
  #nested = 0;
  /** The paragraph that was looked at last. */
  #looked = { text: "", isCjk: false };

  constructor(isGrowing: boolean) {
    super();
    this.#isGrowing = isGrowing;
  }

  /** Never: what looks like a block of HTML is a paragraph, so that Markdown around and inside it keeps working. */
  override html(): undefined {
    return undefined;
  }

  /** The last line end of a fence's content belongs to the fence; marked gives it where the line before it is empty. */
  override fences(src: string): Tokens.Code | undefined {
    const found = super.fences(src);
    const token = found && this.#withFencesInIt(src, found);
    return token?.text.endsWith("\n") === true ? { ...token, text: token.text.slice(0, -1) } : token;
  }

  /**
   * Models write a README into one fence, with fences of three backticks in it. By the rules it would end at the first of their ends, and
   * the rest be prose, and what follows be code.
   */
  #withFencesInIt(src: string, token: Tokens.Code): Tokens.Code {
    if (!isMarkdown(fenceLanguage(token.lang)) || this.#nested >= MOST_NESTED) return token;
    const [, indent = "", marker = ""] = /^( {0,3})(`+|~+)/.exec(src) ?? [];
    const opening = src.indexOf("\n") + 1;
    if (opening === 0) return token;
    const { shown, rest } = new OpenFence(marker, true).push(`${src.slice(opening)}\n`);
    const raw = rest === undefined ? src : src.slice(0, src.length - Math.max(0, rest.length - 1)).replace(/\n$/, "");
    if (raw.length <= token.raw.length) return token;
    this.#nested++;
    if (rest === undefined && !this.#isGrowing) return token;
    const outdented = (line: string): string => line.slice(Math.min(indent.length, line.search(/[^ ]|$/)));
    return { ...token, raw, text: shown.split("\n").map(outdented).join("\n") };
  }

  /** Two tildes strike out; a single one is "about", a home folder, or a range. */
  override del(...[src, masked, before]: Parameters<Tokenizer["del"]>): Tokens.Del | undefined {
    return src.startsWith("~~") ? super.del(src, masked, before) : undefined;
  }

  override emStrong(
    ...[src, masked, before]: Parameters<Tokenizer["emStrong"]>
  ): Tokens.Em | Tokens.Strong | undefined {
    if (masked !== this.#looked.text) this.#looked = { text: masked, isCjk: CJK.test(masked) };
    if (cjk === undefined || !this.#looked.isCjk) return super.emStrong(src, masked, before);
    const found = cjk.call(this, src, masked, before);
    return found === false ? super.emStrong(src, masked, before) : found;
  }

  override url(src: string): Tokens.Link | undefined {
    const found = super.url(src);
    const end = found?.raw.search(ENDS_ADDRESS) ?? -1;
    return end === -1 ? found : super.url(src.slice(0, end));
  }

  /** Tags are text, but for the line break, which models write in table cells. */
  override tag(src: string): Tokens.Tag | undefined {
    const found = /^<br\s*\/?>/i.exec(src);
    return found
      ? { type: "html", raw: found[0], inLink: false, inRawBlock: false, block: false, text: "\n" }
      : undefined;
  }
}

class BoundedLexer extends Lexer {
  #blocks = 0;
  #inlines = 0;

  override blockTokens(src: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped = false): Token[] {
    if (this.#blocks > MAX_BLOCK_NESTING) {
      tokens.push(plain(src));
      return tokens;
    }
    this.#blocks++;
    try {
      return super.blockTokens(src, tokens, lastParagraphClipped);
    } finally {
      this.#blocks--;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#inlines > MAX_INLINE_NESTING || src.length > MAX_INLINE_LENGTH) {
      tokens.push(plain(src));
      return tokens;
    }
    this.#inlines++;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.#inlines--;
    }
  }
}

/** Definitions of reference links by their label. */
export type Definitions = Links;

/**
 * The top-level blocks of a text whose line ends are `\n`; more may come if it is growing. `known` are the definitions of links that stand
 * before it.
 */
export function lex(text: string, known: Definitions, isGrowing = false): readonly Token[] {
  const lexer = new BoundedLexer({ gfm: true, tokenizer: new MarkdownTokenizer(isGrowing) });
  Object.assign(lexer.tokens.links, known);
  return lexer.lex(text);
}

/** An empty set of definitions; without a prototype, since the labels are the model's. */
export function noDefinitions(): Definitions {
  const empty: unknown = Object.create(null);
  return empty as Definitions; // `Object.create` is typed `any`; an object without keys is a valid record.
}

function plain(text: string): Tokens.Text {
  return { type: "text", raw: text, text, escaped: false };
}
