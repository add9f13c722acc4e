/** A prompt as it was written: its text, and what of it was not typed. */
import * as v from "valibot";
import { MOST_PICTURES, pictureSchema, type Picture } from "./pictures.js";
import type { Of } from "./schema.js";

/** Like a command's name, which the daemon knows in a prompt of one text alone. */
export const COMMAND = /^\s*\/[A-Za-z][^\s/]*(?!\S)/;

/** A pasted text with more than either is an attachment: it would fill the composer, and each key in it costs a layout of all of it. */
export const LONG_PASTE = { characters: 2_000, lines: 40 } as const;

export function isLongPaste(text: string): boolean {
  return text.length > LONG_PASTE.characters || lineCount(text) > LONG_PASTE.lines;
}

/** Lines as an editor's status counts them, but for an empty last one. */
export function lineCount(text: string): number {
  let count = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** A pasted text that is shown as an attachment: where it stands in the prompt, characters. */
export const pastedSchema = v.object({
  start: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  length: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
});

export type PastedRange = Of<typeof pastedSchema>;

/** What of a prompt was not typed. */
export const enclosedEntries = {
  pasted: v.exactOptional(v.array(pastedSchema)),
  pictures: v.exactOptional(v.pipe(v.array(pictureSchema), v.maxLength(MOST_PICTURES))),
};

/** What a prompt has beside its text. */
export interface Enclosed {
  readonly pasted?: readonly PastedRange[];
  readonly pictures?: readonly Picture[];
}

/** A prompt on its way: to be sent, to wait, to come back to the composer. */
export interface Written extends Enclosed {
  readonly text: string;
}

/** It, of something that may have more; nothing where there is nothing. */
export function enclosedIn({ pasted = [], pictures = [] }: Enclosed): Enclosed {
  return { ...(pasted.length > 0 ? { pasted } : {}), ...(pictures.length > 0 ? { pictures } : {}) };
}

/** Whether there is nothing to send. */
export function isBlank({ text, pictures = [] }: Written): boolean {
  return text.trim() === "" && pictures.length === 0;
}

/** The ranges that a text can have, in their order: what was kept may be of another one. */
export function fitting(text: string, ranges: readonly PastedRange[]): readonly PastedRange[] {
  let at = 0;
  return ranges.filter(({ start, length }) => {
    const fits = start >= at && length > 0 && start + length <= text.length;
    if (fits) at = start + length;
    return fits;
  });
}

/** A text in pieces, in their order: what was typed, and what was pasted. None is empty. */
export function piecesOf({
  text,
  pasted = [],
}: Written): readonly { readonly text: string; readonly isPasted: boolean }[] {
  let at = 0;
  const pieces = fitting(text, pasted).flatMap(({ start, length }) => {
    const typed = { text: text.slice(at, start), isPasted: false };
    at = start + length;
    return [typed, { text: text.slice(start, at), isPasted: true }];
  });
  return [...pieces, { text: text.slice(at), isPasted: false }].filter((piece) => piece.text !== "");
}
