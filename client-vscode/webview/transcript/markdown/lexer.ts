/**
 * marked's lexer, made safe for text that nobody checked: no raw HTML, and bounded nesting and line length, so that neither the stack nor
 * a regular expression that backtracks can be made to hang the page.
 */
import { Lexer, Tokenizer, type Links, type Token, type Tokens, type TokensList } from "marked";

/** Block quotes and lists inside each other; deeper ones are shown as the text that they are. */
const MAX_BLOCK_NESTING = 24;
/** Emphasis and links inside each other. */
const MAX_INLINE_NESTING = 16;
/** Characters of one paragraph, heading or cell; longer ones are shown without formatting. */
const MAX_INLINE_LENGTH = 10_000;

class MarkdownTokenizer extends Tokenizer {
  /** Never: what looks like a block of HTML is a paragraph, so that Markdown around and inside it keeps working. */
  override html(): undefined {
    return undefined;
  }

  /** The last line end of a fence's content belongs to the fence; marked gives it where the line before it is empty. */
  override fences(src: string): Tokens.Code | undefined {
    const token = super.fences(src);
    return token?.text.endsWith("\n") === true ? { ...token, text: token.text.slice(0, -1) } : token;
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

/** The top-level blocks of a text whose line ends are `\n`. `known` are the definitions of links that stand before it. */
export function lex(text: string, known: Definitions): readonly Token[] {
  const lexer = new BoundedLexer({ gfm: true, tokenizer: new MarkdownTokenizer() });
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
