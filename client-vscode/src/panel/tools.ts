/** The calls of tools in an answer, what a person is asked about them, and what they may do unasked. */
import * as v from "valibot";
import { nameIn, type Of } from "./schema.js";
import { TOOL_STATES } from "./statuses.js";
import { enclosedEntries } from "./written.js";

/** What a kind of tool is drawn with, and whether neighbours of it are put together once they are done. */
export const TOOL_KINDS = {
  read: { icon: "file", isQuiet: true },
  search: { icon: "search", isQuiet: true },
  edit: { icon: "edit", isQuiet: false },
  command: { icon: "terminal", isQuiet: false },
  network: { icon: "globe", isQuiet: false },
  question: { icon: "help", isQuiet: false },
  note: { icon: "tasks", isQuiet: false },
  agent: { icon: "fork", isQuiet: false },
  other: { icon: "tool", isQuiet: false },
} as const;

export type ToolKind = keyof typeof TOOL_KINDS;

/** What the tools of the daemon do, in words; `argument` is the name of what it is done to. English; translated where rows are made. */
export const TOOLS = {
  read_file: { kind: "read", title: "Read {0}", argument: "file_path" },
  read_many_files: { kind: "read", title: "Read {0}", argument: "include" },
  list_directory: { kind: "read", title: "List {0}", argument: "dir_path" },
  glob: { kind: "search", title: "Find files {0}", argument: "pattern" },
  grep_search: { kind: "search", title: "Search for {0}", argument: "pattern" },
  search_file_content: { kind: "search", title: "Search for {0}", argument: "pattern" },
  diagnostics: { kind: "read", title: "Look at the problems of {0}", argument: "paths" },
  recall: { kind: "search", title: "Recall {0}", argument: "query" },
  write_file: { kind: "edit", title: "Write {0}", argument: "file_path" },
  replace: { kind: "edit", title: "Edit {0}", argument: "file_path" },
  run_shell_command: { kind: "command", title: "Run {0}", argument: "command" },
  ask_user: { kind: "question", title: "Ask {0}", argument: "questions" },
  exit_plan_mode: { kind: "question", title: "Propose a plan", argument: "" },
  read_background_output: { kind: "read", title: "Look at the output of process {0}", argument: "pid" },
  stop_background_process: { kind: "command", title: "Stop process {0}", argument: "pid" },
  activate_skill: { kind: "read", title: "Use the skill {0}", argument: "name" },
  save_memory: { kind: "edit", title: "Remember {0}", argument: "fact" },
  invoke_agent: { kind: "agent", title: "Hand to a subagent: {0}", argument: "prompt" },
  write_todos: { kind: "note", title: "Plan the tasks", argument: "" },
} as const satisfies Readonly<
  Record<string, { readonly kind: ToolKind; readonly title: string; readonly argument: string }>
>;

/** What tools may do unasked; `short` is the label where there is little room. English; translated where it is shown. */
export const MODES = {
  ask: {
    label: "Ask first",
    short: "Ask",
    description: "Reads by itself, and asks before it changes or runs anything",
    announcement: "Gemini asks before it changes or runs anything",
  },
  plan: {
    label: "Plan",
    short: "Plan",
    description: "Reads and plans; nothing is changed or run",
    announcement: "Gemini reads and plans, and changes nothing",
  },
  acceptEdits: {
    label: "Accept edits",
    short: "Edits",
    description: "Edits files in the workspace by itself, and asks before it runs anything",
    announcement: "Gemini edits files by itself, and asks before it runs anything",
  },
} as const;

export type Mode = keyof typeof MODES;

/** How far a task of the model's list is. English; translated where it is shown. */
export const TASK_STATES = {
  pending: "to do",
  in_progress: "in progress",
  completed: "done",
  cancelled: "dropped",
} as const;

export const ruleSchema = v.object({
  tool: v.string(),
  decision: v.picklist(["allow", "ask", "deny"]),
  path: v.exactOptional(v.string()),
  /** The first words of a command. */
  command: v.exactOptional(v.array(v.string())),
  /** They are all its words. */
  exact: v.exactOptional(v.boolean()),
});

export type RuleView = Of<typeof ruleSchema>;

