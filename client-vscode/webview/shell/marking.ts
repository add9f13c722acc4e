/** What of a passage is shown for a search, and which of its words are marked. Pure. */

export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** A passage begins this long before the first word that was found, characters. */
const LEAD = 60;
/** Endings differ: of a longer word its beginning is enough. */
const ENDING = 3;
const SHORTEST = 4;

/** The part of a passage, at most `most` characters, that has the first word that was found in it, cut into what is marked and what is not. */
export function excerpt(passage: string, query: string, most: number): readonly Piece[] {
  const text = passage.replace(/\s+/g, " ").trim();
  const all = matches(text, query);
  const first = all[0]?.start ?? 0;
  const from = first <= LEAD ? 0 : wordStart(text, first - LEAD);
  const to = Math.min(text.length, from + most);
  const pieces: Piece[] = [];
  let at = from;
  const push = (end: number, isMatch: boolean): void => {
    if (end > at) pieces.push({ text: text.slice(at, end), isMatch });
    at = Math.max(at, end);
  };
  for (const { start, end } of all) {
    if (end > to) break;
    if (start < from) continue;
    push(start, false);
    push(end, true);
  }
  push(to, false);
  if (from > 0) pieces.unshift({ text: "… ", isMatch: false });
  if (to < text.length) pieces.push({ text: "…", isMatch: false });
  return pieces;
}

/** Where words of the query stand, or words that begin like them. */
function matches(text: string, query: string): { readonly start: number; readonly end: number }[] {
  const wanted = [...query.matchAll(/[\p{L}\p{N}]+/gu)]
    .map(([word]) => word.toLowerCase())
    .filter((word) => word.length > 1 || /[^a-z\d]/.test(word))
    .map((word) => word.slice(0, Math.max(SHORTEST, word.length - ENDING)));
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].flatMap((match) => {
    const word = match[0].toLowerCase();
    return wanted.some((stem) => (stem.length < SHORTEST ? word === stem : word.startsWith(stem)))
      ? [{ start: match.index, end: match.index + match[0].length }]
      : [];
  });
}

/** The start of the word that a place is in, or of the one behind it. */
function wordStart(text: string, at: number): number {
  const space = text.indexOf(" ", at);
  return space === -1 || space > at + LEAD / 2 ? at : space + 1;
}
