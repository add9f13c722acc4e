/** The rows of tool calls: the same from an event, from the log, and from the daemon's question. */
import type { QuestionView, ToolRow } from "../../panel/contract.js";
import { exactJson, hasUnseen } from "../../panel/exact.js";
import { TOOL_STATES } from "../../panel/statuses.js";
import { TOOLS, type ToolKind } from "../../panel/tools.js";
import type { AskUserParams, CallRecord, ShownCall, ToolQuestion } from "../../protocol.gen.js";
import type { Translate } from "./words.js";

/** Longest output that a row carries, characters; the log has all of it. */
export const SHOWN_OUTPUT = 8_000;
/** Longest arguments, and longest text of a proposed edit, that a row shows, characters. */
const SHOWN_ARGUMENTS = 8_000;
/** Longest arguments that are edited in the panel, characters. */
const EDITABLE = 20_000;
/** How far values in values are set in, characters. */
const DEEPEST = 24;
/** Most characters, and most things, that a title names. */
const NAMED = 120;
const MOST_NAMED = 5;

type Arguments = Readonly<Record<string, unknown>>;

/** What rows are made with. */
export interface Words {
  readonly t: Translate;
  /** A path as people read it: inside its workspace folder. */
  readonly place: (path: string) => string;
}

/** The row of a call that has no result yet. `at`: characters of the answer's text before it. */
export function toolRow(
  call: { readonly id: string; readonly name: string; readonly args: Arguments; readonly at: number },
  state: ToolRow["state"],
  words: Words,
): ToolRow {
  const { id, name, args, at } = call;
  const href = hrefOf(args);
  return {
    id,
    name,
    kind: toolKind(name),
    title: titleOf(name, args, words),
    state,
    at,
    args: argumentsText(name, args, words).slice(0, SHOWN_ARGUMENTS),
    output: "",
    ...proposedDiff(name, args),
    ...(href === undefined ? {} : { href }),
  };
}

/** What the title does not say of what it is called with, for people: the whole line of a long command, of others a line for each. */
function argumentsText(name: string, args: Arguments, words: Words): string {
  const { kind, argument } = isKnown(name) ? TOOLS[name] : { kind: "other", argument: "" };
  const title = titleOf(name, args, words);
  const said = (value: unknown): boolean => typeof value === "string" && title.endsWith(value);
  const { command } = args;
  if (kind === "command" && typeof command === "string")
    return [said(command) ? "" : command, readable(unsaid(args, [...SAID, "is_background"]))]
      .filter(Boolean)
      .join("\n");
  if (kind === "edit" && typeof args["file_path"] === "string") return "";
  return readable(unsaid(args, said(args[argument]) || kind === "read" ? [argument] : []));
}

function unsaid(args: Arguments, said: readonly string[]): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !said.includes(name)));
}

/** Values as lines, what is in them set in. */
function readable(values: Arguments, indent = ""): string {
  return Object.entries(values)
    .map(([name, value]) => `${indent}${name}:${readableValue(value, indent)}`)
    .join("\n");
}

function readableValue(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (inner.length > DEEPEST) return " …";
  if (typeof value === "string")
    return value.includes("\n") ? ["", ...value.split("\n")].join(`\n${inner}`) : ` ${value}`;
  if (Array.isArray(value)) return value.map((one) => `\n${inner}-${readableValue(one, inner)}`).join("");
  if (typeof value === "object" && value !== null) return `\n${readable({ ...value }, inner)}`;
  return ` ${String(value)}`;
}

/** The same in one line. */
function inline(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return oneLine(String(value));
  if (depth > MOST_NAMED) return "…";
  const parts = Array.isArray(value)
    ? value.map((one) => inline(one, depth + 1))
    : Object.entries(value).map(([name, one]) => `${name}: ${inline(one, depth + 1)}`);
  return parts.join(", ");
}

