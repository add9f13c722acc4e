/**
 * Text that a person agrees to, as what it is: every character that cannot be seen, or that makes text read otherwise than it runs, is an
 * escape. A rule and no list: whatever Unicode calls a control, a format, a separator, ignorable or unassigned. Pure.
 */

const UNSEEN = /((?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800])/u;
/** In a `pre` a line feed begins a line, and a tab is a gap. */
const UNSEEN_IN_LINES = /((?![ \n\t])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800])/u;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export interface Piece {
  /** What is shown. */
  readonly text: string;
  /** The character that an escape stands for. */
  readonly unseen?: string;
}

/** A text of one line, or of lines, in pieces; most have one. */
export function exactPieces(text: string, lines: "line" | "lines" = "line"): Piece[] {
  // What is split at a group has what the group took at every second place.
  return text
    .split(lines === "line" ? UNSEEN : UNSEEN_IN_LINES)
    .map((piece, at) => (at % 2 === 1 ? { text: escaped(piece), unseen: piece } : { text: piece }))
    .filter((piece) => piece.text !== "");
}

/** The same as one text, for labels and for where there is no style. */
export function exactText(text: string, lines: "line" | "lines" = "line"): string {
  return exactPieces(text, lines)
    .map((piece) => piece.text)
    .join("");
}

/**
 * A value as JSON in which whatever cannot be seen is an escape of JSON's own: it reads in one way, and whoever edits it has the same value
 * again.
 */
export function exactJson(value: unknown): string {
  return exactPieces(JSON.stringify(value, undefined, 2), "lines")
    .map(({ text, unseen }) => (unseen === undefined ? text : unseen.split("").map(jsonEscape).join("")))
    .join("");
}

/** Whether lines hold what is shown as an escape: a field would show them otherwise than they are. */
export function hasUnseen(text: string): boolean {
  return UNSEEN_IN_LINES.test(text);
}

function escaped(sign: string): string {
  return SHORT[sign] ?? `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}

function jsonEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
