/** What the model asks the person: options as buttons, and a field for the person's own words. */
import type { AsksView, ToolRow } from "../../../src/panel/contract.js";
import { exactText } from "../../../src/panel/exact.js";
import { element, exactNodes } from "../element.js";
import { Guard, letterOf } from "./guard.js";
import type { RowContext } from "./rowView.js";

/** A question with more characters than this has a box that scrolls. */
const LONG = 500;

export class AskingView {
  readonly element = element("div", { class: "question", role: "group", tabindex: -1, hidden: true });
  readonly #context: RowContext;
  readonly #guard: Guard;
  readonly #keys = new Map<string, HTMLButtonElement>();
  #shown = "";
  #callId = "";

  constructor(context: RowContext) {
    this.#context = context;
    this.#guard = new Guard(context.quiet, this.element, () => this.element); // no option is chosen by who only arrives
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  update({ id, asks }: ToolRow): void {
    const { language, readOnly } = this.#context;
    const key = asks === undefined ? "" : JSON.stringify([asks, readOnly]);
    this.#callId = id;
    if (key === this.#shown) return;
    this.#shown = key;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = asks === undefined;
    this.#context.quiet.stirred();
    this.#keys.clear();
    // What was pressed or read is gone, or is another question now.
    if (hadFocus) this.element.closest<HTMLElement>("article")?.focus({ preventScroll: true });
    if (asks === undefined) {
      delete this.element.dataset["question"];
      this.element.replaceChildren();
      return;
    }
    this.element.dataset["question"] = id;
    this.element.setAttribute("aria-label", language.t("Gemini asks: {0}", exactText(asks.question)));
    this.element.replaceChildren(...this.#content(asks));
  }

  #content({ isOurs, question, options, allowsText }: AsksView): HTMLElement[] {
    const { t } = this.#context.language;
    // A plan may be long: it scrolls, by the keys too.
    const scrolls = question.length > LONG ? { tabindex: 0, role: "group", "aria-label": t("Question") } : {};
    const text = element(
      "p",
      { class: "question-title question-text", dir: "auto", ...scrolls },
      ...exactNodes(question, "lines"),
    );
    if (!isOurs || this.#context.readOnly) return [text];
    const chosen = options.map((option, index) => this.#button(option, String(index + 1), () => this.#answer(option)));
    const silent = this.#button(t("No Answer"), "n", () => this.#answer(undefined));
    return [
      text,
      element("div", { class: "row-buttons question-answers" }, ...chosen, silent),
      ...(allowsText ? [this.#field()] : []),
    ];
  }

  #field(): HTMLElement {
    const { t } = this.#context.language;
    const input = element("input", { type: "text", class: "input", dir: "auto", tabindex: -1 });
    const send = (): void => {
      if (input.value.trim() !== "") this.#answer(input.value.trim());
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) send();
    });
    return element(
      "div",
      { class: "question-fold" },
      element("label", {}, t("Your own words"), input),
      element("div", { class: "row-buttons question-answers" }, this.#button(t("Answer"), undefined, send)),
    );
  }

  #button(label: string, key: string | undefined, press: () => void): HTMLButtonElement {
    const made = element(
      "button",
      { type: "button", tabindex: -1, "aria-keyshortcuts": key?.toUpperCase() },
      ...exactNodes(label),
      key !== undefined && key.length === 1 && element("kbd", { "aria-hidden": "true" }, key.toUpperCase()),
    );
    made.addEventListener("click", (event) => {
      if (this.#guard.accepts(event)) press();
    });
    if (key?.length === 1) this.#keys.set(key, made);
    return made;
  }

  #key(event: KeyboardEvent): void {
    if (event.target instanceof HTMLInputElement) {
      if (event.key !== "Escape") event.stopPropagation(); // the keys of the transcript are not meant
      return;
    }
    const pressed = this.#keys.get(letterOf(event) ?? "");
    if (pressed === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    pressed.click(); // it asks the guard
  }

  #answer(answer: string | undefined): void {
    this.#context.host.send({
      type: "answerUser",
      callId: this.#callId,
      ...(answer === undefined ? {} : { answer }),
    });
  }
}
