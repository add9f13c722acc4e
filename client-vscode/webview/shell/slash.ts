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

/** Commands of the daemon, which go as prompts. */
const daemonCommands: readonly string[] = ["compress", "summarize", "compact"];

/** What a prompt to be sent is, going by the slash that it may begin with. */
export type SlashReading =
  | { readonly kind: "prompt" }
  /** The page carries it out. */
  | { readonly kind: "command"; readonly call: SlashCall }
  /** `//word`: the daemon takes one slash off, and so it begins no command. */
  | { readonly kind: "escaped"; readonly shown: string }
  /** It looks like a command and is none. */
  | { readonly kind: "unknown"; readonly command: string }
  /** A command, with something behind it that it does not take. */
  | { readonly kind: "extra"; readonly command: string };

/** A path, such as `/etc/hosts`, and a comment, such as `// here`, are ordinary prompts. */
export function readSlash(prompt: string): SlashReading {
  const text = prompt.trim();
  if (text === "/" || text === "//") return { kind: "unknown", command: text };
  const escaped = /^\/(\/[A-Za-z][\w-]*)(?!\S)/.exec(text)?.[1];
  if (escaped !== undefined) return { kind: "escaped", shown: escaped };
  const match = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(text);
  if (match === null) return { kind: "prompt" };
  const [, written = "", rest = ""] = match;
  const name = written.toLowerCase();
  if (daemonCommands.includes(name)) return { kind: "prompt" };
  const command = slashCommands.find((other) => other.name === name);
  if (command === undefined || command.name === "compress") return { kind: "unknown", command: `/${written}` };
  const argument = rest.trim();
  if (command.argument === "" && argument !== "") return { kind: "extra", command: `/${written}` };
  return { kind: "command", call: { name: command.name, argument } };
}
