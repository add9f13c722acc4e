/**
 * A prompt as the parts that go to the daemon, and back. What was pasted is a part of its own: that is known again wherever the prompt is
 * read, in a log, an export, another editor. Together the parts say the text word for word.
 */
import { createHash } from "node:crypto";
import { PICTURE_TYPES, type Picture, type PictureType } from "../../panel/pictures.js";
import { COMMAND, isLongPaste, LONG_PASTE, piecesOf, type PastedRange, type Written } from "../../panel/written.js";

export type Part = Readonly<Record<string, unknown>>;

/** What `gemini/chat` takes as the prompt, with the parts that its pictures are behind its words. */
export function promptOf(written: Written, pictures: readonly Part[] = []): string | Part[] {
  if (COMMAND.test(written.text) && pictures.length === 0) return written.text;
  const texts = piecesOf(written).flatMap(({ text, isPasted }) => (isPasted ? [text] : shortened(text)));
  if (texts.length < 2 && pictures.length === 0) return written.text;
  return [...texts.filter((text) => text !== "").map((text) => ({ text })), ...pictures];
}

/** A picture and its bytes in base64. */
interface Found {
  readonly picture: Picture;
  readonly data: string;
}

/** What was found in parts: the digest of megabytes is not made twice. */
const found = new WeakMap<Part, Found>();

/** The picture that a part is, if Gemini takes such a one. */
export function pictureIn(part: Part): Found | undefined {
  const known = found.get(part);
  if (known) return known;
  const media = part["inlineData"];
  if (typeof media !== "object" || media === null || !("mimeType" in media) || !("data" in media)) return undefined;
  const { mimeType, data } = media;
  if (typeof data !== "string" || typeof mimeType !== "string" || !isPictureType(mimeType)) return undefined;
  const bytes = Buffer.from(data, "base64");
  const name = "displayName" in media && typeof media.displayName === "string" ? media.displayName : "";
  const digest = createHash("sha256").update(bytes).digest("hex");
  const made = { picture: { digest, name: name.slice(0, 255), type: mimeType, bytes: bytes.length }, data };
  found.set(part, made);
  return made;
}

function isPictureType(type: string): type is PictureType {
  return Object.hasOwn(PICTURE_TYPES, type);
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
