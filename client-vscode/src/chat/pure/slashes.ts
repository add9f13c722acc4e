/** Prompts of the log that begin with a slash: what was text stays text when it is sent again, what was a command stays one. */
import type { PromptRow } from "../../panel/contract.js";

/** A prompt as it is sent again: for the daemon two slashes stand for one, which begins no command. */
export function asSentAgain({ text, command }: Pick<PromptRow, "text" | "command">): string {
  return command === undefined ? asText(text) : text;
}

/** A text that begins like a command, as the daemon takes it for text. */
export function asText(text: string): string {
  return /^\s*\/[A-Za-z][\w-]*(?!\S)/.test(text) ? text.replace("/", "//") : text;
}
