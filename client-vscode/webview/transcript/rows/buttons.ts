import type { Action } from "../../../src/panel/contract.js";
import { button, element } from "../element.js";
import type { RowContext } from "./rowView.js";

const SHOW_COPIED_MS = 1_500;

/** Hands a text to the clipboard by way of the host, and says so on the button and to a screen reader. */
export function copyText(text: string, { host }: RowContext, pressed?: HTMLButtonElement): void {
  host.send({ type: "copy", text });
  host.announce(host.t("Copied"));
  if (pressed !== undefined) showCopied(pressed, host.t("Copied"));
}

/** Shows on a button for a moment that its text was copied. */
export function showCopied(pressed: HTMLElement, word: string): void {
  if (pressed.dataset["copied"] !== undefined) return;
  const label = pressed.textContent;
  pressed.dataset["copied"] = "";
  pressed.textContent = word;
  setTimeout(() => {
    pressed.textContent = label;
    delete pressed.dataset["copied"];
  }, SHOW_COPIED_MS);
}

/** Buttons for what mends an error. They go back to the host as they came. */
export function actionButtons(actions: readonly Action[], { host }: RowContext): HTMLButtonElement[] {
  return actions.map((action) =>
    button(action.label, () => host.send({ type: "action", action }), { "data-action": action.id }),
  );
}

/** The line of buttons at the end of a row. */
export function buttonLine(...buttons: readonly (Node | false | undefined)[]): HTMLElement {
  return element("div", { class: "row-buttons" }, ...buttons);
}
