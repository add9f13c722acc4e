/** Prompts of the log that begin with a slash: they are text, and stay text when they are sent again. */

/** A text that begins like a command, as the daemon takes it for text: two slashes stand for one. */
export function asText(text: string): string {
  return /^\s*\/[A-Za-z][\w-]*(?!\S)/.test(text) ? text.replace("/", "//") : text;
}
