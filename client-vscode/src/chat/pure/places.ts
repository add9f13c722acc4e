/** Places in a chat that something else names: a source of a snapshot's line, something that was recalled, the prompt of a rule. */
import type { ConversationRows } from "./conversationRows.js";
import type { Match } from "./finding.js";

/** What is known of a place; at least one of the two ids. */
export interface WantedPlace {
  readonly turnId?: string | undefined;
  readonly entryId?: string | undefined;
  /** What it says there, word for word or in other words: the longest passage of the row that stands in it too is marked. */
  readonly words?: string | undefined;
}

/** Words of what is looked for that are compared. */
const MOST_WORDS = 120;
/** A shorter passage in common says nothing, characters; where a character can be a word, two of them do. */
const SHORTEST = { letters: 4, characters: 2 };

/** The place as the page is told it: a row, and what of its text is marked. `undefined` if this chat has no such place. */
export function placeIn(chat: ConversationRows, wanted: WantedPlace): Match | undefined {
  const { turnId, entryId, words = "" } = wanted;
  const byEntry = entryId === undefined ? undefined : chat.rowOfEntry(entryId);
  const ids = byEntry === undefined ? (turnId === undefined ? [] : [`p:${turnId}`, `a:${turnId}`]) : [byEntry];
  const found = ids.flatMap((rowId) => {
    const row = chat.indexOf(rowId);
    if (row === undefined) return [];
    const shown = chat.rows[row];
    const text = shown !== undefined && "text" in shown ? shown.text : "";
    return [{ row, rowId, ...(sharedPassage(text, words) ?? { start: 0, length: 0 }) }];
  });
  return found.reduce<Match | undefined>(
    (best, one) => (best !== undefined && best.length >= one.length ? best : one),
    undefined,
  );
}

/** The longest run of words of `text` that stands in `words` too: where it begins, and how long it is in UTF-16 units. */
export function sharedPassage(
  text: string,
  words: string,
): { readonly start: number; readonly length: number } | undefined {
  const places = new Map<string, number[]>();
  for (const [index, { word }] of [...wordsOf(words, MOST_WORDS)].entries())
    places.set(word, [...(places.get(word) ?? []), index]);
  let best = { start: 0, length: 0 };
  /** Where runs begin that end with the word before, by the place of that word in `words`. */
  let runs = new Map<number, number>();
  let before = 0;
  for (const { word, start, end } of wordsOf(text)) {
    // What is written around words to format them is not on the page: a passage ends there.
    if (MARKUP.test(text.slice(before, start))) runs.clear();
    before = end;
    const going = new Map<number, number>();
    for (const place of places.get(word) ?? []) {
      const begin = runs.get(place - 1) ?? start;
      going.set(place, begin);
      if (end - begin > best.length) best = { start: begin, length: end - begin };
    }
    runs = going;
  }
  const shared = text.slice(best.start, best.start + best.length);
  return best.length >= (IDEOGRAPHS.test(shared) ? SHORTEST.characters : SHORTEST.letters) ? best : undefined;
}

const MARKUP = /[*_`~[\]|<>#\n]/;
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** A word, or one character where words have no spaces between them. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}_])+/gu;

function* wordsOf(
  text: string,
  most = Infinity,
): Generator<{ readonly word: string; readonly start: number; readonly end: number }> {
  let count = 0;
  for (const match of text.matchAll(WORD)) {
    if ((count += 1) > most) return;
    yield { word: match[0].toLowerCase(), start: match.index, end: match.index + match[0].length };
  }
}
