/**
 * What each status looks like, wherever it is shown: the panel, its announcements, the chat as Markdown, a notification. A status that is
 * added here gets its look at once; one that the daemon adds does not compile until it has a row.
 *
 * Texts are English. They are translated where they are shown, and collected by `scripts/strings.mjs`.
 */
import type { CompressionInfo, CompressionProgress, CompressionResult } from "../protocol.gen.js";

/** `calm` is read out when there is time, `urgent` at once and in every setting. */
export interface AnnouncedStatus {
  /** For a screen reader; empty if nothing is announced. */
  readonly announcement: string;
  readonly urgency: "calm" | "urgent";
}

// --------------------------------------------------------------------------------------------------------------------- answers

export interface AnswerLook extends AnnouncedStatus {
  /** More may come of itself: the text may grow, and a second prompt has to wait. */
  readonly isLive: boolean;
  /** It is what the session works on now; a queued one is live, but does not run. */
  readonly isRunning: boolean;
  /** Sending, thinking and streaming are one thing for who listens. */
  readonly isAnswering: boolean;
  /** A turning mark before the line. */
  readonly spins: boolean;
  /** The line under the head; empty while the answer speaks for itself. */
  readonly line: string;
  /** The line is wanted only while something is absent, which says it better. */
  readonly lineUnless?: "thoughts" | "error";
  /** The line of an answer without any text, if that is another one. */
  readonly lineIfEmpty?: string;
  /** The line after a second in this state. */
  readonly lineIfLong?: string;
  /** "Retry" stands beside the line, and not among the other buttons. */
  readonly retriesBesideLine?: true;
}

const LIVE = { isLive: true, isRunning: true, isAnswering: false, spins: false, urgency: "calm" } as const;
const ENDED = { isLive: false, isRunning: false, isAnswering: false, spins: false, urgency: "calm" } as const;
const ANSWERING = { ...LIVE, isAnswering: true, announcement: "Gemini is answering" } as const;

/** `sending` until the first event; `waiting` when a tool asks. */
export const ANSWER_STATES = {
  queued: { ...LIVE, isRunning: false, line: "Queued", announcement: "Prompt queued" },
  sending: { ...ANSWERING, spins: true, line: "Sending…" },
  // The fold of the thoughts says so once there are some.
  thinking: { ...ANSWERING, spins: true, line: "Thinking…", lineUnless: "thoughts" },
  streaming: { ...ANSWERING, line: "" },
  // A tool runs, or ran just now; its row says what it does.
  working: { ...ANSWERING, spins: true, line: "Working…" },
  // The row of the tool says what is asked, and who listens is told that.
  waiting: { ...LIVE, line: "Waits for your answer", announcement: "" },
  stopping: {
    ...LIVE,
    spins: true,
    line: "Stopping…",
    lineIfLong: "Still stopping…",
    announcement: "Stopping",
  },
  done: { ...ENDED, line: "", announcement: "Answer finished" },
  stopped: {
    ...ENDED,
    line: "Stopped. What came is kept above.",
    lineIfEmpty: "Stopped before it began",
    retriesBesideLine: true,
    announcement: "Stopped",
  },
  failed: {
    ...ENDED,
    line: "Failed",
    lineUnless: "error",
    announcement: "The answer failed",
    urgency: "urgent",
  },
  blocked: {
    ...ENDED,
    line: "Gemini gave no answer to this",
    lineUnless: "error",
    announcement: "The answer failed",
    urgency: "urgent",
  },
} as const satisfies Readonly<Record<string, AnswerLook>>;

export type AnswerState = keyof typeof ANSWER_STATES;

/** The look of a state; what a state's row leaves out is `undefined`. */
export function answerLook(state: AnswerState): AnswerLook {
  return ANSWER_STATES[state];
}

/** A chat that is not shown, in the list of chats. */
export const OTHER_CHATS = {
  running: { label: "Answering…" },
  waiting: { label: "Asks you something" },
  answered: { label: "New answer" },
  failed: { label: "Could not answer" },
} as const;

/** How the turn of a prompt ended, unless it completed. `left`: nobody stopped it; `replaced`: another answer was asked for. */
export const PROMPT_OUTCOMES = {
  cancelled: { note: "Stopped by you" },
  left: { note: "Stopped when its window closed" },
  failed: { note: "Failed" },
  interrupted: { note: "Interrupted" },
  stopped: { note: "Ended early" },
  replaced: { note: "Answered anew below" },
} as const;

export type PromptOutcome = keyof typeof PROMPT_OUTCOMES;

