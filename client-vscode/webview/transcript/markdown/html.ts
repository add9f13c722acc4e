/** Markdown tokens to HTML that still has to be sanitised. */
import { Parser, Renderer, type Token, type Tokens } from "marked";
import type { Translate } from "../host.js";
import { SHOWN_ROWS, type RestOfTable } from "./longTable.js";
import { placeHeading, type OpenHeadings } from "./headings.js";

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML shows it, attribute values included. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** Text in which character references (`&amp;`) are resolved, as Markdown has it outside of code. */
function escapeText(text: string): string {
  return text.replace(
    /&(?!#\d{1,7};|#[xX][\da-fA-F]{1,6};|[a-zA-Z]\w{1,31};)|[<>"']/g,
    (character) => ESCAPES[character] ?? character,
  );
}

/** The language that a fence names: its first word, lower case; empty if it names none that could be one. */
export function fenceLanguage(info: string | undefined): string {
  return /^[\w.+#-]{1,40}/.exec(info?.trim() ?? "")?.[0].toLowerCase() ?? "";
}

class BlockRenderer extends Renderer {
  open: OpenHeadings = [];
  /** Of each table that was written what was left out of it, if it is very long. */
  rests: (RestOfTable | undefined)[] = [];
  readonly #t: Translate;

  constructor(t: Translate) {
    super();
    this.#t = t;
  }

  override code({ text, lang }: Tokens.Code): string {
    const language = fenceLanguage(lang);
    return `<pre><code${language === "" ? "" : ` class="language-${language}"`}>${escapeHtml(text)}</code></pre>`;
  }

  override blockquote({ tokens }: Tokens.Blockquote): string {
    return `<blockquote dir="auto">${this.parser.parse(tokens)}</blockquote>`;
  }

  /** The lexer makes no HTML tokens but the line break; if it ever did, they would be shown, not obeyed. */
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text === "\n" ? "<br>" : escapeHtml(text);
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const { open, level } = placeHeading(this.open, depth);
    this.open = open;
    return `<h${level} dir="auto">${this.parser.parseInline(tokens)}</h${level}>`;
  }

  override hr(): string {
    return "<hr>";
  }

  override list(token: Tokens.List): string {
    const items = token.items.map((item) => this.listitem(item)).join("");
    if (!token.ordered) return `<ul>${items}</ul>`;
    const start = typeof token.start === "number" && token.start !== 1 ? ` start="${token.start}"` : "";
    return `<ol${start}>${items}</ol>`;
  }

  override listitem(item: Tokens.ListItem): string {
    return `<li dir="auto">${this.parser.parse(item.tokens)}</li>`;
  }

  /** A mark instead of an `<input>`: nothing here can be ticked. */
  override checkbox({ checked }: Tokens.Checkbox): string {
    return checked ? "☑ " : "☐ ";
  }

  override paragraph({ tokens }: Tokens.Paragraph): string {
    return `<p dir="auto">${this.parser.parseInline(tokens)}</p>`;
  }

  override table(token: Tokens.Table): string {
    const rows = (from: number, to: number): string =>
      token.rows
        .slice(from, to)
        .map((row) => this.#row(row))
        .join("");
    const isLong = token.rows.length > SHOWN_ROWS;
    this.rests.push(isLong ? { total: token.rows.length, write: rows } : undefined);
    const body = token.rows.length === 0 ? "" : `<tbody>${rows(0, SHOWN_ROWS)}</tbody>`;
    return `<table><thead>${this.#row(token.header)}</thead>${body}</table>`;
  }

  #row(cells: readonly Tokens.TableCell[]): string {
    return `<tr>${cells.map((cell) => this.tablecell(cell)).join("")}</tr>`;
  }

  override tablecell(token: Tokens.TableCell): string {
    const name = token.header ? "th" : "td";
    const align = token.align === null ? "" : ` align="${token.align}"`;
    return `<${name}${align} dir="auto">${this.parser.parseInline(token.tokens)}</${name}>`;
  }

  override link({ href, tokens, text, autolink }: Tokens.Link): string {
    if (autolink === true) return `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`;
    return `<a href="${escapeText(href)}">${this.parser.parseInline(tokens)}</a>`;
  }

  /** Pictures are not loaded: who serves one learns who reads it, and when. */
  override image({ href, text }: Tokens.Image): string {
    const label = text.trim() === "" ? this.#t("picture not loaded") : this.#t("{0} (picture not loaded)", text.trim());
    return `<a href="${escapeText(href)}">${escapeText(label)}</a>`;
  }
}

/** Renders blocks one after the other, in order: the levels of headings depend on those before. */
export class HtmlWriter {
  readonly #renderer: BlockRenderer;
  readonly #parser: Parser;

  constructor(t: Translate, open: OpenHeadings = []) {
    this.#renderer = new BlockRenderer(t);
    this.#renderer.open = open;
    this.#parser = new Parser({ renderer: this.#renderer });
  }

  /** The headings that are open after what was written so far. */
  get open(): OpenHeadings {
    return this.#renderer.open;
  }

  /** Of the tables in the block that was written last, in their order: the rows that were left out. */
  get rests(): readonly (RestOfTable | undefined)[] {
    return this.#renderer.rests;
  }

  /** One block; empty for what shows nothing (blank lines, definitions of links). Throws nothing that marked does not. */
  write(token: Token): string {
    this.#renderer.rests = [];
    return this.#parser.parse([token]);
  }
}
