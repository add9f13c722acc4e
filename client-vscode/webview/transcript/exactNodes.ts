import { exactPieces } from "../../src/panel/exact.js";
import { element } from "./element.js";

/** Nodes for a text that a person agrees to: escapes stand out from what only looks like one. */
export function exactNodes(text: string, lines: "line" | "lines" = "line"): Node[] {
  return exactPieces(text, lines).map(({ text: shown, unseen }) =>
    unseen === undefined ? document.createTextNode(shown) : element("span", { class: "escape" }, shown),
  );
}
