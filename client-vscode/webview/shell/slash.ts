/** The commands of the composer: `/` at the start of a prompt. */

export type SlashName = "compress" | "new" | "undo" | "context" | "find" | "model" | "export" | "help";

export interface SlashCommand {
  readonly name: SlashName;
  /** What may follow it, in English; empty if nothing. */
  readonly argument: string;
  readonly description: string;
}

/** In the order of the list. Texts are English: they are translated where they are shown. */
export const slashCommands: readonly SlashCommand[] = [
  { name: "compress", argument: "guidance", description: "Compress the chat" },
  { name: "undo", argument: "", description: "Undo the last compression" },
  { name: "context", argument: "", description: "Show what fills the context" },
  { name: "find", argument: "text", description: "Find in this chat" },
  { name: "model", argument: "name", description: "Choose the model" },
  { name: "new", argument: "", description: "Start a new chat" },
  { name: "export", argument: "", description: "Export this chat to a file" },
  { name: "help", argument: "", description: "Show commands and keys" },
];

/** The commands that begin with what is typed, or undefined if no command is being typed at the caret. */
export function slashMatches(text: string, caret: number): readonly SlashCommand[] | undefined {
  const typed = /^\/(\w*)$/.exec(text.slice(0, caret))?.[1]?.toLowerCase();
  if (typed === undefined || /^\w/.test(text.slice(caret))) return undefined;
  const found = slashCommands.filter((command) => command.name.startsWith(typed));
  return found.length > 0 ? found : undefined;
}

export interface SlashCall {
  readonly name: Exclude<SlashName, "compress">;
  readonly argument: string;
}

/**
 * The command that a prompt to be sent is, if the page carries it out. `/compress` is not among them: the daemon knows it, with its
 * guidance, and so it goes as a prompt. Anything else that begins with `/` is a prompt too, a path for example.
 */
export function parseSlash(prompt: string): SlashCall | undefined {
  const match = /^\/(\w+)(?:\s+([\s\S]*))?$/.exec(prompt.trim());
  const command = slashCommands.find(({ name }) => name === match?.[1]);
  if (command === undefined || command.name === "compress") return undefined;
  const argument = (match?.[2] ?? "").trim();
  return command.argument === "" && argument !== "" ? undefined : { name: command.name, argument };
}
