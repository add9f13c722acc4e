/** Changes of a text area's text from code, as if they were typed: Ctrl+Z takes them back, and `input` is fired. */
import type { Replacement } from "./mention.js";

/** More lines than this are not typed: the editing command types them one by one, and lays out all that stands there for each. */
const MOST_TYPED_LINES = 100;

export function replaceText(area: HTMLTextAreaElement, { start, end, text }: Replacement): void {
  area.focus();
  area.setSelectionRange(start, end);
  if (typesText(area, text)) return;
  area.setRangeText(text, start, end, "end");
  area.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
}

/** The editing command is old, but nothing else keeps the undo history of a text area; where it is missing or too slow, undo is lost, no more. */
function typesText(area: HTMLTextAreaElement, text: string): boolean {
  if (text.split("\n", MOST_TYPED_LINES + 1).length > MOST_TYPED_LINES) return false;
  const { ownerDocument } = area;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  if (typeof ownerDocument.execCommand !== "function") return false;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
  return text === "" ? ownerDocument.execCommand("delete") : ownerDocument.execCommand("insertText", false, text);
}
