/**
 * What the extension host and the panel's page say to each other. Types only: both sides compile against this file.
 *
 * The host holds the truth (the conversation, queue, draft, chips); the page shows it. Every message of the host carries `rev`, which
 * rises by one per message to one page; a page that sees a gap says `ready` again and gets a `snapshot`. A page that boots (first time,
 * moved to another side bar, window reloaded) says `ready` too, so a second one is normal. While the view is hidden the host sends
 * nothing, and a `snapshot` when it shows again; rows whose `version` the page has already are not painted again.
 */
import type { CompactionInfo, CompressionResult, ContextReport, ModelInfo, Pin, SessionInfo, Stats, Usage } from "../protocol.gen.js";

// ---------------------------------------------------------------------------------------------------------------- the transcript

/** One row of the transcript. `version` rises whenever the row changes; `index` order is the order of the conversation. */
export type Row = PromptRow | AnswerRow | DividerRow | NoticeRow;

export interface RowBase {
  /** Stable for the life of the conversation: `p:<turnId>`, `a:<turnId>`, `c:<compactionId>`, `n:<number>`. */
  readonly id: string;
  readonly version: number;
  /** Unix milliseconds, if known. */
  readonly time?: number;
  /** The compaction that hides it from the model. It stays readable, folded. */
  readonly hiddenBy?: string;
}

/** A prompt of the user. */
export interface PromptRow extends RowBase {
  readonly kind: "prompt";
  readonly turnId: string;
  readonly text: string;
  readonly receipt?: Receipt;
  /** How its turn ended, unless it completed. `replaced`: another answer was asked for. */
  readonly outcome?: "cancelled" | "failed" | "interrupted" | "stopped" | "replaced";
  /** The pin of this prompt, if it is pinned. */
  readonly pinId?: string;
}

/** What of the editor went along with a prompt, and what did not. */
export interface Receipt {
  readonly kind: "full" | "delta";
  /** Absolute paths, or paths inside the workspace. */
  readonly files: readonly string[];
  readonly selectionChars: number;
  readonly withheld: readonly { readonly name: string; readonly reason: string }[];
  /** Files that the prompt named with `@`. */
  readonly mentioned: readonly string[];
}

/** The answer to a prompt, from the moment the prompt is sent. */
export interface AnswerRow extends RowBase {
  readonly kind: "answer";
  readonly turnId: string;
  readonly model: string;
  readonly state: AnswerState;
  /** Markdown, as far as it came. */
  readonly text: string;
  readonly thoughts: string;
  /** How long it thought, ms, once it has begun to answer. */
  readonly thoughtMs?: number;
  readonly tools: readonly ToolRow[];
  readonly usage?: Usage;
  readonly durationMs?: number;
  readonly finishReason?: string;
  readonly error?: ErrorView;
  /** From 1; above 1 an earlier attempt was discarded. */
  readonly attempt: number;
  /** When the current state began, Unix milliseconds; for "still stopping" and elapsed times. */
  readonly since?: number;
}

/** `sending` until the first event; `waiting` when a tool asks for a yes. */
export type AnswerState = "queued" | "sending" | "thinking" | "streaming" | "waiting" | "stopping" | "done" | "stopped" | "failed" | "blocked";

export interface ToolRow {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly state: "running" | "waiting" | "done" | "failed" | "rejected";
  readonly args: string;
  readonly output: string;
  readonly durationMs?: number;
}

/** A compression: one row, updated in place from start to undo. */
export interface DividerRow extends RowBase {
  readonly kind: "divider";
  readonly compactionId: string;
  readonly state: "running" | "compressed" | "truncated" | "unchanged" | "cancelled" | "preview" | "undone" | "failed";
  readonly trigger: "manual" | "auto" | "background";
  readonly phase?: string;
  readonly block?: number;
  readonly blocks?: number;
  /** Unix milliseconds of the start; the page counts the seconds itself. */
  readonly startedAt?: number;
  readonly result?: CompressionResult;
  /** Turns that it hides from the model. */
  readonly hiddenTurns?: number;
  /** Whether this is the one that "Undo" would take back now. */
  readonly canUndo?: boolean;
  readonly rating?: number;
  readonly error?: ErrorView;
}

/** A line that is nobody's: the model was changed, a loop was found, the turn limit is reached. */
export interface NoticeRow extends RowBase {
  readonly kind: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  readonly actions: readonly Action[];
}

/** A run of rows that a compaction hides; `from` to `to`, both included, are row indexes. */
export interface HiddenRun {
  readonly from: number;
  readonly to: number;
  readonly compactionId: string;
  readonly turns: number;
}

// ------------------------------------------------------------------------------------------------------------------ around it

/** An error, mapped by its kind to what mends it. */
export interface ErrorView {
  readonly kind: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
  /** When a retry makes sense, Unix milliseconds. */
  readonly retryAt?: number;
  readonly actions: readonly Action[];
}

