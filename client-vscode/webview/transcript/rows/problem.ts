import type { ErrorView } from "../../../src/panel/contract.js";
import { button, element, setText } from "../element.js";
import { retryText } from "./answerState.js";
import type { RowContext } from "./rowView.js";

/** An error with what mends it. The retry counts down while it is too early for one; it can be pressed all the same. */
export class Problem {
  readonly element = element("div", { class: "problem" });
  readonly #context: RowContext;
  #shown: ErrorView | undefined;
  #retries = false;
  #retry: { readonly button: HTMLButtonElement; readonly label: string } | undefined;

  constructor(context: RowContext) {
    this.#context = context;
    this.element.hidden = true;
  }

  /** `retries`: whether a retry is possible; it is offered only then. */
  show(error: ErrorView | undefined, retries = true): void {
    this.element.hidden = error === undefined;
    if (error === this.#shown && retries === this.#retries) return;
    this.#shown = error;
    this.#retries = retries;
    this.#retry = undefined;
    if (error === undefined) return;
    const { host } = this.#context;
    const offered = error.actions.filter((action) => action.id !== "retry" || retries);
    const buttons = offered.map((action) => {
      const made = button(action.label, () => host.send({ type: "action", action }), { "data-action": action.id });
      if (action.id === "retry") this.#retry = { button: made, label: action.label };
      return made;
    });
    this.element.replaceChildren(
      element(
        "p",
        { class: "problem-text", dir: "auto" },
        element("span", { class: "problem-mark", "aria-hidden": "true" }, "⚠ "),
        error.message,
      ),
      ...(error.hint === "" ? [] : [element("p", { class: "problem-hint", dir: "auto" }, error.hint)]),
      ...(buttons.length === 0 ? [] : [element("div", { class: "row-buttons" }, ...buttons)]),
    );
    this.tick();
  }

  get offersRetry(): boolean {
    return this.#retry !== undefined;
  }

  /** Shows the time that is left until a retry makes sense. */
  tick(): void {
    if (this.#retry === undefined) return;
    const { ticker, language } = this.#context;
    setText(this.#retry.button, retryText(this.#retry.label, this.#shown?.retryAt, ticker.now(), language));
  }

  /** Presses the retry, if there is one. */
  retry(): boolean {
    this.#retry?.button.click();
    return this.#retry !== undefined;
  }
}
