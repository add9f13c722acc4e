/**
 * A prompt as the parts that go to the daemon, and back. What was pasted is a part of its own: that is known again wherever the prompt is
 * read, in a log, an export, another editor. Together the parts say the text word for word.
 */
import { isLongPaste, LONG_PASTE, piecesOf, type PastedRange, type Written } from "../../panel/written.js";

export type Part = Readonly<Record<string, unknown>>;

/** Like a command's name, which the daemon knows in a prompt of one text alone. */
const COMMAND = /^\s*\/[A-Za-z][^\s/]*(?!\S)/;

/** What `gemini/chat` takes as the prompt. */
export function promptOf(written: Written): string | Part[] {
  if (COMMAND.test(written.text)) return written.text;
  const texts = piecesOf(written).flatMap(({ text, isPasted }) => (isPasted ? [text] : shortened(text)));
  return texts.length > 1 ? texts.map((text) => ({ text })) : written.text;
}

/** Where pasted texts stand in a prompt of these parts: a long one with others beside it. */
export function pastedIn(parts: readonly Part[]): readonly PastedRange[] {
  const texts = parts
    .filter((part) => part["thought"] !== true)
    .map(({ text }) => (typeof text === "string" ? text : ""));
  if (texts.filter((text) => text !== "").length < 2) return [];
  let at = 0;
  return texts.flatMap((text) => {
    at += text.length;
    return isLongPaste(text) ? [{ start: at - text.length, length: text.length }] : [];
  });
}

/** What was typed, in pieces that nobody takes for something pasted. */
function shortened(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (isLongPaste(rest)) {
    const end = cutIn(rest);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

function cutIn(text: string): number {
  let line = 0;
  for (let count = 0; count < LONG_PASTE.lines; count += 1) {
    const next = text.indexOf("\n", line) + 1;
    if (next === 0 || next > LONG_PASTE.characters) break;
    line = next;
  }
  if (line > 0) return line;
  const isWithin = /[\uD800-\uDBFF]/.test(text[LONG_PASTE.characters - 1] ?? ""); // not between the two halves of one character
  return LONG_PASTE.characters - (isWithin ? 1 : 0);
}