/** Something a button does. The page sends it back as it is. */
export interface Action {
  readonly id: ActionId;
  readonly label: string;
  /** What the action is about: a turn's id, a file with a line, a URL of ours. */
  readonly argument?: string;
}

export type ActionId =
  | "setApiKey" | "retry" | "compress" | "openSettingsFile" | "openSettings" | "manageTrust" | "restartDaemon" | "showLog" | "choosePython"
  | "forkSession" | "takeOver" | "newSession" | "useOffline" | "installUpdate" | "reloadWindow" | "openWalkthrough" | "continueAnyway";

/** Where the daemon is. */
export type DaemonView =
  | { readonly kind: "starting"; readonly detail: string }
  | { readonly kind: "ready"; readonly version: string }
  | { readonly kind: "lost"; readonly attempt: number; readonly retryAt: number }
  | { readonly kind: "failed"; readonly reason: "noPython" | "notFound" | "versionMismatch" | "crashed" | "environment"; readonly error: ErrorView };

/** An open file as the next prompt would take it along. */
export interface Chip {
  readonly uri: string;
  /** `tokenizer.py:80-94` for a selection, else the name. */
  readonly label: string;
  /** The path inside the workspace. */
  readonly detail: string;
  readonly isActive: boolean;
  /** False if the person took it out. */
  readonly included: boolean;
  /** Why the daemon withholds it, if it does. */
  readonly withheld?: string;
}

export interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
}

/** Everything but the rows. Sent whole whenever something of it changes. */
export interface PanelState {
  readonly daemon: DaemonView;
  readonly trusted: boolean;
  readonly provider: "gemini" | "offline";
  /** Why this provider answers, and what to do to change it; empty if there is nothing to say. */
  readonly providerHint: string;
  readonly session?: {
    readonly sessionId: string;
    readonly title: string;
    /** Another process holds it: it can be read, forked or taken over. */
    readonly heldBy?: number;
  };
  readonly job: { readonly kind: "idle" } | { readonly kind: "turn" | "compression"; readonly id: string; readonly stoppingSince?: number };
  readonly meter?: MeterView;
  readonly chips: readonly Chip[];
  /** True if the active editor's file was taken out, in words for the composer: nothing else of it goes along. */
  readonly pins: number;
  readonly queue: readonly QueuedPrompt[];
  readonly models: { readonly current: string; readonly asked?: string; readonly list: readonly ModelInfo[] };
  readonly hidden: readonly HiddenRun[];
  /** Above the composer: what is wrong now and what mends it. */
  readonly banner?: ErrorView & { readonly level: "info" | "warning" | "error" };
  readonly canUndo: boolean;
  readonly examples: readonly string[];
  readonly settings: PanelSettings;
}

export interface MeterView {
  readonly used: number;
  readonly limit: number;
  readonly source: "api" | "estimate";
  /** Tokens at which compression starts by itself; absent while that is off. */
  readonly compressionAt?: number;
}

export interface PanelSettings {
  readonly sendWith: "enter" | "ctrlEnter";
  /** Single letters act on a focused message (WCAG 2.1.4: can be turned off). */
  readonly messageKeys: boolean;
  readonly announce: "off" | "summary" | "answer";
  /** `mac` shows ⌘ in hints. */
  readonly platform: "mac" | "other";
  /** BCP 47, for numbers and times. */
  readonly locale: string;
}

/** Where the reader was: an offset in px below the top of a row, or at the end. */
export type ScrollAnchor = { readonly rowId: string; readonly offset: number } | "end";

// ---------------------------------------------------------------------------------------------------------------- host to page

export type ToPage = { readonly rev: number } & (
  | {
      /** Everything: after `ready`, after the view showed again, after another session was opened. */
      readonly type: "snapshot";
      readonly state: PanelState;
      readonly total: number;
      /** The newest rows (up to 200), beginning at index `from`. */
      readonly from: number;
      readonly rows: readonly Row[];
      /** Only in the answer to a booting page's `ready`; a page that is alive keeps its own. */
      readonly draft?: { readonly text: string; readonly scroll: ScrollAnchor };
      /** Strings of the interface in the person's language, by their English text; empty for English. */
      readonly strings: Readonly<Record<string, string>>;
    }
  | { readonly type: "state"; readonly state: PanelState }
  /** Rows changed or were added; `total` is the new number of rows. */
  | { readonly type: "rows"; readonly total: number; readonly from: number; readonly rows: readonly Row[] }
  /** Text is appended to an answer; `at` is the length that the page must have there (else it asks for the row again). `version` is the row's new one. */
  | { readonly type: "delta"; readonly rowId: string; readonly version: number; readonly field: "text" | "thoughts"; readonly at: number; readonly text: string }
  /** The answer to a `call`. */
  | { readonly type: "result"; readonly call: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "result"; readonly call: number; readonly ok: false; readonly error: ErrorView }
  /** A command of the palette or a key wants something of the page. */
  | { readonly type: "command"; readonly command: PageCommand }
  /** To be told to a screen reader at once. */
  | { readonly type: "announce"; readonly text: string; readonly assertive: boolean }
);

