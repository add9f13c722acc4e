import type { Row } from "../../../src/panel/contract.js";
import { NOTICE_LEVELS } from "../../../src/panel/statuses.js";
import { element, setText } from "../element.js";
import { actionButtons, buttonLine } from "./buttons.js";
import { rowFrame, type RowContext, type RowOf, type RowView } from "./rowView.js";

/** A line that is nobody's. */
export class NoticeView implements RowView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #heading: HTMLElement;
  readonly #text = element("p", { class: "notice-text", dir: "auto" });
  readonly #summary = element("summary", { dir: "auto" });
  readonly #list = element("ul");
  readonly #details = element("details", { class: "notice-text" }, this.#summary, this.#list);
  readonly #buttons = buttonLine();

  constructor(row: RowOf<"notice">, context: RowContext) {
    this.#context = context;
    const { article, heading } = rowFrame("notice", "");
    this.#heading = heading;
    article.append(this.#text, this.#details, this.#buttons);
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "notice") return;
    this.element.dataset["level"] = row.level;
    setText(this.#heading, this.#context.language.t(NOTICE_LEVELS[row.level].title));
    const details = row.times === undefined || row.times < 2 ? [] : (row.details ?? []);
    this.#text.hidden = details.length > 0;
    this.#details.hidden = details.length === 0;
    setText(this.#text, row.text);
    setText(this.#summary, row.text);
    this.#list.replaceChildren(
      ...details.map(({ text, times }) =>
        element("li", { dir: "auto" }, times === 1 ? text : this.#context.language.t("{0} ({1} times)", text, times)),
      ),
    );
    this.#buttons.replaceChildren(...actionButtons(row.actions, this.#context));
  }

  command(): boolean {
    return false;
  }
}
