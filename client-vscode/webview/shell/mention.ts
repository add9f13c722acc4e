/** `@file` in a prompt: finding the one under the caret, and putting a path in its place. */

export interface MentionToken {
  /** Where the `@` is. */
  readonly start: number;
  /** The caret: what follows it is not part of what is searched. */
  readonly end: number;
  /** What to search for, without `@` and quote. */
  readonly query: string;
}

/**
 * A mention begins at the start of the text, after white space, an opening bracket or another sign of prose, and after
 * letters of scripts that put no blanks between words. `a@b.org` is none. The same as in `engine/prompts/mentions`.
 */
const before = /[\s([{<:*\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
/** The rest of a word that is typed without blanks ends where such a script begins, unless the path has it too. */
const restOfWord = /^[^\s"@]*"? ?/;
const restInAscii = /^[!#-?A-~]*"? ?/;

/** The mention that is being typed at the caret, if any. */
export function mentionAt(text: string, caret: number): MentionToken | undefined {
  const lineStart = text.lastIndexOf("\n", caret - 1) + 1;
  const line = text.slice(lineStart, caret);
  for (let at = line.lastIndexOf("@"); at >= 0; at = at === 0 ? -1 : line.lastIndexOf("@", at - 1)) {
    const previous = line[at - 1];
    if (previous !== undefined && !before.test(previous)) continue;
    const typed = line.slice(at + 1);
    const token = { start: lineStart + at, end: caret };
    if (typed.startsWith('"')) return typed.indexOf('"', 1) < 0 ? { ...token, query: typed.slice(1) } : undefined;
    return /\s/.test(typed) ? undefined : { ...token, query: typed };
  }
  return undefined;
}

/** How a path is written in a prompt: in quotes if it has white space in it. */
export function mentionText(path: string): string {
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `;
}

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Puts `path` in the place of the token, and of the rest of the word and a space behind the caret. */
export function insertMention(text: string, token: MentionToken, path: string): Replacement {
  const rest = (/^[!-~]*$/.test(token.query) ? restInAscii : restOfWord).exec(text.slice(token.end))?.[0].length ?? 0;
  return { start: token.start, end: token.end + rest, text: mentionText(path) };
}