export type PageCommand =
  | { readonly do: "focusComposer" }
  /** Text at the caret of the composer; with `send` what stands there then is sent at once. */
  | { readonly do: "insert"; readonly text: string; readonly send?: boolean }
  /** Another chat is shown: its draft takes the place of what stands in the composer. */
  | { readonly do: "setDraft"; readonly text: string }
  | { readonly do: "find" }
  | { readonly do: "openMeter" }
  | { readonly do: "openSessions" }
  | { readonly do: "reveal"; readonly rowId: string };

// ---------------------------------------------------------------------------------------------------------------- page to host

export type FromPage =
  | { readonly type: "ready"; readonly boot: boolean }
  /** What is typed, debounced 300 ms, at once on blur; and where the reader is. */
  | { readonly type: "draft"; readonly text: string; readonly scroll: ScrollAnchor }
  | { readonly type: "focus"; readonly focused: boolean }
  /** `now` ends what runs and goes ahead of the queue; else a prompt that comes while something runs is queued. */
  | { readonly type: "send"; readonly text: string; readonly now?: boolean }
  | { readonly type: "stop" }
  | { readonly type: "action"; readonly action: Action }
  | { readonly type: "chip"; readonly uri: string; readonly included: boolean }
  | { readonly type: "queue"; readonly do: "edit" | "sendNow" | "remove"; readonly id: string; readonly text?: string }
  | { readonly type: "model"; readonly name: string }
  | { readonly type: "code"; readonly do: "copy" | "insert" | "apply"; readonly text: string; readonly language: string }
  | { readonly type: "copy"; readonly text: string }
  /** A link of an answer, or a file of a receipt. The host decides what may be opened. */
  | { readonly type: "open"; readonly href: string }
  | { readonly type: "turn"; readonly do: "retry" | "fork" | "pin" | "unpin" | "copy"; readonly turnId: string }
  | { readonly type: "compaction"; readonly do: "view" | "compare" | "edit" | "apply" | "discard" | "undo" | "cancel" | "rate"; readonly compactionId: string; readonly rating?: number }
  /** `preview` opens the preview, `compress` asks for guidance first if `guided`. */
  | { readonly type: "compress"; readonly preview: boolean; readonly guided: boolean }
  | { readonly type: "chat"; readonly do: "new" | "openAsMarkdown" | "export" | "rename" | "delete"; readonly sessionId?: string }
  | { readonly type: "openSession"; readonly sessionId: string }
  /** Files dropped on the composer, as `text/uri-list`. The host answers with an `insert` command. */
  | { readonly type: "drop"; readonly uris: readonly string[] }
  | { readonly type: "call"; readonly call: number; readonly request: PageRequest }
  /** A defect of the page, for the log: never text of the chat. */
  | { readonly type: "defect"; readonly message: string };

/** Questions of the page; each is answered by one `result`. */
export type PageRequest =
  /** Rows by index, both ends included; at most 200. → `{from, rows}` */
  | { readonly do: "rows"; readonly from: number; readonly to: number }
  /** → `{files: {path, label}[]}`: what `@` can name. */
  | { readonly do: "files"; readonly query: string }
  /** → `{sessions: SessionInfo[], nextCursor?}` */
  | { readonly do: "sessions"; readonly query: string; readonly cursor?: string }
  /** → `ContextReport` */
  | { readonly do: "context" }
  /** → `Stats` */
  | { readonly do: "stats" }
  /** → `{pins: Pin[]}` */
  | { readonly do: "pins" }
  | { readonly do: "unpin"; readonly pinId: string }
  /** Find in the open chat. → `{matches: {row: index, rowId, start, length}[]}`: offsets into the row's text; at most 1,000. */
  | { readonly do: "find"; readonly query: string; readonly caseSensitive: boolean }
  /** The user's prompts, newest first, for ↑. → `{prompts: string[]}` */
  | { readonly do: "prompts" }
  /** → `{compactions: CompactionInfo[]}` */
  | { readonly do: "compactions" };

export interface PageResults {
  readonly rows: { readonly from: number; readonly rows: readonly Row[] };
  readonly files: { readonly files: readonly { readonly path: string; readonly label: string }[] };
  readonly sessions: { readonly sessions: readonly SessionInfo[]; readonly nextCursor?: string };
  readonly context: ContextReport;
  readonly stats: Stats;
  readonly pins: { readonly pins: readonly Pin[] };
  readonly unpin: null;
  readonly find: { readonly matches: readonly { readonly row: number; readonly rowId: string; readonly start: number; readonly length: number }[] };
  readonly prompts: { readonly prompts: readonly string[] };
  readonly compactions: { readonly compactions: readonly CompactionInfo[] };
}