/** What an edit would change, by its arguments alone; the daemon knows what it did change. */
function proposedDiff(name: string, args: Arguments): { readonly diff?: string } {
  if (!isKnown(name) || TOOLS[name].kind !== "edit") return {};
  const { old_string: before, new_string: after, content } = args;
  const added = typeof content === "string" ? content : after;
  if (typeof added !== "string") return {};
  const lines = (text: string, sign: string): string[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const diff = [...lines(typeof before === "string" ? before : "", "-"), ...lines(added, "+")].join("\n");
  return { diff: diff.slice(0, SHOWN_ARGUMENTS) };
}

/** What a call did, as the daemon tells people: of an edit what it changed. */
export function shownTool(tool: ToolRow, { diff = "", output = "", isCut = false }: ShownCall): ToolRow {
  if (diff + output === "") return tool; // it is not in the log yet
  const told = withOutput(tool, output);
  return { ...told, isTold: true, ...(diff === "" ? {} : { diff }), ...(isCut ? { isCut } : {}) };
}

/** Other arguments than it was called with. */
export function withArguments(tool: ToolRow, args: Arguments, words: Words): ToolRow {
  const { title, args: shown, href, diff } = toolRow({ ...tool, args }, tool.state, words);
  const { diff: _diff, ...rest } = tool;
  return {
    ...rest,
    title,
    args: shown,
    ...(diff === undefined ? {} : { diff }),
    ...(href === undefined ? {} : { href }),
  };
}

/** All of an output, as much of it as is shown: the end. */
export function withOutput(tool: ToolRow, output: string): ToolRow {
  const { isCut: _isCut, ...rest } = tool;
  return {
    ...rest,
    output: output.slice(-SHOWN_OUTPUT),
    ...(output.length > SHOWN_OUTPUT || tool.isCut === true ? { isCut: true } : {}),
  };
}

/** How a call ended: nothing is asked any more, and nothing runs. */
export function endedTool(tool: ToolRow, record: Omit<CallRecord, "callId" | "name">): ToolRow {
  const { question: _question, asks: _asks, startedAt: _startedAt, ...rest } = tool;
  const { outcome, summary, consent, durationMs, agentSessionId: agent } = record;
  return {
    ...rest,
    ...(agent === undefined || agent === "" ? {} : { agentSession: agent }),
    state: outcome,
    ...(summary === undefined || summary === "" ? {} : { summary }),
    ...(consent === undefined || consent === "" ? {} : { consent }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

/** It waits for a person. */
export function askedTool(tool: ToolRow, question: QuestionView): ToolRow {
  return { ...tool, state: "waiting", question };
}

/** The row of a call that is asked about and that none is known of: a subagent's names it. */
export function rowOfQuestion(asked: Omit<ToolQuestion, "sessionId">, at: number, words: Words): ToolRow {
  const { toolCallId: id, name, args, agent = "" } = asked;
  const row = toolRow({ id, name, args, at }, "waiting", words);
  return agent === "" ? row : { ...row, title: words.t("{0}: {1}", agent, row.title) };
}

/** It waits for the person's own words. */
export function askingTool(tool: ToolRow, { question, options = [], allowsText = true }: AskUserParams): ToolRow {
  return { ...tool, state: "waiting", asks: { isOurs: true, question, options, allowsText } };
}

/** What was under way, and will not go on. */
export function cutShort(tool: ToolRow): ToolRow {
  return TOOL_STATES[tool.state].isEnded ? tool : endedTool(tool, { outcome: "interrupted" });
}

/** Nobody is asked any more. */
export function settledTool(tool: ToolRow): ToolRow {
  const { question: _question, asks: _asks, ...rest } = tool;
  return rest;
}

/** What the page needs of a question; the text of the file stays here. */
export function questionView(asked: Omit<ToolQuestion, "sessionId">, isOurs: boolean): QuestionView {
  const { command, cwd, path, diff, rule } = asked;
  const editable = editableOf(asked);
  const args = unsaidArguments(asked);
  return {
    isOurs,
    risk: asked.risk,
    parts: asked.parts ?? [],
    sandbox: asked.sandbox ?? "",
    mode: asked.mode ?? "ask",
    reason: asked.reason ?? "",
    warnings: asked.warnings ?? [],
    irreversible: asked.irreversible ?? "",
    hasText: asked.path !== undefined && asked.newContent !== undefined,
    ruleText: asked.ruleText ?? "",
    ...(command === undefined ? {} : { command }),
    ...(cwd === undefined || cwd === "" ? {} : { cwd }),
    ...(path === undefined ? {} : { path }),
    ...(diff === undefined || diff === "" ? {} : { diff }),
    ...(args === undefined ? {} : { args }),
    ...(editable === undefined ? {} : { editable }),
    ...(rule === undefined ? {} : { rule: ruleOf(rule) }),
  };
}

function ruleOf({
  tool,
  decision,
  path,
  command,
  exact,
}: NonNullable<ToolQuestion["rule"]>): NonNullable<QuestionView["rule"]> {
  return {
    tool,
    decision,
    ...(path === undefined || path === null ? {} : { path }),
    ...(command === undefined || command === null ? {} : { command }),
    ...(exact === true ? { exact } : {}),
  };
}

/** What a command is called with that its line and its folder say, or that does nothing. */
const SAID: ReadonlySet<string> = new Set(["command", "dir_path", "description"]);

/** A person says yes to all arguments: those that nothing else in the question says are shown as they are. */
function unsaidArguments({ command, args, path, diff }: Omit<ToolQuestion, "sessionId">): string | undefined {
  if (command === undefined && path !== undefined && diff !== undefined && diff !== "") return undefined;
  const said = command !== undefined && args["command"] === command ? SAID : new Set<string>();
  const unsaid = Object.entries(args).filter(([name]) => !said.has(name));
  return unsaid.length === 0 ? undefined : exactJson(Object.fromEntries(unsaid));
}

/**
 * A command line is edited as it is, other arguments as JSON; the text of a file in the diff editor. What would look otherwise in a field
 * than it is, is not edited there.
 */
function editableOf({
  command,
  args,
  newContent,
}: Omit<ToolQuestion, "sessionId">): NonNullable<QuestionView["editable"]> | undefined {
  if (command !== undefined && args["command"] === command)
    return hasUnseen(command) ? undefined : { what: "command", text: command };
  if (newContent !== undefined || Object.keys(args).length === 0) return undefined;
  const text = exactJson(args);
  return text.length > EDITABLE ? undefined : { what: "arguments", text };
}

/** What kind of tool it is, by its name. */
export function toolKind(name: string): ToolKind {
  return isKnown(name) ? TOOLS[name].kind : "other";
}

/** "Run npm test"; a tool of another release by its name. */
function titleOf(name: string, args: Arguments, { t, place }: Words): string {
  // A server's tool: what it is asked with is what a person says yes to.
  if (!isKnown(name)) return `${name} ${shortened(inline(args))}`.trim();
  const { title, argument, kind } = TOOLS[name];
  const isPath = kind === "read" || kind === "edit";
  const shown = (one: string): string => (isPath ? place(one) : argument === "pattern" ? plainWord(one) : one);
  const names = argument === "" ? [] : namesOf(args[argument]).map(shown);
  return t(title, shortened(oneLine(names.join(", ")))).trim();
}

/** What a call is about: a text, a number, several, or the questions of a list. */
function namesOf(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.slice(0, MOST_NAMED).flatMap(namesOf);
  return typeof value === "object" && value !== null && "question" in value ? namesOf(value.question) : [];
}

/** A pattern for one whole word is shown as the word. */
function plainWord(pattern: string): string {
  return /^\\b([\w$]+)\\b$/.exec(pattern)?.[1] ?? pattern;
}

function oneLine(text: string): string {
  const [first = "", ...more] = text.trim().split("\n");
  return more.length === 0 ? first : `${first} …`;
}

function shortened(text: string): string {
  return text.length > NAMED ? `${text.slice(0, NAMED - 1)}…` : text;
}

/** The file that it is about, with the line where that is known. */
function hrefOf(args: Arguments): string | undefined {
  const path = args["file_path"];
  if (typeof path !== "string" || path === "") return undefined;
  const line = args["start_line"];
  return typeof line === "number" && Number.isInteger(line) && line > 0 ? `${path}#L${line}` : path;
}

function isKnown(name: string): name is keyof typeof TOOLS {
  return Object.hasOwn(TOOLS, name);
}
