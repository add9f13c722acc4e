/** Nodes, built without markup. */
import { exactPieces } from "../../src/panel/exact.js";

type Child = Node | string | false | undefined;

/** Attributes by their name; `false` and `undefined` leave one out, `true` sets it empty. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A new element with attributes and children. Strings become text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(made, key, value);
  for (const child of children) if (child !== undefined && child !== false) made.append(child);
  return made;
}

/** Sets an attribute, or takes it away. */
export function setAttribute(target: Element, name: string, value: string | number | boolean | undefined): void {
  if (value === undefined || value === false) target.removeAttribute(name);
  else target.setAttribute(name, value === true ? "" : String(value));
}

/** Sets a text only where it differs: an assignment of the same text still replaces the node, and a selection in it is lost. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * A button of a message. It is no stop of the Tab key until the message is entered: with one stop for each button, nobody would ever get
 * through a long conversation.
 */
export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", tabindex: -1, ...attributes }, label);
  made.addEventListener("click", onClick);
  return made;
}

/** Nodes for a text that a person agrees to: escapes stand out from what only looks like one. */
export function exactNodes(text: string, lines: "line" | "lines" = "line"): Node[] {
  return exactPieces(text, lines).map(({ text: shown, unseen }) =>
    unseen === undefined ? document.createTextNode(shown) : element("span", { class: "escape" }, shown),
  );
}
