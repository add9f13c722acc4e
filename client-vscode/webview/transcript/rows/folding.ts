/**
 * Long prompts, a pasted log say, show what was typed, how they begin and how they end: a question stands before a log or behind it. The rest
 * is there for who asks.
 */
import { lineCount, piecesOf, type Written } from "../../../src/panel/written.js";
import { button } from "../element.js";
import { plural, type Language } from "../texts.js";
import type { RowContext } from "./rowView.js";

/** What is folded is longer than this by enough to be worth a button: lines, and characters. */
const LONG = { lines: 30, characters: 3_000 };
/** What is left in sight of a folded text. */
const SHOWN = { lines: 12, characters: 1_200 };
/** What is left in sight of its end. */
const END = { lines: 4, characters: 400 };

/** The beginning of a long text, cut between lines or words where there are some; the text itself if it is not long. */
export function beginning(text: string): string {
  if (text.length <= LONG.characters && lineEnd(text, LONG.lines) === text.length) return text;
  const end = Math.min(lineEnd(text, SHOWN.lines), SHOWN.characters);
  if (text[end] === "\n") return text.slice(0, end);
  const space = text.lastIndexOf(" ", end);
  const cut = space > end / 2 ? space : end;
  // Not between the two halves of one character.
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[cut - 1] ?? "") ? cut - 1 : cut);
}

/** Where the `count`-th line ends; the length of a text that has no more lines. */
function lineEnd(text: string, count: number): number {
  let end = -1;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text.length;
  }
  return end;
}

/** How a long text ends, from the beginning of a line or of a word where there is one. */
function ending(text: string): string {
  const end = text.trimEnd();
  let start = end.length;
  for (let line = 0; line < END.lines && start > 0; line++) start = end.lastIndexOf("\n", start - 1);
  start = Math.max(start + 1, end.length - END.characters);
  if (end[start - 1] !== "\n") start = Math.max(start, end.indexOf(" ", start) + 1);
  // Not between the two halves of one character.
  return end.slice(/[\uDC00-\uDFFF]/.test(end[start] ?? "") ? start + 1 : start);
}

/** What is shown of what was typed. */
function shortened(text: string): string {
  const start = beginning(text);
  return start === text ? text : `${start} …\n… ${ending(text)}`;
}

/** Whether something of a prompt is out of sight; with a place, whether that is. */
export function isFolded(written: Written, place?: number): boolean {
  let at = 0;
  return piecesOf(written).some(({ text, isPasted }) => {
    const start = at + (isPasted ? 0 : beginning(text).length);
    at += text.length;
    return start < at && (place === undefined || (start <= place && place < at));
  });
}

/** `[Pasted text 1: 1,200 lines]`, as in the composer. */
export function pastedLabel(number: number, text: string, language: Language): string {
  const { t } = language;
  return `[${t("Pasted text {0}", number)}: ${plural(lineCount(text), "1 line", "{0} lines", language)}]`;
}

/** A prompt as far as it is in sight: each text that was pasted is a button, which opens it in an editor. */
export function foldedNodes(written: Written, { host, language }: RowContext): Node[] {
  let count = 0;
  return piecesOf(written).flatMap(({ text, isPasted }): Node[] => {
    if (!isPasted) return [document.createTextNode(shortened(text))];
    count += 1;
    const name = `${language.t("Pasted text {0}", count)}.txt`;
    const open = () => host.send({ type: "read", name, text });
    return [button(pastedLabel(count, text, language), open, { class: "pasted", title: text.slice(0, 300).trimEnd() })];
  });
}
