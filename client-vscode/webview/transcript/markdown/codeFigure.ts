/**
 * A block of code: a caption with its language and what can be done with it, and the code itself, which scrolls sideways. Its buttons carry
 * `data-code`; the transcript listens for clicks once, above all of them.
 */
import { element, setAttribute, setText } from "../element.js";
import type { Translate } from "../host.js";
import { codeNodes } from "./bidi.js";
import { highlight } from "./highlight.js";

/** Text is appended to a node up to this length; then a new one is begun, or the browser lays out all of it with every piece. */
const LONGEST_NODE = 4_000;
/** Lines that are shown at first. */
const FOLDED_LINES = 2_000;

/** Lines that are laid out together, of those that were folded. */
const LINES_OF_SLICE = 250;

/** What a button of a block of code does. */
export type CodeAction = "copy" | "insert" | "apply" | "showAll";

/** The figure for a language (lower case, may be empty) and a text. */
export class CodeFigure {
  readonly element: HTMLElement;
  readonly #t: Translate;
  readonly #code: HTMLElement;
  readonly #language: HTMLElement;
  #text = "";
  #finished = false;
  language = "";

  constructor(t: Translate, language: string) {
    this.#t = t;
    this.#language = element("span", { class: "code-language" });
    this.#code = element("code");
    this.element = element(
      "figure",
      { class: "code" },
      element(
        "div",
        { class: "code-bar", role: "toolbar", "aria-label": t("Code block") },
        this.#language,
        ...codeButtons(t),
      ),
      element("pre", { tabindex: 0, dir: "ltr" }, this.#code),
    );
    this.#relabel(language);
  }

  get text(): string {
    return this.#text;
  }

  /** Appends to what is shown: nothing that stands there already is touched. */
  append(text: string): void {
    if (text === "") return;
    this.#text += text;
    const last = this.#code.lastChild;
    const [first, ...others] = codeNodes(text);
    if (first instanceof Text && others.length === 0 && last instanceof Text && last.length < LONGEST_NODE)
      last.appendData(first.data);
    else this.#code.append(...(first === undefined ? [] : [first, ...others]));
  }

  /** Shows this text, with as few changes as possible. */
  set(language: string, text: string): void {
    if (language !== this.language) this.#relabel(language);
    if (text === this.#text) return;
    if (!this.#finished && text.startsWith(this.#text)) {
      this.append(text.slice(this.#text.length));
      return;
    }
    this.#finished = false;
    this.#text = text;
    this.element.querySelector("[data-code=showAll]")?.remove();
    this.#code.nextElementSibling?.remove();
    this.#code.replaceChildren(...codeNodes(text));
  }

  /** The block is complete: its words are coloured, and what is very long is folded. */
  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    finishFigure(this.element, this.#t);
  }

  #relabel(language: string): void {
    this.language = language;
    setText(this.#language, language === "" ? this.#t("text") : language);
    setAttribute(this.element, "aria-label", language === "" ? this.#t("Code") : this.#t("Code, {0}", language));
    setAttribute(this.#code, "class", language === "" ? undefined : `language-${language}`);
  }
}

/** Colours the code of a figure that is complete, and folds it if it is very long. */
export function finishFigure(figure: HTMLElement, t: Translate): void {
  if (fold(figure, t)) return;
  const code = figure.querySelector("code");
  if (code !== null) void highlight(code, codeOf(figure).language);
}

/** What a figure's buttons act on: the whole text, folded lines included, exactly as the model wrote it. */
export function codeOf(figure: Element): { readonly text: string; readonly language: string } {
  const text = figure.querySelector("pre")?.textContent ?? "";
  const language = /language-(\S+)/.exec(figure.querySelector("code")?.className ?? "")?.[1] ?? "";
  return { text, language };
}

/** Shows the lines that were folded. */
export function unfold(figure: Element): void {
  figure.querySelector("code[hidden]")?.removeAttribute("hidden");
  figure.querySelector("[data-code=showAll]")?.remove();
}

function codeButtons(t: Translate): HTMLElement[] {
  const one = (action: CodeAction, label: string): HTMLElement =>
    element("button", { type: "button", tabindex: -1, "data-code": action }, label);
  return [one("copy", t("Copy")), one("insert", t("Insert")), one("apply", t("Apply…"))];
}

/** Moves all lines after the first ones into a second, hidden element. */
function fold(figure: HTMLElement, t: Translate): boolean {
  const code = figure.querySelector("code");
  const text = code?.textContent ?? "";
  let end = 0;
  for (let line = 0; line < FOLDED_LINES; line++) {
    end = text.indexOf("\n", end) + 1;
    if (end === 0) return false;
  }
  const lines = text.slice(end).split("\n");
  code?.replaceChildren(...codeNodes(text.slice(0, end)));
  code?.after(element("code", { hidden: true }, ...slicesOf(lines)));
  figure.append(
    element(
      "button",
      { type: "button", tabindex: -1, class: "show-all", "data-code": "showAll" },
      t("Show all ({0} more lines)", lines.length),
    ),
  );
  return true;
}

/** Lines in elements that the browser lays out when they come into sight. Until then each takes the room that it will. */
function slicesOf(lines: readonly string[]): HTMLElement[] {
  const widest = lines.reduce((most, { length }) => Math.max(most, length), 0);
  const slices: HTMLElement[] = [];
  for (let from = 0; from < lines.length; from += LINES_OF_SLICE) {
    const part = lines.slice(from, from + LINES_OF_SLICE);
    const isLast = from + LINES_OF_SLICE >= lines.length;
    const slice = element("span", { class: "code-slice" }, ...codeNodes(part.join("\n") + (isLast ? "" : "\n")));
    slice.style.setProperty("contain-intrinsic-size", `${widest}ch ${part.length}lh`);
    slices.push(slice);
  }
  return slices;
}