const questionSchema = v.object({
  /** This window is asked; else another one is, or nobody any more. */
  isOurs: v.boolean(),
  /** A kind of risk; a daemon of another release may have more than this one knows. */
  risk: v.string(),
  /** The whole line, and the pieces of it that rules speak of. */
  command: v.exactOptional(v.string()),
  parts: v.array(
    v.object({ text: v.string(), decision: v.picklist(["allow", "ask", "deny"]), reason: v.exactOptional(v.string()) }),
  ),
  cwd: v.exactOptional(v.string()),
  sandbox: v.string(),
  mode: nameIn(MODES),
  /** Why it asks. */
  reason: v.string(),
  warnings: v.array(v.string()),
  /** What cannot be taken back; empty if everything can. */
  irreversible: v.string(),
  /** The file that would be changed, absolute. */
  path: v.exactOptional(v.string()),
  /** Unified. */
  diff: v.exactOptional(v.string()),
  /** JSON: what it is called with, as far as neither the command nor the diff says it. */
  args: v.exactOptional(v.string()),
  /** There is a text of the file to be looked at and corrected in the diff editor. */
  hasText: v.boolean(),
  /** What can be edited before it runs: the command line, or all arguments as JSON. */
  editable: v.exactOptional(v.object({ what: v.picklist(["command", "arguments"]), text: v.string() })),
  /** What "for this chat" and "always" would allow; absent where they are not offered. */
  rule: v.exactOptional(ruleSchema),
  ruleText: v.string(),
});

/** What is asked before a tool acts. All texts are for people. */
export type QuestionView = Of<typeof questionSchema>;

const asksSchema = v.object({
  isOurs: v.boolean(),
  question: v.string(),
  options: v.array(v.string()),
  allowsText: v.boolean(),
});

/** What the model asks the person. */
export type AsksView = Of<typeof asksSchema>;

export const toolSchema = v.object({
  /** Of the call; no other in the session has it. */
  id: v.string(),
  name: v.string(),
  kind: nameIn(TOOL_KINDS),
  /** Verb and object. */
  title: v.string(),
  state: nameIn(TOOL_STATES),
  /** How many characters of the answer's text came before it. */
  at: v.number(),
  /** What it is called with that the title does not say, as lines for people. */
  args: v.string(),
  /** Unified: what it changed, or would. */
  diff: v.exactOptional(v.string()),
  /** As much as is shown: the end of a long one. */
  output: v.string(),
  isCut: v.exactOptional(v.boolean()),
  /** `diff` and `output` are what the daemon tells people of it once it has ended; else they are asked for when somebody looks. */
  isTold: v.exactOptional(v.boolean()),
  /** What came of it, in a few words. */
  summary: v.exactOptional(v.string()),
  /** Why it could run or not. */
  consent: v.exactOptional(v.string()),
  durationMs: v.exactOptional(v.number()),
  /** What it is about, as `open` takes it: a path, with a line. */
  href: v.exactOptional(v.string()),
  /** The session of the subagent that does it. */
  agentSession: v.exactOptional(v.string()),
  /** Unix milliseconds; while it runs. */
  startedAt: v.exactOptional(v.number()),
  /** It runs on after its call, or did. */
  background: v.exactOptional(v.picklist(["running", "exited", "stopped"])),
  question: v.exactOptional(questionSchema),
  asks: v.exactOptional(asksSchema),
});

/** One call of a tool. */
export type ToolRow = Of<typeof toolSchema>;

/** A prompt that was sent to the running turn. */
export const steerSchema = v.object({
  text: v.string(),
  ...enclosedEntries,
  at: v.number(),
  id: v.exactOptional(v.string()),
});

export type Steer = Of<typeof steerSchema>;

const taskSchema = v.object({ description: v.string(), status: nameIn(TASK_STATES) });

export type Task = Of<typeof taskSchema>;

const changedFileSchema = v.object({
  /** Absolute. */
  path: v.string(),
  /** Inside the workspace. */
  label: v.string(),
  kind: v.picklist(["created", "changed", "deleted", "renamed"]),
  /** Lines. */
  added: v.number(),
  removed: v.number(),
  canRevert: v.boolean(),
  /** Why it cannot be taken back, or that a command did it. */
  note: v.string(),
});

export type ChangedFile = Of<typeof changedFileSchema>;

/** What tools did and may do, around the transcript. */
export const workSchema = v.object({
  mode: nameIn(MODES),
  tasks: v.array(taskSchema),
  changes: v.object({
    files: v.array(changedFileSchema),
    added: v.number(),
    removed: v.number(),
    /** What is not among them. */
    note: v.string(),
  }),
  /** Questions that wait for this window's person. */
  questions: v.number(),
  /** A turn runs that a prompt can be sent into. */
  canSteer: v.boolean(),
});

export type WorkView = Of<typeof workSchema>;
