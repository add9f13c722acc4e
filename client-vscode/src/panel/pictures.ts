/** Pictures that go along with a prompt. Their bytes are kept by the host; everywhere else a picture is its digest, and what it is called. */
import * as v from "valibot";
import type { Of } from "./schema.js";

/** What Gemini takes, and what a file of it is called. */
export const PICTURE_TYPES = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/heic": "heic",
  "image/heif": "heif",
} as const;

export type PictureType = keyof typeof PICTURE_TYPES;

/** Most pictures of one prompt. */
export const MOST_PICTURES = 10;

/** Bytes of all pictures of one prompt, as in the daemon: a request takes 20 MB, and they grow by a third in it. */
export const PICTURES_BYTES = 10 * 1024 * 1024;

/** Characters of the largest picture in base64. */
export const LONGEST_PICTURE = Math.ceil(PICTURES_BYTES / 3) * 4;

/** SHA-256 of the bytes, in hexadecimal digits: no name of a file leads anywhere else. */
export const digestSchema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const pictureSchema = v.object({
  digest: digestSchema,
  /** What the person calls it; may be empty. */
  name: v.pipe(v.string(), v.maxLength(255)),
  type: v.picklist(Object.keys(PICTURE_TYPES) as PictureType[]), // a literal has no keys but its own
  bytes: count,
});

export type Picture = Of<typeof pictureSchema>;

const HEIC_BRANDS = ["heic", "heix", "heim", "heis", "hevc", "hevx"];
const HEIF_BRANDS = ["mif1", "msf1"];

/** What kind of picture bytes are, by how they begin, whatever they are called; `undefined` for what Gemini does not take. */
export function pictureType(bytes: Uint8Array): PictureType | undefined {
  const text = (from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (text(0, 3) === "\xff\xd8\xff") return "image/jpeg";
  if (text(0, 4) === "RIFF" && text(8, 12) === "WEBP") return "image/webp";
  if (text(4, 8) !== "ftyp") return undefined;
  const brand = text(8, 12);
  if (HEIC_BRANDS.includes(brand)) return "image/heic";
  return HEIF_BRANDS.includes(brand) ? "image/heif" : undefined;
}