export interface ToolLook {
  /** Behind its name; empty where its result speaks for itself. */
  readonly note: string;
  /** Nothing more comes of it. */
  readonly isEnded: boolean;
  /** For a screen reader, once; `{0}` is what it does. Empty if nothing is announced. */
  readonly announcement: string;
}

/** Where the call of a tool is; one that is done shows what came of it and how long it took. */
export const TOOL_STATES = {
  waiting: { note: "waiting", isEnded: false, announcement: "" },
  running: { note: "running", isEnded: false, announcement: "" },
  ok: { note: "", isEnded: true, announcement: "Done: {0}" },
  failed: { note: "failed", isEnded: true, announcement: "Failed: {0}" },
  declined: { note: "not done", isEnded: true, announcement: "Not done: {0}" },
  timedOut: { note: "took too long", isEnded: true, announcement: "Took too long: {0}" },
  interrupted: { note: "interrupted", isEnded: true, announcement: "Interrupted: {0}" },
} as const satisfies Readonly<Record<string, ToolLook>>;

export type ToolState = keyof typeof TOOL_STATES;

export const NOTICE_LEVELS = {
  info: { title: "Note" },
  warning: { title: "Warning" },
  error: { title: "Error" },
} as const;

// ---------------------------------------------------------------------------------------------------------------- compressions

/** What a person can do with a compression from its row. */
export const COMPRESSION_ACTIONS = {
  view: { label: "View snapshot" },
  compare: { label: "Compare" },
  kept: { label: "What is kept" },
  edit: { label: "Edit" },
  apply: { label: "Apply" },
  discard: { label: "Discard" },
  renew: { label: "New preview" },
  undo: { label: "Undo" },
  /** In the place of `undo` while that waits. */
  cancelUndo: { label: "Cancel undo" },
  cancel: { label: "Cancel" },
  rate: { label: "Rate" },
} as const;

export type CompressionAction = keyof typeof COMPRESSION_ACTIONS;

export interface DividerLook extends AnnouncedStatus {
  readonly isRunning: boolean;
  readonly title: string;
  /** The title by what started the compression, where that matters. */
  readonly titleIfAuto?: string;
  readonly titleIfBackground?: string;
  /** The lines below: how far it is, how large before and after, why nothing was changed, or one sentence. */
  readonly lines: "progress" | "sizes" | "reason" | "sentence";
  readonly sentence?: string;
  /** The announcement of a result whose size is known. */
  readonly announcementWithSize?: string;
  /** The result's message follows the announcement. */
  readonly announcesMessage?: true;
  /** It hides turns, which the row can unfold. */
  readonly hidesTurns?: true;
  /** What was kept, put back and lost can be opened. */
  readonly hasFacts?: true;
  /** In force, so that it can be taken back until an event says otherwise. */
  readonly isUndoable?: true;
  /** Its buttons are the way on, not an aside. */
  readonly isProminent?: true;
  /** Stands in the chat as Markdown. */
  readonly isInMarkdown?: true;
  /** In this order. `undo` shows only where it is possible, `view` only where there is a snapshot, `kept` only where words are quoted beside it. */
  readonly actions: readonly CompressionAction[];
  /** What remains of them in a chat that another window holds. */
  readonly readOnlyActions: readonly CompressionAction[];
}

const INACTIVE = { isRunning: false, urgency: "calm", actions: [], readOnlyActions: [] } as const;

