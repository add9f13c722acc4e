import type { Translate } from "../../chat/pure/words.js";

/** What is wrong with a text as a key; nothing is known of a key's form but that it has no spaces and is neither short nor endless. */
export function keyFault(text: string, t: Translate): string | undefined {
  const key = text.trim();
  if (key === "") return t("Paste a key.");
  if (!/^[\x21-\x7e]+$/.test(key)) return t("A key has no spaces and no characters beyond ASCII.");
  return key.length < 10 || key.length > 4_096 ? t("This is no key: it is too short or too long.") : undefined;
}
