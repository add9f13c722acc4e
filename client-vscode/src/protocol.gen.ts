// Generated from the server's types by `python -m schemas.generate`. Do not edit.

/** `initializationOptions`. Everything is optional. */
export interface InitializationOptions {
  readonly token?: string | null;
  /** Whether the user trusts the workspace. */
  readonly trusted?: boolean | null;
  /** Event types that are not sent to this client; `compressionStatus` stands for its notification, `*` for all of them. */
  readonly optOutEvents?: readonly string[];
  /** Requests that it answers: `confirmTool`, `openDiff`. */
  readonly supports?: readonly string[];
  readonly clientName?: string | null;
}

/** A new session. `systemInstruction` replaces the built-in one. */
export interface NewSessionParams {
  readonly model?: string | null;
  readonly title?: string | null;
  readonly systemInstruction?: string | null;
}

/** `query` is plain words, searched in everything that was said; `cursor` is the last page's `nextCursor`. */
export interface ListSessionsParams {
  readonly query?: string;
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** `takeOver` takes the session from another process that holds it. */
export interface OpenSessionParams {
  readonly sessionId: string;
  readonly takeOver?: boolean;
}

/** Hear a session's events, or no more. */
export interface SubscribeParams {
  readonly sessionId: string;
  readonly on: boolean;
}

/** `atTurn` is a turn's id, or its number among the completed turns, from 1; without it the fork is taken as things stand. */
export interface ForkParams {
  readonly sessionId: string;
  readonly atTurn?: string | number | null;
}

/** A session's new title. */
export interface RenameParams {
  readonly sessionId: string;
  readonly title: string;
}

/** A session by its id. */
export interface SessionIdParams {
  readonly sessionId: string;
}

/** `companion` loses nothing; `gemini-cli` is what Gemini CLI loads. */
export interface ExportParams {
  readonly sessionId: string;
  readonly format: "companion" | "gemini-cli";
}

/** The absolute path of a regular file of at most 256 MiB. */
export interface ImportParams {
  readonly path: string;
}

/** `model` is what the model gets, `transcript` everything ever said. Without `limit`: all of it. */
export interface HistoryParams {
  readonly view: "model" | "transcript";
  readonly sessionId?: string | null;
  readonly cursor?: string | null;
  readonly limit?: number | null;
}

/**
 * A prompt: text, or parts in Gemini's form. `@path` in it names a file or a folder of the workspace, which goes along.
 *
 * `replaces` is the id of the newest turn: it leaves the view when this answer is there, and stays if there is none.
 */
export interface ChatParams {
  readonly prompt: string | readonly Readonly<Record<string, unknown>>[];
  readonly sessionId?: string | null;
  readonly model?: string | null;
  readonly replaces?: string | null;
  readonly workDoneToken?: number | string | null;
}

/** The job to stop; without an id, whatever runs in the session. */
export interface CancelParams {
  readonly sessionId?: string | null;
  readonly turnId?: string | null;
  readonly compactionId?: string | null;
}

/** `instructions` says what the snapshot should heed; `preview` computes without changing anything. */
export interface CompressParams {
  readonly sessionId?: string | null;
  readonly instructions?: string;
  readonly preview?: boolean;
  readonly workDoneToken?: number | string | null;
}

/** A session; without an id the client's current one. */
export interface SessionParams {
  readonly sessionId?: string | null;
}

/** A preview to install, with an edited text if `snapshot` is given. */
export interface ApplyParams {
  readonly compactionId: string;
  readonly sessionId?: string | null;
  readonly snapshot?: string | null;
  readonly workDoneToken?: number | string | null;
}

/** The compaction to take back; without an id the newest in force. */
export interface UndoParams {
  readonly sessionId?: string | null;
  readonly compactionId?: string | null;
}

/** What a person thinks of a compaction. */
export interface RateParams {
  readonly compactionId: string;
  readonly rating: number;
  readonly sessionId?: string | null;
  readonly note?: string;
}

/** `query` is what somebody has typed behind the `@`; its signs need not stand in a row. */
export interface FilesParams {
  readonly query?: string;
  readonly limit?: number;
}

/** A text to pin, or the prompt of a turn. */
export interface PinParams {
  readonly sessionId?: string | null;
  readonly text?: string | null;
  readonly turnId?: string | null;
}

/** A pin to take away. */
export interface UnpinParams {
  readonly pinId: string;
  readonly sessionId?: string | null;
}

/** No fields: the params of a method that needs none. */
export type Empty = Readonly<Record<string, never>>;

/** The events after a number. */
export interface ReplayParams {
  readonly sessionId: string;
  readonly afterSeq: number;
}

/**
 * What the editor shows; a later notice replaces an earlier one.
 *
 * `excluded` are the URIs of files, open or not, that the person took out: they are withheld like ignored ones, until a notice names them no more.
 */
export interface IdeContextParams {
  readonly openFiles: readonly OpenFileReport[];
  readonly isTrusted?: boolean | null;
  readonly visibleRanges?: readonly VisibleRange[];
  readonly excluded?: readonly string[];
}

/** One open file. `lastFocusedAt` may be in any unit; larger is newer. */
export interface OpenFileReport {
  readonly uri: string;
  readonly lastFocusedAt: number;
  readonly isActive?: boolean;
  readonly cursor?: Position | null;
  readonly selection?: Range | null;
  readonly selectedText?: string | null;
}

/** A place in a text: a line and a character, both from 0; characters count code units of the negotiated encoding. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** From `start` to `end`, which is not part of it. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** What an editor shows of a file. */
export interface VisibleRange {
  readonly uri: string;
  readonly range: Range;
}

/** Pin the text of a range of an open document. */
export interface PinSelectionParams {
  readonly uri: string;
  readonly range: Range;
  readonly sessionId?: string | null;
}

/** The person's answer. */
export interface ConfirmToolResult {
  readonly outcome: "always" | "once" | "reject" | "session";
  readonly editedArgs?: Readonly<Record<string, unknown>> | null;
}

/** What became of it; `content` if the person edited it. */
export interface OpenDiffResult {
  readonly outcome: "accepted" | "rejected";
  readonly content?: string | null;
}

/** The `data` of every error. */
export interface FaultData {
  /** A word that a program can switch on; one for each code. */
  readonly kind: string;
  /** What happened, for people. */
  readonly message: string;
  /** What to do next; may be empty. */
  readonly hint: string;
  /** Whether trying again can help. */
  readonly retryable: boolean;
  /** How long to wait before that, in milliseconds, where somebody said so. */
  readonly retryAfterMs?: number;
  /** Which field is missing or ill-typed, as in `$.parts[0].text`. */
  readonly path?: string;
}

/** A prompt's turn has begun. */
export interface TurnStarted {
  readonly type: "turnStarted";
  readonly prompt: readonly Readonly<Record<string, unknown>>[];
  readonly model: string;
}

/** A prompt waits, `position` from 1, because a turn or a compression runs. */
export interface PromptQueued {
  readonly type: "promptQueued";
  readonly position: number;
  readonly because: "compression" | "turn";
}

/** A piece of the answer. */
export interface MessageDelta {
  readonly type: "messageDelta";
  readonly text: string;
  readonly attempt: number;
}

/** A piece of the model's reasoning, as far as it shows it. */
export interface ThoughtDelta {
  readonly type: "thoughtDelta";
  readonly text: string;
  readonly attempt: number;
}

/** The deltas of this attempt are void; the next attempt begins anew. */
export interface MessageDiscarded {
  readonly type: "messageDiscarded";
  readonly attempt: number;
  readonly reason: string;
}

/** A tool runs. */
export interface ToolCallStarted {
  readonly type: "toolCallStarted";
  readonly toolCallId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Output of a running tool. */
export interface ToolCallProgress {
  readonly type: "toolCallProgress";
  readonly toolCallId: string;
  readonly output: string;
}

/** A tool ended. */
export interface ToolCallCompleted {
  readonly type: "toolCallCompleted";
  readonly toolCallId: string;
  readonly outcome: string;
  readonly summary: string;
  readonly durationMs: number;
}

/** The answer is whole and stored. */
export interface TurnCompleted {
  readonly type: "turnCompleted";
  readonly finishReason: string;
  readonly usage: Usage;
  readonly durationMs: number;
}

/** Tokens of one answer as the provider counted them (or the offline model's ledger estimate). */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly thoughtTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** The turn ended in an error; the view is as before it. */
export interface TurnFailed {
  readonly type: "turnFailed";
  readonly error: ErrorData;
}

/** A fault as clients get it. */
export interface ErrorData {
  readonly code: number;
  readonly kind: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
}

/** The turn was cancelled, and by whom. */
export interface TurnCancelled {
  readonly type: "turnCancelled";
  readonly by: string;
}

/** Another model answers from here on. */
export interface ModelChanged {
  readonly type: "modelChanged";
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** The meter. `tokensUntilCompression` is absent while automatic compression is off. */
export interface UsageUpdated {
  readonly type: "usageUpdated";
  readonly tokenCount: number;
  readonly tokenLimit: number;
  readonly source: "api" | "estimate";
  readonly tokensUntilCompression?: number;
}

/** The receipt: what of the editor went to the model, what was withheld and why. */
export interface IdeContextSent {
  readonly type: "ideContextSent";
  readonly kind: "delta" | "full";
  readonly files: readonly string[];
  readonly selectionChars: number;
  readonly withheld: readonly Refusal[];
}

/** A file that may not be shown to a model: its base name only, and why in a few words. */
export interface Refusal {
  readonly name: string;
  readonly reason: string;
}

/** The files and folders that the prompt mentions: what of them went to the model, what was withheld and why. */
export interface FilesAttached {
  readonly type: "filesAttached";
  readonly files: readonly Attachment[];
  readonly withheld: readonly Refusal[];
}

/** A file or a folder that a prompt named, as it went along with it. */
export interface Attachment {
  /** Absolute; a folder's ends in a slash. */
  readonly path: string;
  /** First and last line that went along, from 1; absent for a folder and for an empty file. */
  readonly lines?: readonly [number, number];
  /** There is more than went along. */
  readonly truncated?: boolean;
}

/** The prompt does not fit; nothing was sent. */
export interface ContextWindowWillOverflow {
  readonly type: "contextWindowWillOverflow";
  readonly estimatedRequestTokenCount: number;
  readonly remainingTokenCount: number;
}

/** A compression runs. */
export interface CompactionStarted {
  readonly type: "compactionStarted";
  readonly compactionId: string;
  readonly trigger: "auto" | "background" | "manual";
}

/** A compression entered a phase; `block` of `blocks`, from 1, where the history is summarised in several. */
export interface CompactionProgress {
  readonly type: "compactionProgress";
  readonly compactionId: string;
  readonly phase: "counting" | "hook" | "installing" | "repairing" | "summarising" | "truncating" | "verifying";
  readonly elapsedMs: number;
  readonly block?: number;
  readonly blocks?: number;
}

/** A compression ended as planned, if only with the insight that there is nothing to do. The id is that of its `compactionStarted`. */
export interface CompactionCompleted {
  readonly type: "compactionCompleted";
  readonly compactionId: string;
  readonly result: CompressionResult;
}

/** What came of one compression; the wire's shape. Token counts cover the whole request, durations are ms. */
export interface CompressionResult {
  readonly status: "COMPRESSED" | "COMPRESSION_FAILED_EMPTY_SUMMARY" | "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" | "COMPRESSION_FAILED_TOKEN_COUNT_ERROR" | "CONTENT_TRUNCATED" | "NOOP" | "PREVIEW" | "UNDONE";
  readonly trigger: "auto" | "background" | "manual";
  readonly originalTokenCount: number;
  readonly newTokenCount: number;
  readonly tokenCountSource: "api" | "estimate";
  readonly modelCalls: number;
  readonly durationMs: number;
  readonly message: string;
  readonly compactionId?: string;
  readonly splitAt?: number;
  readonly keptContents?: number;
  readonly snapshot?: string;
  readonly undone?: readonly string[];
  readonly retention?: Readonly<Record<string, unknown>>;
}

/** A compression changed nothing, and why. The id is that of its `compactionStarted`. */
export interface CompactionFailed {
  readonly type: "compactionFailed";
  readonly compactionId: string;
  readonly result: CompressionResult;
}

/** A compression was cancelled; nothing was changed. */
export interface CompactionCancelled {
  readonly type: "compactionCancelled";
  readonly compactionId: string;
}

/** Compactions were taken back; ids, newest first. */
export interface CompactionUndone {
  readonly type: "compactionUndone";
  readonly undone: readonly string[];
}

/** The history is shorter now. */
export interface ChatCompressed {
  readonly type: "chatCompressed";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly trigger: "auto" | "background" | "manual";
}

/** The model repeats itself. */
export interface LoopDetected {
  readonly type: "loopDetected";
  readonly kind: string;
  readonly detail: string;
}

/** `model.maxSessionTurns` is used up. */
export interface MaxTurnsReached {
  readonly type: "maxTurnsReached";
  readonly limit: number;
}

/** Memory files changed; absolute paths. */
export interface MemoryChanged {
  readonly type: "memoryChanged";
  readonly paths: readonly string[];
}

/** Settings changed; dotted keys. */
export interface SettingsChanged {
  readonly type: "settingsChanged";
  readonly keys: readonly string[];
}

/** A hook ran. */
export interface HookRan {
  readonly type: "hookRan";
  readonly event: string;
  readonly name: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** The session has another title: one was found for it, or somebody named it. */
export interface TitleChanged {
  readonly type: "titleChanged";
  readonly title: string;
}

/** The workspace became trusted, or ceased to be. */
export interface TrustChanged {
  readonly type: "trustChanged";
  readonly trusted: boolean;
}

/** An event of a session. `seq` rises strictly per session, also over restarts; it may leave a gap. */
export interface EventParams {
  readonly sessionId: string;
  readonly seq: number;
  readonly time: number;
  readonly event: CompanionEvent;
  readonly turnId?: string;
}

/** Where compression stands. `forceFullIdeContext` is the asking client's. */
export interface CompressionStatusReport {
  readonly sessionId: string;
  readonly state: "idle" | "prepared" | "running";
  readonly hasFailedCompressionAttempt: boolean;
  readonly forceFullIdeContext: boolean;
  readonly tokenCount: number;
  readonly tokenCountSource: "api" | "estimate";
  readonly tokenLimit: number;
  /** Share of the limit at which automatic compression starts. */
  readonly threshold: number;
  /** `None` while automatic compression is off. */
  readonly tokensUntilCompression: number | null;
  readonly compressions: number;
  readonly canUndo: boolean;
  readonly phase?: string;
  readonly elapsedMs?: number;
  readonly last?: CompressionResult;
}

/** A tool asks before it acts. */
export interface ConfirmToolParams {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly title: string;
  readonly risk: string;
  readonly diff?: string;
}

/** A proposed content of a file, to be looked at. */
export interface OpenDiffParams {
  readonly path: string;
  readonly newContent: string;
}

/** What is known of a session. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly title: string;
  readonly model: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  readonly tokenCount: number;
  /** URIs. */
  readonly workspaceFolders: readonly string[];
  /** The session it was forked from. */
  readonly parent?: string;
  /** Process id of another process that holds it for writing. */
  readonly heldBy?: number;
  /** After an import: what could not be read and was left out, as sentences. */
  readonly warnings?: readonly string[];
}

/** A page of sessions, newest first. */
export interface SessionList {
  readonly sessions: readonly SessionInfo[];
  readonly nextCursor?: string;
}

/** A session as a file's text. */
export interface Exported {
  readonly content: string;
}

/** Contents in order. `version` is the log's newest sequence number, `epoch` rises with every change of the view but appending. */
export interface HistoryPage {
  readonly contents: readonly HistoryItem[];
  readonly version: number;
  readonly epoch: number;
  readonly nextCursor?: string;
}

/** One content of a listing, with its way back to the log. */
export interface HistoryItem {
  readonly role: "model" | "user";
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  readonly entryId: string;
  readonly kind: string;
  readonly seq: number;
  /** The entries that it stands for, if they are others than `entryId` alone (a snapshot hides many). */
  readonly entryIds?: readonly string[];
  readonly turnId?: string;
  readonly time?: number;
  /** How its turn ended, unless it completed: `cancelled`, `failed`, `interrupted`, `stopped`; `replaced` if the answer was given anew. */
  readonly outcome?: string;
  /** The compaction that hides it from the model. */
  readonly hiddenBy?: string;
  /** Why its turn failed. */
  readonly reason?: string;
  /** Of a prompt: the files that went along; the last parts are theirs, one for each. */
  readonly attachments?: readonly Attachment[];
  /** Of a prompt: files that it names and that did not go along, and why. */
  readonly withheld?: readonly Refusal[];
  /** Of the kind `ide`, in a transcript. */
  readonly receipt?: ContextReceipt;
  /** Of a reply, as the next three, in a transcript. */
  readonly model?: string;
  readonly finishReason?: string;
  readonly usage?: Usage;
  /** How long the turn took, on its last reply. */
  readonly durationMs?: number;
}

/** What of the editor went to the model with a turn, and what was withheld and why. */
export interface ContextReceipt {
  readonly kind: "delta" | "full";
  readonly files: readonly string[];
  readonly selectionChars: number;
  readonly withheld: readonly Refusal[];
}

/** The end of a turn. `stopped` says that nothing was sent (the prompt comes back) or that the turn was ended early. */
export interface ChatResult {
  readonly sessionId: string;
  readonly turnId: string;
  readonly text: string;
  readonly finishReason: string;
  readonly model: string;
  readonly usage: Usage;
  readonly compression?: CompressionResult;
  readonly stopped?: "blocked" | "contextWindowWillOverflow" | "loopDetected" | "maxTurns";
  readonly prompt?: readonly Readonly<Record<string, unknown>>[];
}

/** Whether there was a job to cancel. */
export interface CancelResult {
  readonly cancelled: boolean;
}

/** Every compaction of a session, newest first. */
export interface CompactionList {
  readonly compactions: readonly CompactionInfo[];
}

/** One compaction of a session. */
export interface CompactionInfo {
  readonly compactionId: string;
  readonly status: "COMPRESSED" | "COMPRESSION_FAILED_EMPTY_SUMMARY" | "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" | "COMPRESSION_FAILED_TOKEN_COUNT_ERROR" | "CONTENT_TRUNCATED" | "NOOP" | "PREVIEW" | "UNDONE";
  readonly trigger: "auto" | "background" | "manual";
  readonly time: number;
  readonly originalTokenCount: number;
  readonly newTokenCount: number;
  readonly state: "covered" | "inForce" | "preview" | "undone";
  readonly hides?: readonly [number, number];
  readonly covers?: readonly string[];
  /** Where it stands in the log, between the contents. */
  readonly seq?: number;
  /** Turns of which it hides something. */
  readonly hiddenTurns?: number;
  readonly message?: string;
  /** Tool outputs that it shortened. */
  readonly cuts?: number;
  readonly snapshot?: string;
  readonly rating?: number;
  readonly note?: string;
}

/** The token ledger by part. The parts add up to `tokenCount`, and with `free` to `tokenLimit` unless it is exceeded. */
export interface ContextReport {
  readonly sessionId: string;
  readonly model: string;
  readonly tokenCount: number;
  readonly tokenCountSource: "api" | "estimate";
  readonly tokenLimit: number;
  readonly byPart: RequestParts;
  readonly free: number;
  readonly threshold: number;
  readonly tokensUntilCompression: number | null;
}

/** Estimated or counted tokens of a request, part by part. `messages` holds the prompt too. */
export interface RequestParts {
  readonly systemInstruction: number;
  readonly tools: number;
  readonly environment: number;
  readonly memory: number;
  readonly ideContext: number;
  readonly snapshot: number;
  readonly messages: number;
  readonly toolOutputs: number;
}

/** The IDE context as the next turn would send it. `text` is absent when nothing would be sent. */
export interface ContextPreview {
  readonly kind: "delta" | "full" | "none";
  readonly files: readonly string[];
  readonly withheld: readonly Refusal[];
  readonly selectionChars: number;
  readonly text?: string;
}

/** What matches, best first; `truncated` if more does, or if the workspace was too large to be searched whole. */
export interface WorkspaceFileList {
  readonly files: readonly WorkspaceFile[];
  readonly truncated: boolean;
}

/** A file or a folder that `@` can name: `path` is what to write behind it, quoted if there are blanks in it. */
export interface WorkspaceFile {
  readonly uri: string;
  /** From its workspace folder on; with that folder's name in front if there are several, absolute if two of them have the same name. */
  readonly path: string;
  readonly isDirectory?: boolean;
}

/** A text that stands word for word in every view after a compression. */
export interface Pin {
  readonly pinId: string;
  readonly text: string;
  readonly createdAt: number;
  readonly turnId?: string;
}

/** The pins of a session, oldest first. */
export interface PinList {
  readonly pins: readonly Pin[];
}

/** The models, which one is in use, and why. */
export interface ModelReport {
  readonly models: readonly ModelInfo[];
  /** The name asked for. */
  readonly current: string;
  readonly provider: "gemini" | "offline";
  readonly reason: string;
  readonly hint: string;
}

/** A model that can be named. */
export interface ModelInfo {
  readonly name: string;
  readonly tokenLimit: number;
  readonly description: string;
}

/** Sums over a session. */
export interface Stats {
  readonly sessionId: string;
  readonly turns: number;
  /** Generate calls to a model, compressions included. */
  readonly calls: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly thoughtTokens: number;
  readonly outputTokens: number;
  readonly compressions: number;
  readonly tokensSaved: number;
}

/** Missed events in order; `truncated` if older ones are gone. */
export interface EventPage {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly truncated: boolean;
}

/** Whatever happens in a session. */
export type CompanionEvent =
  | TurnStarted
  | PromptQueued
  | MessageDelta
  | ThoughtDelta
  | MessageDiscarded
  | ToolCallStarted
  | ToolCallProgress
  | ToolCallCompleted
  | TurnCompleted
  | TurnFailed
  | TurnCancelled
  | ModelChanged
  | UsageUpdated
  | IdeContextSent
  | FilesAttached
  | ContextWindowWillOverflow
  | CompactionStarted
  | CompactionProgress
  | CompactionCompleted
  | CompactionFailed
  | CompactionCancelled
  | CompactionUndone
  | ChatCompressed
  | LoopDetected
  | MaxTurnsReached
  | MemoryChanged
  | SettingsChanged
  | HookRan
  | TitleChanged
  | TrustChanged;

/** What a client may ask. */
export interface Requests {
  /** Start a session; it becomes the client's current one. */
  readonly "gemini/session/new": { readonly params: NewSessionParams; readonly result: SessionInfo };
  /** List this project's sessions, newest first, or search them. */
  readonly "gemini/session/list": { readonly params: ListSessionsParams; readonly result: SessionList };
  /** Make a session the client's current one. Held for writing, unless another process has it. */
  readonly "gemini/session/open": { readonly params: OpenSessionParams; readonly result: SessionInfo };
  /** Hear a session's events, or no more. */
  readonly "gemini/session/subscribe": { readonly params: SubscribeParams; readonly result: null };
  /** Go on from a point of a session in a new one, which becomes the current one. */
  readonly "gemini/session/fork": { readonly params: ForkParams; readonly result: SessionInfo };
  /** Give a session a title. */
  readonly "gemini/session/rename": { readonly params: RenameParams; readonly result: SessionInfo };
  /** Forget a session and its files. */
  readonly "gemini/session/delete": { readonly params: SessionIdParams; readonly result: null };
  /** A session as the text of a file. */
  readonly "gemini/session/export": { readonly params: ExportParams; readonly result: Exported };
  /** Read a session file; the session becomes the current one. */
  readonly "gemini/session/import": { readonly params: ImportParams; readonly result: SessionInfo };
  /** What the model gets, or everything that was ever said. A page's cursor into the model's view holds until its epoch changes. */
  readonly "gemini/session/history": { readonly params: HistoryParams; readonly result: HistoryPage };
  /** Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order. */
  readonly "gemini/chat": { readonly params: ChatParams; readonly result: ChatResult };
  /** Stop a job, whoever started it. */
  readonly "gemini/cancel": { readonly params: CancelParams; readonly result: CancelResult };
  /** Compress the history, or preview what that would give. */
  readonly "gemini/compress": { readonly params: CompressParams; readonly result: CompressionResult };
  /** Where compression stands. Never waits. */
  readonly "gemini/compressionStatus": { readonly params: SessionParams; readonly result: CompressionStatusReport };
  /** Install a preview, edited if wished. */
  readonly "gemini/compression/apply": { readonly params: ApplyParams; readonly result: CompressionResult };
  /** Take a compaction back, with all that cover it. Later turns stay. */
  readonly "gemini/compression/undo": { readonly params: UndoParams; readonly result: CompressionResult };
  /** Every compaction of the session, newest first. */
  readonly "gemini/compression/list": { readonly params: SessionParams; readonly result: CompactionList };
  /** Say how good a compaction is. */
  readonly "gemini/compression/rate": { readonly params: RateParams; readonly result: null };
  /** The token ledger, split by part. */
  readonly "gemini/context": { readonly params: SessionParams; readonly result: ContextReport };
  /** The IDE context as the next turn would send it, and what is left out and why. */
  readonly "gemini/context/preview": { readonly params: SessionParams; readonly result: ContextPreview };
  /** The files and folders of the workspace that `@` can name in a prompt, those first that are most likely meant. */
  readonly "gemini/files": { readonly params: FilesParams; readonly result: WorkspaceFileList };
  /** Pin a text, or a turn's prompt: it stands word for word in every view after a compression. */
  readonly "gemini/pin": { readonly params: PinParams; readonly result: Pin };
  /** Take a pin away. */
  readonly "gemini/unpin": { readonly params: UnpinParams; readonly result: null };
  /** The pins of a session. */
  readonly "gemini/pins": { readonly params: SessionParams; readonly result: PinList };
  /** The models, which one answers, and why. */
  readonly "gemini/models": { readonly params: Empty; readonly result: ModelReport };
  /** Sums over a session. */
  readonly "gemini/stats": { readonly params: SessionParams; readonly result: Stats };
  /** The events after a number, in order; a finished turn's deltas come as one. */
  readonly "gemini/events/replay": { readonly params: ReplayParams; readonly result: EventPage };
}

/** What the server may ask. */
export interface ServerRequests {
  /** May this tool run? */
  readonly "gemini/confirmTool": { readonly params: ConfirmToolParams; readonly result: ConfirmToolResult };
  /** Show a proposed change. */
  readonly "gemini/openDiff": { readonly params: OpenDiffParams; readonly result: OpenDiffResult };
}

/** What a client may tell. */
export interface Notifications {
  /** What the editor shows. Later news wins. */
  readonly "gemini/ideContext/didChange": IdeContextParams;
}

/** What the server tells. */
export interface ServerNotifications {
  /** What happens in a session that the client hears. */
  readonly "gemini/event": EventParams;
  /** Where compression stands, on every change of it. */
  readonly "gemini/compressionStatus/didChange": CompressionStatusReport;
}

/** The commands of `workspace/executeCommand`. */
export interface Commands {
  /** Send a prompt. */
  readonly "gemini.chat": { readonly argument: ChatParams; readonly result: ChatResult };
  /** Compress the history. */
  readonly "gemini.compress": { readonly argument: CompressParams; readonly result: CompressionResult };
  /** Where compression stands. */
  readonly "gemini.compressionStatus": { readonly argument: SessionParams; readonly result: CompressionStatusReport };
  /** Take the last compaction back. */
  readonly "gemini.undoCompression": { readonly argument: UndoParams; readonly result: CompressionResult };
  /** Start a session. */
  readonly "gemini.newSession": { readonly argument: NewSessionParams; readonly result: SessionInfo };
  /** Pin the selected text. */
  readonly "gemini.pinSelection": { readonly argument: PinSelectionParams; readonly result: Pin };
  /** The token ledger. */
  readonly "gemini.showContext": { readonly argument: SessionParams; readonly result: ContextReport };
}

export const RequestMethod = {
  sessionNew: "gemini/session/new",
  sessionList: "gemini/session/list",
  sessionOpen: "gemini/session/open",
  sessionSubscribe: "gemini/session/subscribe",
  sessionFork: "gemini/session/fork",
  sessionRename: "gemini/session/rename",
  sessionDelete: "gemini/session/delete",
  sessionExport: "gemini/session/export",
  sessionImport: "gemini/session/import",
  sessionHistory: "gemini/session/history",
  chat: "gemini/chat",
  cancel: "gemini/cancel",
  compress: "gemini/compress",
  compressionStatus: "gemini/compressionStatus",
  compressionApply: "gemini/compression/apply",
  compressionUndo: "gemini/compression/undo",
  compressionList: "gemini/compression/list",
  compressionRate: "gemini/compression/rate",
  context: "gemini/context",
  contextPreview: "gemini/context/preview",
  files: "gemini/files",
  pin: "gemini/pin",
  unpin: "gemini/unpin",
  pins: "gemini/pins",
  models: "gemini/models",
  stats: "gemini/stats",
  eventsReplay: "gemini/events/replay",
} as const satisfies Readonly<Record<string, keyof Requests>>;

export const NotificationMethod = {
  ideContextDidChange: "gemini/ideContext/didChange",
} as const satisfies Readonly<Record<string, keyof Notifications>>;

export const ServerNotificationMethod = {
  event: "gemini/event",
  compressionStatusDidChange: "gemini/compressionStatus/didChange",
} as const satisfies Readonly<Record<string, keyof ServerNotifications>>;

export const ServerRequestMethod = {
  confirmTool: "gemini/confirmTool",
  openDiff: "gemini/openDiff",
} as const satisfies Readonly<Record<string, keyof ServerRequests>>;

/** JSON-RPC error codes by `FaultData.kind`. */
export const ErrorCode = {
  overloaded: 1011,
  blocked: 1010,
  checkpointNotFound: 1009,
  staleVersion: 1008,
  untrustedWorkspace: 1007,
  invalidSettings: 1006,
  contextOverflow: 1005,
  unauthenticated: 1004,
  modelUnavailable: 1003,
  sessionBusy: 1002,
  sessionNotFound: 1001,
  serverNotInitialized: -32002,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  defect: -32603,
  parseError: -32700,
  cancelled: -32800,
  failed: -32803,
  storage: -32803,
} as const;
