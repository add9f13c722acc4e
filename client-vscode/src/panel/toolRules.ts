/** The rules of consent in words. English; translated where they are shown. */
import type { RuleList } from "../protocol.gen.js";

export type StoredRule = RuleList["rules"][number];

/** In the order in which they count. */
export const RULE_DECISIONS = {
  deny: { title: "Never", description: "Refused without asking, whatever the mode" },
  ask: { title: "Ask each time", description: "Asked about, whatever else would allow it" },
  allow: { title: "Allowed", description: "Done without asking" },
} as const satisfies Readonly<
  Record<StoredRule["rule"]["decision"], { readonly title: string; readonly description: string }>
>;

/** Where a rule stands, and so how long it holds. */
export const RULE_SOURCES = {
  session: { label: "in this chat" },
  user: { label: "always: your settings" },
  workspace: { label: "this workspace’s settings" },
  system: { label: "this machine’s settings" },
  editor: { label: "the editor’s settings" },
  default: { label: "built in" },
} as const satisfies Readonly<Record<StoredRule["source"], { readonly label: string }>>;

/** What a tool is called in a rule; one that is not among these by its own name. */
const SUBJECTS = {
  "*": "Any tool",
  read_file: "Read files",
  read_many_files: "Read several files",
  list_directory: "List folders",
  glob: "Find files",
  grep_search: "Search files",
  write_file: "Write files",
  replace: "Edit files",
  run_shell_command: "Run commands",
  web_fetch: "Read web pages",
  google_web_search: "Search the web",
} as const;

const NARROWED = {
  command: "Run commands that begin with",
  exact: "Run this command alone:",
} as const;

/** The folder in which alone a rule holds; nothing for one of every workspace. */
export function ruleFolder({ workspace }: StoredRule["rule"]): string | undefined {
  return workspace ?? undefined;
}

/** What a rule is about: a title, and the beginning of a command or the pattern of paths, empty for all. */
export function ruleSubject({ tool, path, command, exact }: StoredRule["rule"]): {
  readonly title: string;
  readonly code: string;
} {
  if (command !== undefined && command !== null && command.length > 0)
    return { title: exact === true ? NARROWED.exact : NARROWED.command, code: command.map(quoted).join(" ") };
  const title = Object.hasOwn(SUBJECTS, tool) ? SUBJECTS[tool as keyof typeof SUBJECTS] : tool;
  return { title, code: path ?? "" };
}

/** A word of a command; one with blanks in it as the shell would have it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
