/** The interface's words: English in the source, the person's language from the host's sync. */

let translated: Readonly<Record<string, string>> = {};

/** Takes the strings of a sync, by their English text; an empty record means English. */
export function setStrings(strings: Readonly<Record<string, string>>): void {
  translated = strings;
}

/**
 * The text in the person's language, with `{0}`, `{1}`… replaced by the arguments. A placeholder without an argument stays as it is.
 * Arguments are put in as they are: they are never looked up, and a `{0}` inside one is not replaced again.
 */
export function t(text: string, ...args: readonly (string | number)[]): string {
  const pattern = Object.hasOwn(translated, text) ? (translated[text] ?? text) : text;
  return pattern.replace(/\{(\d+)\}/g, (placeholder, index: string) => {
    const argument = args[Number(index)];
    return argument === undefined ? placeholder : String(argument);
  });
}
