/** Prompts of the log that begin with a slash: what was text stays text when it is sent again, what was a command stays one. */
import type { PromptRow, Written } from "../../panel/contract.js";
import { enclosedIn } from "../../panel/written.js";

/** A prompt as it is sent again: for the daemon two slashes stand for one, which begins no command. */
export function asSentAgain(prompt: Written & Pick<PromptRow, "command">): Written {
  const written = { text: prompt.text, ...enclosedIn(prompt) };
  return prompt.command === undefined ? asLogged(written) : written;
}

/** A prompt that is text, whatever it begins with, as the daemon takes it for that. */
export function asLogged(written: Written): Written {
  const text = asText(written.text);
  if (text === written.text) return written;
  const at = text.indexOf("/");
  const pasted = (written.pasted ?? []).map(({ start, length }) =>
    start > at ? { start: start + 1, length } : { start, length: at < start + length ? length + 1 : length },
  );
  return { text, ...enclosedIn({ ...written, pasted }) };
}

/** A text that begins like a command, as the daemon takes it for text. */
export function asText(text: string): string {
  return /^\s*\/[A-Za-z][\w-]*(?!\S)/.test(text) ? text.replace("/", "//") : text;
}
