/**
 * The text of an answer, with what stands inside it: calls of tools, and what the person said meanwhile. Each stretch of text between them
 * is a Markdown text of its own, so that what came before a call cannot change any more.
 */
import type { AnswerRow } from "../../../src/panel/contract.js";
import { element } from "../element.js";
import { MarkdownView, type Extent } from "../markdown/markdownView.js";
import { codeNodes } from "../markdown/bidi.js";
import { pictureList } from "./pictures.js";
import { foldedNodes } from "./folding.js";
import type { RowContext } from "./rowView.js";
import { ToolList } from "./toolList.js";

type Steer = NonNullable<AnswerRow["steers"]>[number];

/** What stands at one place of the text, and the text behind it. */
interface Stretch {
  /** Where it begins in the answer's text. */
  readonly at: number;
  readonly steers: HTMLElement;
  readonly tools: ToolList;
  readonly markdown: MarkdownView;
  given: string;
}

export class AnswerBody {
  readonly element = element("div", { class: "answer-body" });
  readonly #context: RowContext;
  #stretches: Stretch[] = [];

  constructor(context: RowContext) {
    this.#context = context;
  }

  /** Shows the row as it is now; text that grows waits for `render`. */
  update({ text, tools, steers = [] }: Pick<AnswerRow, "text" | "tools" | "steers">): void {
    const places = [...new Set([0, ...[...tools, ...steers].map(({ at }) => Math.min(at, text.length))])].sort(
      (a, b) => a - b,
    );
    if (this.#stretches.some(({ at }, index) => at !== places[index])) this.#clear();
    for (const at of places.slice(this.#stretches.length)) this.#add(at);
    this.#stretches.forEach((stretch, index) => {
      const from = stretch.at;
      const to = places[index + 1] ?? text.length;
      const isHere = ({ at }: { readonly at: number }): boolean => Math.min(at, text.length) === from;
      showSteers(stretch.steers, steers.filter(isHere), this.#context);
      stretch.tools.update(tools.filter(isHere));
      take(stretch, text.slice(from, to));
      if (index + 1 < this.#stretches.length) stretch.markdown.finish();
    });
  }

  /** Whether there is text that `render` would show. */
  get stale(): boolean {
    return this.#stretches.some(({ markdown }) => markdown.stale);
  }

  render(): void {
    this.#stretches.at(-1)?.markdown.render();
  }

  finish(): void {
    for (const { markdown } of this.#stretches) markdown.finish();
  }

  /** The block whose source holds an offset into the answer's text. */
  blockAt(offset: number): Extent | undefined {
    const stretch = this.#stretches.findLast(({ at }) => at <= offset);
    const block = stretch?.markdown.blockAt(offset - stretch.at);
    return stretch && block && { ...block, start: block.start + stretch.at };
  }

  dispose(): void {
    for (const { tools } of this.#stretches) tools.dispose();
  }

  #add(at: number): void {
    const steers = element("div", { class: "steers" });
    const tools = new ToolList(this.#context);
    const markdown = new MarkdownView(this.#context.language.t);
    this.element.append(tools.element, steers, markdown.element);
    this.#stretches.push({ at, steers, tools, markdown, given: "" });
  }

  #clear(): void {
    this.dispose();
    this.#stretches = [];
    this.element.replaceChildren();
  }
}

function take(stretch: Stretch, now: string): void {
  const { given, markdown } = stretch;
  stretch.given = now;
  if (now === given) return;
  if (now.startsWith(given)) markdown.append(now.slice(given.length));
  else markdown.restart(now);
}

function showSteers(target: HTMLElement, steers: readonly Steer[], context: RowContext): void {
  if (target.childElementCount === steers.length) return;
  target.replaceChildren(
    ...steers.map((steer) =>
      element(
        "div",
        { class: "steer" },
        element("span", { class: "row-note" }, context.language.t("You, meanwhile")),
        element(
          "div",
          { class: "prompt-text", dir: "auto" },
          ...(steer.pasted === undefined ? codeNodes(steer.text) : foldedNodes(steer, context)),
        ),
        steer.pictures !== undefined && pictureList(steer.pictures, context),
      ),
    ),
  );
}
