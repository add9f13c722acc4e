/** The rows of the transcript, and what hangs on them: receipts, errors, buttons. */
import * as v from "valibot";
import { commandUse, compressionResult, constraint, selectionCut, textExtent, usage } from "../protocol.schemas.gen.js";
import { nameIn, type Of } from "./schema.js";
import { ANSWER_STATES, DIVIDER_STATES, NOTICE_LEVELS, PROMPT_OUTCOMES } from "./statuses.js";
import { steerSchema, toolSchema } from "./tools.js";
import { enclosedEntries } from "./written.js";

export const actionSchema = v.object({
  id: v.picklist([
    "setApiKey",
    "retry",
    "compress",
    "openSettingsFile",
    "openSettings",
    "manageTrust",
    "restartDaemon",
    "showLog",
    "choosePython",
    "forkSession",
    "takeOver",
    "newSession",
    "useOffline",
    "installUpdate",
    "reloadWindow",
    "openWalkthrough",
    "continueAnyway",
    "remindLater",
    "resumeTurn",
  ]),
  label: v.string(),
  /** What the action is about: a turn's id, a file with a line, a URL of ours. */
  argument: v.exactOptional(v.string()),
});

/** Something a button does. The page sends it back as it is. */
export type Action = Of<typeof actionSchema>;
export type ActionId = Action["id"];

export const errorSchema = v.object({
  kind: v.string(),
  message: v.string(),
  hint: v.string(),
  retryable: v.boolean(),
  /** When a retry makes sense, Unix milliseconds. */
  retryAt: v.exactOptional(v.number()),
  actions: v.array(actionSchema),
});

/** An error, mapped by its kind to what mends it. */
export type ErrorView = Of<typeof errorSchema>;

const base = {
  /** Stable for the life of the conversation: `p:<turnId>`, `a:<turnId>`, `c:<compressionId>`, `n:<number>`. */
  id: v.string(),
  /** Rises whenever the row changes. */
  version: v.number(),
  /** Unix milliseconds, if known. */
  time: v.exactOptional(v.number()),
  /** The compression that hides it from the model. It stays readable, folded. */
  hiddenBy: v.exactOptional(v.string()),
};

const receiptSchema = v.object({
  kind: v.picklist(["full", "delta"]),
  /** Absolute paths, or paths inside the workspace. */
  files: v.array(v.string()),
  /** Those of `files` that are open no more. */
  closed: v.exactOptional(v.array(v.string())),
  /** How much was sent of the files whose text it is about, by the names in `files`. */
  texts: v.exactOptional(v.array(textExtent)),
  selectionChars: v.number(),
  selectionCut: v.exactOptional(selectionCut),
  /** Open files that were left out because only so many go along. */
  moreOpenFiles: v.exactOptional(v.number()),
  withheld: v.array(v.object({ name: v.string(), reason: v.string() })),
  /** Files that the prompt named with `@`. */
  mentioned: v.array(v.string()),
});

/** What of the editor went along with a prompt, and what did not. */
export type Receipt = Of<typeof receiptSchema>;

/** The pin of the turn's prompt, if it is pinned; the prompt and the answer say the same of it. */
const pinId = v.exactOptional(v.string());

const promptSchema = v.object({
  ...base,
  kind: v.literal("prompt"),
  turnId: v.string(),
  text: v.string(),
  ...enclosedEntries,
  receipt: v.exactOptional(receiptSchema),
  outcome: v.exactOptional(nameIn(PROMPT_OUTCOMES)),
  /** The slash command that it is; `text` is what was typed. */
  command: v.exactOptional(commandUse),
  pinId,
  /** The rules that it brought, pins left out. */
  rules: v.exactOptional(v.array(constraint)),
});

/** A prompt of the user. */
export type PromptRow = Of<typeof promptSchema>;

const answerSchema = v.object({
  ...base,
  kind: v.literal("answer"),
  turnId: v.string(),
  model: v.string(),
  state: nameIn(ANSWER_STATES),
  /** A compression hides some of its rounds and not its end, which stays in sight. */
  isPartHidden: v.exactOptional(v.boolean()),
  /** Markdown, as far as it came. */
  text: v.string(),
  thoughts: v.string(),
  /** How long it thought, ms, once it has begun to answer. */
  thoughtMs: v.exactOptional(v.number()),
  /** In the order in which they were called. */
  tools: v.array(toolSchema),
  /** What the person said while it was made. */
  steers: v.exactOptional(v.array(steerSchema)),
  pinId,
  usage: v.exactOptional(usage),
  durationMs: v.exactOptional(v.number()),
  finishReason: v.exactOptional(v.string()),
  /** Why it was ended early and what can be done, in the daemon's words. */
  endMessage: v.exactOptional(v.string()),
  /** The turn ended early, and can go on where it stands. */
  canGoOn: v.exactOptional(v.literal(true)),
  error: v.exactOptional(errorSchema),
  /** What it waits for, since as much goes on at once as the settings allow: other requests or commands; "": nothing. */
  waitsFor: v.exactOptional(v.picklist(["", "model", "process"])),
  /** From 1; above 1 an earlier attempt was discarded. */
  attempt: v.number(),
  /** When the current state began, Unix milliseconds; for "still stopping" and elapsed times. */
  since: v.exactOptional(v.number()),
});

/** The answer to a prompt, from the moment the prompt is sent. */
export type AnswerRow = Of<typeof answerSchema>;

const dividerSchema = v.object({
  ...base,
  kind: v.literal("divider"),
  compressionId: v.string(),
  state: nameIn(DIVIDER_STATES),
  trigger: v.picklist(["manual", "auto", "background"]),
  phase: v.exactOptional(v.string()),
  block: v.exactOptional(v.number()),
  blocks: v.exactOptional(v.number()),
  /** Unix milliseconds of the start; the page counts the seconds itself. */
  startedAt: v.exactOptional(v.number()),
  result: v.exactOptional(compressionResult),
  /** Turns that it hides from the model. */
  hiddenTurns: v.exactOptional(v.number()),
  /** Whether this is the one that "Undo" would take back now. */
  canUndo: v.exactOptional(v.boolean()),
  /** Its undo was asked for, and waits for the end of an answer. */
  undoWaits: v.exactOptional(v.boolean()),
  rating: v.exactOptional(v.number()),
  error: v.exactOptional(errorSchema),
});

/** A compression: one row, updated in place from start to undo. */
export type DividerRow = Of<typeof dividerSchema>;

const noticeSchema = v.object({
  ...base,
  kind: v.literal("notice"),
  level: nameIn(NOTICE_LEVELS),
  text: v.string(),
  actions: v.array(actionSchema),
  /** What one about masked outputs has counted so far. */
  counts: v.exactOptional(v.object({ outputs: v.number(), tokens: v.number() })),
  /** What one about hooks sums up, each once with how often it was: shown to who unfolds it. */
  details: v.exactOptional(v.array(v.object({ text: v.string(), times: v.number() }))),
  /** How often hooks stepped in, and how often that failed. */
  times: v.exactOptional(v.number()),
  failures: v.exactOptional(v.number()),
});

/** A line that is nobody's: the model was changed, a loop was found, the turn limit is reached. */
export type NoticeRow = Of<typeof noticeSchema>;

export const rowSchema = v.variant("kind", [promptSchema, answerSchema, dividerSchema, noticeSchema]);

/** One row of the transcript. The order of their indexes is the order of the conversation. */
export type Row = Of<typeof rowSchema>;
