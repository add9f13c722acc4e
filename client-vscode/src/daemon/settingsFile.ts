/** Brings the person to the place in a settings file that has to be mended. */
import { Position, Range, Selection, window, workspace } from "vscode";
import { parseFileLocation } from "./pure/fileLocation.js";

/**
 * Opens a file with the cursor at a place of it; one that is beyond the end is the end.
 *
 * @param text `path`, `path:line` or `path:line:column`, both numbers from 1
 * @returns whether the text names a place; rejects if there is no such file
 */
export async function openPlace(text: string): Promise<boolean> {
  const place = parseFileLocation(text);
  if (place === undefined) return false;
  const editor = await window.showTextDocument(await workspace.openTextDocument(place.path));
  const at = editor.document.validatePosition(new Position(place.line - 1, place.column - 1));
  editor.selections = [new Selection(at, at)];
  editor.revealRange(new Range(at, at));
  return true;
}