export const DIVIDER_STATES = {
  waiting: {
    ...INACTIVE,
    isRunning: true,
    isProminent: true,
    title: "Compression asked for",
    lines: "sentence",
    sentence: "It begins when the answer is complete.",
    announcement: "The chat is compressed when the answer is complete",
    actions: ["cancel"],
  },
  running: {
    ...INACTIVE,
    isRunning: true,
    isProminent: true,
    title: "Compressing",
    lines: "progress",
    announcement: "Compressing the chat",
    actions: ["cancel"],
  },
  compressed: {
    ...INACTIVE,
    title: "Chat compressed",
    titleIfAuto: "Chat compressed by itself",
    titleIfBackground: "Chat compressed in the background",
    lines: "sizes",
    announcement: "Chat compressed",
    announcementWithSize: "Chat compressed to {0} tokens",
    hidesTurns: true,
    hasFacts: true,
    isUndoable: true,
    isInMarkdown: true,
    actions: ["view", "compare", "kept", "undo", "rate"],
    readOnlyActions: ["view", "compare", "kept"],
  },
  truncated: {
    ...INACTIVE,
    title: "Tool outputs shortened",
    lines: "sizes",
    announcement: "Chat compressed",
    announcementWithSize: "Chat compressed to {0} tokens",
    isUndoable: true,
    isInMarkdown: true,
    actions: ["undo"],
  },
  unchanged: {
    ...INACTIVE,
    title: "Not compressed",
    lines: "reason",
    hasFacts: true,
    announcement: "Chat not compressed. {0}",
    announcesMessage: true,
  },
  cancelled: {
    ...INACTIVE,
    title: "Compression cancelled",
    lines: "sentence",
    sentence: "Nothing was changed.",
    announcement: "Compression cancelled",
  },
  preview: {
    ...INACTIVE,
    title: "Preview of a compression",
    lines: "sizes",
    hasFacts: true,
    announcement: "The preview of the compression is ready",
    isProminent: true,
    isInMarkdown: true,
    actions: ["apply", "edit", "compare", "kept", "discard"],
    readOnlyActions: ["view", "compare", "kept"],
  },
  outdated: {
    ...INACTIVE,
    title: "The preview is out of date",
    lines: "sentence",
    sentence: "It does not fit the chat any more. Nothing was applied.",
    announcement: "The preview of the compression is out of date",
    isProminent: true,
    actions: ["renew", "discard"],
    readOnlyActions: ["view"],
  },
  discarded: {
    ...INACTIVE,
    title: "Preview discarded",
    lines: "sentence",
    sentence: "Nothing was changed.",
    announcement: "The preview is discarded",
  },
  undone: {
    ...INACTIVE,
    title: "Compression undone",
    lines: "sentence",
    sentence: "The whole conversation is sent to Gemini again.",
    announcement: "Compression undone",
    isInMarkdown: true,
    actions: ["view"],
    readOnlyActions: ["view"],
  },
  failed: {
    ...INACTIVE,
    title: "Compression failed",
    lines: "reason",
    announcement: "The compression failed",
    urgency: "urgent",
    isInMarkdown: true,
  },
} as const satisfies Readonly<Record<string, DividerLook>>;

export type DividerState = keyof typeof DIVIDER_STATES;

/** The look of a state; what a state's row leaves out is `undefined`. */
export function dividerLook(state: DividerState): DividerLook {
  return DIVIDER_STATES[state];
}

/** What the daemon's status of a result means for its row, and what a notification offers where no row is in sight. */
export const COMPRESSION_STATUSES = {
  COMPRESSED: { state: "compressed", offers: ["undo", "show"] },
  CONTENT_TRUNCATED: { state: "truncated", offers: ["undo"] },
  PREVIEW: { state: "preview", offers: [] },
  UNDONE: { state: "undone", offers: [] },
  NOOP: { state: "unchanged", offers: [] },
  COMPRESSION_FAILED_EMPTY_SUMMARY: { state: "unchanged", offers: [] },
  COMPRESSION_FAILED_LOW_RETENTION: { state: "unchanged", offers: [] },
  COMPRESSION_FAILED_INFLATED_TOKEN_COUNT: { state: "unchanged", offers: [] },
  COMPRESSION_FAILED_TOKEN_COUNT_ERROR: { state: "unchanged", offers: [] },
} as const satisfies Readonly<
  Record<CompressionResult["status"], { readonly state: DividerState; readonly offers: readonly ("undo" | "show")[] }>
>;

/** What the state of a compression in the log means for its row. */
export const COMPRESSION_STATES = {
  inForce: "compressed",
  covered: "compressed",
  undone: "undone",
  preview: "preview",
  outdated: "outdated",
} as const satisfies Readonly<Record<CompressionInfo["state"], DividerState>>;

/** What a running compression does: `short` in its row, `long` where there is room for it. */
export const COMPRESSION_PHASES = {
  counting: { short: "counting tokens", long: "counting tokens" },
  truncating: { short: "shortening tool outputs", long: "shortening tool outputs" },
  hook: { short: "running hooks", long: "asking hooks" },
  summarising: { short: "summarising", long: "writing the snapshot" },
  verifying: { short: "verifying", long: "checking what was left out" },
  repairing: { short: "repairing", long: "asking for a readable snapshot" },
  installing: { short: "installing", long: "installing" },
} as const satisfies Readonly<Record<CompressionProgress["phase"], { readonly short: string; readonly long: string }>>;

/** A phase in words; one of another release by its name. */
export function phaseLook(phase: string): { readonly short: string; readonly long: string } {
  const looks: Readonly<Record<string, { readonly short: string; readonly long: string }>> = COMPRESSION_PHASES;
  return (Object.hasOwn(looks, phase) ? looks[phase] : undefined) ?? { short: phase, long: phase };
}
