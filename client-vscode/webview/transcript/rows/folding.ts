/** Long prompts, a pasted log say, show how they begin; the rest is there for who asks. Pure. */

/** What is folded is longer than this by enough to be worth a button: lines, and characters. */
const LONG = { lines: 30, characters: 3_000 };
/** What is left in sight of a folded text. */
const SHOWN = { lines: 12, characters: 1_200 };

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
