/**
 * Characters that turn the direction of text around. In code they can make it read otherwise than it runs, so there each is wrapped in an
 * element of its own, isolated, with its name in sight. The text itself stays as it is: what is copied is what the model wrote.
 */
import { element } from "../element.js";

// U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069.
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Nodes for a piece of code: one text node, unless it holds such characters. */
export function codeNodes(text: string): Node[] {
  if (!CONTROLS.test(text)) return text === "" ? [] : [document.createTextNode(text)];
  return text.split(new RegExp(`(${CONTROLS.source})`)).flatMap((piece): Node[] => {
    if (piece === "") return [];
    if (!CONTROLS.test(piece)) return [document.createTextNode(piece)];
    const name = `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    return [element("bdi", { class: "bidi-control", "data-name": name }, piece)];
  });
}

/** Marks them in everything below a node. */
export function markBidiControls(root: Node): void {
  if (!CONTROLS.test(root.textContent ?? "")) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text); // the walker shows text nodes only
  for (const text of texts) if (CONTROLS.test(text.data)) text.replaceWith(...codeNodes(text.data));
}
