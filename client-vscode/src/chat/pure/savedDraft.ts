/** What survives a reload, an update, a crash: one small file per chat. */
import * as v from "valibot";
import type { Immutable } from "../../panel/schema.js";
import { scrollSchema } from "../../panel/state.js";
import { MOST_PICTURES, pictureSchema } from "../../panel/pictures.js";
import { enclosedIn, pastedSchema } from "../../panel/written.js";

/** Most items of a list that are read. */
const LONGEST_LIST = 1_000;

/** A list, without what in it is not as it should be. `made` makes an item of what was read and where it stood. */
function listOf<T, R>(item: v.GenericSchema<unknown, T>, made: (value: T, index: number) => R, most = LONGEST_LIST) {
  const read = (items: unknown): R[] =>
    (Array.isArray(items) ? items : []).slice(0, most).flatMap((raw: unknown, index) => {
      const parsed = v.safeParse(item, raw);
      return parsed.success ? [made(parsed.output, index)] : [];
    });
  return v.optional(v.pipe(v.unknown(), v.transform(read)), []);
}

const asItIs = (value: string): string => value;

const savedDraftSchema = v.object({
  draft: v.optional(v.fallback(v.string(), ""), ""),
  /** Where in the draft pasted texts stand that the composer shows as attachments. */
  pasted: listOf(pastedSchema, (range) => range),
  /** Pictures that go along: their digests, never their bytes. */
  pictures: listOf(pictureSchema, (picture) => picture, MOST_PICTURES),
  scroll: v.optional(v.fallback(scrollSchema, "end"), "end"),
  queue: listOf(
    v.object({
      text: v.string(),
      pasted: listOf(pastedSchema, (range) => range),
      pictures: listOf(pictureSchema, (picture) => picture, MOST_PICTURES),
    }),
    ({ text, ...enclosed }, index) => ({
      id: `q${index}`,
      text,
      ...enclosedIn(enclosed),
    }),
  ),
  /** URIs of files that are excluded from what goes along. */
  excluded: listOf(v.string(), asItIs),
  /** The id of the compression that runs; empty if none does. */
  compressing: v.optional(v.fallback(v.string(), ""), ""),
  /** Ids of previews that were discarded. */
  discarded: listOf(v.string(), asItIs),
});

export type SavedDraft = Immutable<v.InferOutput<typeof savedDraftSchema>>;

export const EMPTY_DRAFT: SavedDraft = {
  draft: "",
  pasted: [],
  pictures: [],
  scroll: "end",
  queue: [],
  excluded: [],
  compressing: "",
  discarded: [],
};

/** The file's text. */
export function encodeDraft(saved: SavedDraft): string {
  return `${JSON.stringify({ version: 1, ...saved })}\n`;
}

/** What a file says; whatever in it is not as it should be is left out. Never throws. */
export function decodeDraft(text: string): SavedDraft {
  try {
    const parsed = v.safeParse(savedDraftSchema, JSON.parse(text));
    return parsed.success ? parsed.output : EMPTY_DRAFT;
  } catch {
    return EMPTY_DRAFT; // no JSON
  }
}
