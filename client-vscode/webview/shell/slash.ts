/** The commands of the composer: `/` at the start of a prompt. */
import type { SlashCommandInfo } from "../../src/protocol.gen.js";

/** Translates a text of the interface. */
type Translate = (text: string) => string;

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

/** A command as the list shows it; texts are in the person's language or its author's. */
export interface SlashMatch {
  readonly name: string;
  /** What may follow it; empty if nothing, or if that is not known. */
  readonly argument: string;
  readonly description: string;
  /** Something may follow. */
  readonly isOpen: boolean;
  /** What is put in: what must follow by name begins behind it, else a space where something may follow. */
  readonly text: string;
}

/** Longest list; what is typed makes it shorter. */
const mostMatches = 100;

/** So many letters are looked for within a name too. */
const leastInside = 2;

/** The commands that begin with what is typed, then those that have it in their names, or undefined if no command is being typed at the caret. `own` are the daemon's. */
export function slashMatches(
  text: string,
  caret: number,
  own: readonly SlashCommandInfo[],
  t: Translate,
): readonly SlashMatch[] | undefined {
  const typed = /^\/([\w.:-]*)$/.exec(text.slice(0, caret))?.[1]?.toLowerCase();
  if (typed === undefined || /^[\w.:-]/.test(text.slice(caret))) return undefined;
  const builtIn = slashCommands.map(({ name, argument, description }) => ({
    name,
    argument: argument === "" ? "" : t(argument),
    description: t(description),
    isOpen: argument !== "",
    text: argument === "" ? `/${name}` : `/${name} `,
  }));
  const others = own.filter(isCustom).map((command) => ({
    name: command.name,
    argument: argumentText(command, t),
    description: describedText(command, t),
    isOpen: true,
    text: [`/${command.name}`, needed(command)].join(" "),
  }));
  const all = [...builtIn, ...others].map((match) => ({ match, at: match.name.toLowerCase().indexOf(typed) }));
  const found = [...all.filter(({ at }) => at === 0), ...all.filter(({ at }) => at > 0 && typed.length >= leastInside)];
  return found.length > 0 ? found.slice(0, mostMatches).map(({ match }) => match) : undefined;
}

function isCustom({ scope }: SlashCommandInfo): boolean {
  return scope !== "builtIn";
}

/** The arguments that must be given, to be filled in. */
function needed({ arguments: named = [] }: SlashCommandInfo): string {
  return named
    .filter(({ isRequired }) => isRequired === true)
    .map(({ name }) => `--${name}=`)
    .join(" ");
}

function argumentText({ hint = "", arguments: named = [] }: SlashCommandInfo, t: Translate): string {
  if (named.length > 0) return named.map(({ name }) => `--${name}`).join(" ");
  return hint === "" ? "" : t("arguments");
}

/** Its description, and whose it is. */
function describedText({ description, scope, runsCommands, owner = "" }: SlashCommandInfo, t: Translate): string {
  const whose = {
    builtIn: "",
    user: t("yours"),
    workspace: t("of this project"),
    extension: "", // its description begins with the extension's name
    server: owner,
  }[scope];
  return [description, whose, runsCommands === true ? t("runs commands") : ""]
    .filter((fact) => fact !== "")
    .join(" · ");
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

/** A path, such as `/etc/hosts`, and a comment, such as `// here`, are ordinary prompts. `own` are the daemon's commands. */
export function readSlash(prompt: string, own: readonly SlashCommandInfo[] = []): SlashReading {
  const text = prompt.trim();
  if (text === "/" || text === "//") return { kind: "unknown", command: text };
  const [, slash = "", named = ""] = /^\/(\/?)([\w.:-]+)(?!\S)/.exec(text) ?? [];
  if (own.some((command) => isCustom(command) && [command.name, ...(command.aliases ?? [])].includes(named)))
    return slash === "" ? { kind: "prompt" } : { kind: "escaped", shown: `/${named}` };
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
