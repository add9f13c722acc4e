import type { NoticeRow, Row } from "../../../src/panel/contract.js";
import { element, setText } from "../element.js";
import type { Language } from "../texts.js";
import { actionButtons, buttonLine } from "./buttons.js";
import { rowFrame, type RowContext, type RowOf, type RowView } from "./rowView.js";

function levelText(level: NoticeRow["level"], { t }: Language): string {
  switch (level) {
    case "info":
      return t("Note");
    case "warning":
      return t("Warning");
    case "error":
      return t("Error");
  }
}

/** A line that is nobody's. */
export class NoticeView implements RowView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #heading: HTMLElement;
  readonly #text = element("p", { class: "notice-text", dir: "auto" });
  readonly #buttons = buttonLine();

  constructor(row: RowOf<"notice">, context: RowContext) {
    this.#context = context;
    const { article, heading } = rowFrame("notice", "");
    this.#heading = heading;
    article.append(this.#text, this.#buttons);
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "notice") return;
    this.element.dataset["level"] = row.level;
    setText(this.#heading, levelText(row.level, this.#context.language));
    setText(this.#text, row.text);
    this.#buttons.replaceChildren(...actionButtons(row.actions, this.#context));
  }

  command(): boolean {
    return false;
  }
}
