// Generated from the server's types by `python -m schemas.generate`. Do not edit.

/** `initializationOptions`. Everything is optional. */
export interface InitializationOptions {
  readonly token?: string | null;
  /** Whether the user trusts the workspace. */
  readonly trusted?: boolean | null;
  /** Event types that are not sent to this client; `compressionStatus` stands for its notification, `*` for all of them. */
  readonly optOutEvents?: readonly string[];
  /** Requests that it answers: `confirmTool`, `openDiff`, `askUser`, `diagnostics`, `saveDocument`. `questionText`: it shows the `text` of a `confirmTool`. */
  readonly supports?: readonly string[];
  readonly clientName?: string | null;
}

/** A new session. `systemInstruction` replaces the built-in one. */
export interface NewSessionParams {
  readonly model?: string | null;
  readonly title?: string | null;
  readonly systemInstruction?: string | null;
}

/** `query` is plain words, searched in all messages; `cursor` is the last page's `nextCursor`. */
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

/** Subscribe to a session's events, or (`on` false) unsubscribe. */
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

/** `on` keeps the session, whatever the settings for keeping sessions say. */
export interface KeepSessionParams {
  readonly sessionId: string;
  readonly on?: boolean;
}

/** A session by its id. */
export interface SessionIdParams {
  readonly sessionId: string;
}

/** `companion` loses nothing; `gemini-cli` is what Gemini CLI loads, `gemini-cli-jsonl` what it writes. */
export interface ExportParams {
  readonly sessionId: string;
  readonly format: "companion" | "gemini-cli" | "gemini-cli-jsonl";
}

/** The absolute path of a regular file of at most 256 MiB. */
export interface ImportParams {
  readonly path: string;
}

/** Whole turns, of at most `limit` contents in all. */
export interface NewestParams {
  readonly sessionId: string;
  readonly limit?: number;
}

/** `model` is what the model gets, without an answer whose calls are still being made; `transcript` is everything ever written. Without `limit`: all of it. */
export interface HistoryParams {
  readonly view: "model" | "transcript";
  readonly sessionId?: string | null;
  readonly cursor?: string | null;
  readonly limit?: number | null;
  /** The first page has the newest contents, each cursor leads to the page before; in a page the oldest come first. */
  readonly newestFirst?: boolean;
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
  /** If a turn of the session is under way, the prompt goes along with its next round; it answers for both. */
  readonly steer?: boolean;
  readonly workDoneToken?: number | string | null;
}

/** Go on with the newest turn of a session where it stands. */
export interface ResumeParams {
  readonly sessionId?: string | null;
  readonly workDoneToken?: number | string | null;
}

/** The job to stop; without an id, whatever runs in the session. */
export interface CancelParams {
  readonly sessionId?: string | null;
  readonly turnId?: string | null;
  readonly compressionId?: string | null;
}

/**
 * `instructions` are for the model that writes the snapshot; `preview` computes without changing anything.
 *
 * `strategy` takes the place of the setting's. `upTo` hides everything through that turn, `from` that turn and everything after it, but for the running one; only one of the two may be given.
 */
export interface CompressParams {
  readonly sessionId?: string | null;
  readonly instructions?: string;
  readonly preview?: boolean;
  readonly strategy?: "assemble" | "hierarchical" | "record" | "reserve" | "selective" | "semantic" | "split" | "userMessages" | null;
  readonly upTo?: string | null;
  readonly from?: string | null;
  readonly workDoneToken?: number | string | null;
}

/** A session; without an id the client's current one. */
export interface SessionParams {
  readonly sessionId?: string | null;
}

/** A preview to install, with an edited text if `snapshot` is given. */
export interface ApplyParams {
  readonly compressionId: string;
  readonly sessionId?: string | null;
  readonly snapshot?: string | null;
  readonly workDoneToken?: number | string | null;
}

/** A compression, or a preview. */
export interface CompressionParams {
  readonly compressionId: string;
  readonly sessionId?: string | null;
}

/** The compression to take back; without an id the newest in force. */
export interface UndoParams {
  readonly sessionId?: string | null;
  readonly compressionId?: string | null;
}

/** What a person thinks of a compression. */
export interface RateParams {
  readonly compressionId: string;
  readonly rating: number;
  readonly sessionId?: string | null;
  readonly note?: string;
}

/** A compression, the newest in force that keeps what was said if none is named; and what a statement has in it. */
export interface KeptParams {
  readonly compressionId?: string | null;
  readonly contains?: string;
  readonly sessionId?: string | null;
}

/** A statement of the person's to keep, or not. */
export interface KeepStatementParams {
  readonly statementId: string;
  readonly isKept: boolean;
  readonly sessionId?: string | null;
}

/** Whose next prompt is meant. */
export interface PreviewContextParams {
  readonly sessionId?: string | null;
  /** The first prompt of a session that is not made yet, whichever is current. */
  readonly ofNewSession?: boolean;
}

/** `query` is what somebody has typed behind the `@`; its signs need not stand in a row. */
export interface FilesParams {
  readonly query?: string;
  readonly limit?: number;
}

/** A prompt that somebody writes. */
export interface PromptCheckParams {
  readonly prompt: string;
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

/**
 * What to recall: what answers `query`; or a turn, an entry, or the output of a tool's call by its id.
 *
 * In all sessions of the project unless one is named, as it must be with a call's. `limit` is for a query, `offset` for a call's output: the character to begin with; with a query too only its lines with those words, after their numbers. A turn is given whole.
 */
export interface RecallParams {
  readonly query?: string | null;
  readonly turnId?: string | null;
  readonly entryId?: string | null;
  readonly toolCallId?: string | null;
  readonly offset?: number;
  readonly sessionId?: string | null;
  readonly limit?: number;
}

/** A constraint to take in, to propose, to release, to reword or to give another scope; a new one without an id. */
export interface SetConstraintParams {
  readonly state: "inForce" | "proposed" | "released";
  readonly constraintId?: string | null;
  readonly scope?: "project" | "session" | null;
  readonly text?: string | null;
  readonly sessionId?: string | null;
}

/** No fields: the params of a method that needs none. */
export type Empty = Readonly<Record<string, never>>;

/** A fact to be kept, in a sentence; `global` for every project. */
export interface AddMemoryParams {
  readonly fact: string;
  readonly scope: "global" | "project";
}

/** Whether the hooks of a name are to run. That is written into the user's own settings file. */
export interface SetHookParams {
  /** As in the list: the hook's name, else its command. */
  readonly name: string;
  readonly enabled: boolean;
}

/** Use a server, or do not; that holds in every workspace. */
export interface McpEnableParams {
  readonly server: string;
  readonly enabled: boolean;
}

/** Agree to what a workspace wants to start or reach, as it was shown. */
export interface McpAgreeParams {
  readonly server: string;
  /** Of the server's entry in `gemini/mcp/list`. */
  readonly digest: string;
}

/** One server, by the name that the settings give it. */
export interface McpServerParams {
  readonly server: string;
}

/** What a person has typed behind an `@`. */
export interface McpCompleteParams {
  readonly query?: string;
  readonly limit?: number;
}

/** What the session's tools may do unasked, from now on. */
export interface ModeParams {
  readonly sessionId?: string | null;
  readonly mode: "acceptEdits" | "ask" | "plan";
}

/** What a call that has ended did, as people read it. */
export interface ShownCallParams {
  readonly sessionId?: string | null;
  readonly toolCallId: string;
}

/** Take a rule of consent back. */
export interface RevokeRuleParams {
  readonly sessionId?: string | null;
  readonly ruleId: string;
}

/** A turn whose prompt was a slash command. */
export interface SentTextParams {
  readonly turnId: string;
  readonly sessionId?: string | null;
}

/** Turn a skill on or off, in the user's own settings. */
export interface EnableSkillParams {
  readonly name: string;
  readonly enabled: boolean;
}

/** End a command, in the background or not; the turn goes on with what it put out. */
export interface StopCommandParams {
  readonly sessionId?: string | null;
  readonly toolCallId: string;
}

/** Put files back. Without anything: the newest change. What is named is combined. */
export interface RevertParams {
  readonly sessionId?: string | null;
  /** What this turn changed. */
  readonly turnId?: string | null;
  /** What was changed in this file. */
  readonly path?: string | null;
  /** What this turn and all later ones changed. */
  readonly since?: string | null;
  /** Only these places of the file's diff in that turn, from 0; with `turnId` and `path`. */
  readonly hunks?: readonly number[] | null;
  /** A revert, to be taken back. */
  readonly changeId?: string | null;
  /** Say what would happen, and change nothing. */
  readonly dryRun?: boolean;
}

/** The changes are wanted: they are not counted any more. Without a path: all of them. */
export interface KeepParams {
  readonly sessionId?: string | null;
  readonly path?: string | null;
}

/** A session, or with `all` every session of the project together. */
export interface StatsParams {
  readonly sessionId?: string | null;
  readonly all?: boolean;
}

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

/**
 * One open file. `lastFocusedAt` may be in any unit; larger is newer.
 *
 * `text` is for what no file holds: all of an `untitled:` document, or the cell of a notebook that is worked in, with its number from 1 in `cell`. Cursor and selection are positions in it.
 */
export interface OpenFileReport {
  readonly uri: string;
  readonly lastFocusedAt: number;
  readonly isActive?: boolean;
  readonly cursor?: Position | null;
  readonly selection?: Range | null;
  readonly selectedText?: string | null;
  readonly text?: string | null;
  readonly cell?: number | null;
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
  /** The arguments as the person changed them; they pass every check again. */
  readonly editedArgs?: Readonly<Record<string, unknown>> | null;
  /** The text of the file as the person corrected it in the diff; the model is told. */
  readonly editedContent?: string | null;
  /** Why not, for the model. */
  readonly reason?: string | null;
  /** The rule to keep, if the person changed it. */
  readonly rule?: ToolRule | null;
}

/** A rule of consent. What a rule leaves out matches everything. */
export interface ToolRule {
  /** A tool's name, or `*`. */
  readonly tool: string;
  readonly decision: "allow" | "ask" | "deny";
  /** A pattern as in ignore files, relative to a workspace folder, for tools that touch files. */
  readonly path?: string | null;
  /** The first words of a command, each compared as a whole, for `run_shell_command`. */
  readonly command?: readonly string[] | null;
  /** `command` is all the words of the command: with more of them the rule does not allow it. What forbids or asks takes no notice of it. */
  readonly exact?: boolean;
  /** The workspace folder, by its absolute real path, in which alone the rule holds; for all files in it, and for commands that start in it. */
  readonly workspace?: string | null;
}

/** The answer: an option's text, or the person's own; absent if they would not say. */
export interface AskUserResult {
  readonly answer?: string | null;
}

/** The problems of each file that was asked about. */
export interface DiagnosticsResult {
  readonly files: readonly EditorFileDiagnostics[];
}

/** The problems of one file; `isCurrent` if they are about its text as it is now. */
export interface EditorFileDiagnostics {
  readonly path: string;
  readonly diagnostics: readonly EditorDiagnostic[];
  readonly isCurrent?: boolean;
}

/** A problem that the editor reports. */
export interface EditorDiagnostic {
  /** From 1. */
  readonly line: number;
  readonly severity: "error" | "hint" | "information" | "warning";
  readonly message: string;
  readonly source?: string;
  readonly code?: string;
}

/** Whether the disk has the document's text now. */
export interface SaveDocumentResult {
  readonly saved: boolean;
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
  /** How long to wait before that, in milliseconds, where that is known. */
  readonly retryAfterMs?: number;
  /** Which field is missing or ill-typed, as in `$.parts[0].text`. */
  readonly path?: string;
}

/** A prompt's turn has begun. */
export interface TurnStarted {
  readonly type: "turnStarted";
  readonly prompt: readonly Readonly<Record<string, unknown>>[];
  readonly model: string;
  /** The prompt was sent to a turn that ended without it: that of its `promptSteered`. Its own turn ends at once. */
  readonly steerId?: string;
}

/** A prompt waits, at `position` from 1, because a turn or a compression runs. */
export interface PromptQueued {
  readonly type: "promptQueued";
  readonly position: number;
  readonly because: "compression" | "turn";
}

/** The turn waits, since as much goes on at once as `companion.limits` allows; then once more when it goes on. */
export interface WaitingForSlot {
  readonly type: "waitingForSlot";
  /** For a request to a model, or for a command or a hook. */
  readonly kind: "model" | "process";
  /** It waits no more. */
  readonly isOver?: boolean;
}

/** The model runs on this machine and is being loaded into memory; its answer comes after that. */
export interface ModelLoading {
  readonly type: "modelLoading";
  readonly model: string;
}

/** A piece of the answer. */
export interface MessageDelta {
  readonly type: "messageDelta";
  readonly text: string;
  /** From 1; rises when the answer is requested again within the turn. */
  readonly attempt: number;
}

/** A piece of the model's reasoning, as far as the model shows it. */
export interface ThoughtDelta {
  readonly type: "thoughtDelta";
  readonly text: string;
  /** As in `messageDelta`. */
  readonly attempt: number;
}

/** The deltas of this attempt are void; the next attempt starts over. */
export interface MessageDiscarded {
  readonly type: "messageDiscarded";
  readonly attempt: number;
  /** A sentence for people. */
  readonly reason: string;
}

/** The model called a tool. `waiting` until it may run; then, once more, `running`. */
export interface ToolCallStarted {
  readonly type: "toolCallStarted";
  readonly toolCallId: string;
  readonly name: string;
  /** Long texts and lists in it are cut; the transcript has them whole. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What it does, for people: `Read src/a.py`. English. */
  readonly title?: string;
  readonly state?: "running" | "waiting";
}

/** More output of a running tool. */
export interface ToolCallProgress {
  readonly type: "toolCallProgress";
  readonly toolCallId: string;
  readonly output: string;
}

/** A call has its result, whatever it is. */
export interface ToolCallCompleted {
  readonly type: "toolCallCompleted";
  readonly toolCallId: string;
  readonly outcome: "declined" | "failed" | "interrupted" | "ok" | "timedOut";
  readonly summary: string;
  readonly durationMs: number;
  /** Why it could run or not: the rule, the mode, or the person's answer. */
  readonly consent?: string;
  /** The tool's, as the model wrote it: a call that is refused at once has no `toolCallStarted`. */
  readonly name?: string;
}

/** A call waits for a person. The client whose prompt it is gets `gemini/confirmTool` too. */
export interface ToolQuestionAsked {
  readonly type: "toolQuestionAsked";
  readonly question: ToolQuestion;
}

/** What a person is asked before a tool acts. All texts are for people. */
export interface ToolQuestion {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly name: string;
  /** As they will be used, to be edited; not to be shown as they are, for they may hold what a reader cannot see. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Verb and object: `Run npm test`. */
  readonly title: string;
  readonly risk: string;
  /** All arguments as a person reads them, where neither a command nor a diff shows what is asked about. */
  readonly argsText?: string;
  /** The file that would be changed. */
  readonly path?: string;
  /** Unified, of that file, whole; signs that cannot be seen are written out. */
  readonly diff?: string;
  /** The file's text as it would be, for a diff editor. */
  readonly newContent?: string;
  /** The whole line; signs that cannot be seen are written out. */
  readonly command?: string;
  /** Of the line, those that need the yes among them. */
  readonly parts?: readonly QuestionPart[];
  readonly cwd?: string;
  /** What holds the command back, or that nothing does: a sentence. */
  readonly sandbox?: string;
  readonly mode?: "acceptEdits" | "ask" | "plan";
  /** Why it asks. */
  readonly reason?: string;
  readonly warnings?: readonly string[];
  /** What cannot be taken back: a sentence; empty if everything can. */
  readonly irreversible?: string;
  /** What "for this session" and "always" would allow; absent where they are not offered. */
  readonly rule?: ToolRule;
  /** The same in words. */
  readonly ruleText?: string;
  readonly askedAt?: number;
  /** The subagent that asks, for people; empty where the chat itself does. */
  readonly agent?: string;
}

/** A piece of a command line, and what the rules say of it. */
export interface QuestionPart {
  readonly text: string;
  readonly decision: "allow" | "ask" | "deny";
  readonly reason?: string;
}

/** The question is settled: answered by somebody, out of time, or its turn is over. */
export interface ToolQuestionAnswered {
  readonly type: "toolQuestionAnswered";
  readonly toolCallId: string;
  readonly outcome: "always" | "gone" | "once" | "reject" | "session" | "timeout";
}

/** A prompt that was sent to the running turn is stored; it goes along with the next round. */
export interface PromptSteered {
  readonly type: "promptSteered";
  readonly prompt: readonly Readonly<Record<string, unknown>>[];
  readonly steerId?: string;
}

/** The turn used all its rounds; the person is asked whether it goes on. */
export interface MaxToolRoundsReached {
  readonly type: "maxToolRoundsReached";
  readonly limit: number;
}

/** What tools may do unasked has changed. */
export interface ModeChanged {
  readonly type: "modeChanged";
  readonly mode: "acceptEdits" | "ask" | "plan";
}

/** The model's task list, whole. */
export interface TodosChanged {
  readonly type: "todosChanged";
  readonly todos: readonly Todo[];
}

/** One task of the model's list. */
export interface Todo {
  readonly description: string;
  readonly status: "cancelled" | "completed" | "in_progress" | "pending";
}

/** Files were changed, or put back. The numbers are those of the whole session. */
export interface ChangesChanged {
  readonly type: "changesChanged";
  readonly files: number;
  /** Lines. */
  readonly added: number;
  /** Lines. */
  readonly removed: number;
  /** Absolute paths of the files that this is about. */
  readonly paths?: readonly string[];
}

/** Background commands began or ended: all that are known, oldest first. */
export interface CommandsChanged {
  readonly type: "commandsChanged";
  readonly commands: readonly BackgroundCommand[];
}

/** A command that runs on after its call, or that did. */
export interface BackgroundCommand {
  readonly toolCallId: string;
  readonly command: string;
  readonly cwd: string;
  readonly startedAt: number;
  readonly state: "exited" | "running" | "stopped";
  readonly exitCode?: number;
  /** Its last lines. */
  readonly output?: string;
}

/** Old outputs are shown to the model shortened from here on. */
export interface OutputsMasked {
  readonly type: "outputsMasked";
  readonly outputs: number;
  readonly tokensSaved: number;
}

/** The answer is whole and stored. */
export interface TurnCompleted {
  readonly type: "turnCompleted";
  readonly finishReason: string;
  /** Of its last request. */
  readonly usage: Usage;
  readonly durationMs: number;
  /** The sums over all its requests. */
  readonly turnUsage?: Usage;
}

/** Tokens of one answer as the provider counted them (or the offline model's ledger estimate). */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly thoughtTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of requests that were made on the way to it, such as for condensing an output; `total_tokens` has them in it. Unset where there were none. */
  readonly utilityTokens?: number;
}

/** The turn ended in an error; the view is as before it, but for its finished rounds. */
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

/** The turn was cancelled. */
export interface TurnCancelled {
  readonly type: "turnCancelled";
  /** The client's id, or a reason: `interrupted`, `delete`, `leave` where its own client went, `shutdown`, `takeOver`. Of a prompt that was to steer a turn, and that no request took along: the finish reason of that turn. */
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
  /** The count has reached the threshold. */
  readonly isDue?: boolean;
}

/** The receipt: what of the editor went to the model, what was withheld and why. */
export interface IdeContextSent {
  readonly type: "ideContextSent";
  readonly kind: "delta" | "full";
  readonly files: readonly string[];
  readonly selectionChars: number;
  readonly withheld: readonly Withheld[];
  /** Those of `files` that the model was told are open no more. */
  readonly closed?: readonly string[];
  /** How much was sent of the files whose text it is about; of the other files only the path. */
  readonly texts?: readonly TextExtent[];
  /** Which lines were sent of a selection that is too long. */
  readonly selectionCut?: SelectionCut;
  /** Open files that were left out because only so many go along. */
  readonly moreOpenFiles?: number;
}

/** A file that may not be shown to a model. For the client, never for a model. */
export interface Withheld {
  /** Its base name only. */
  readonly name: string;
  /** Why, in a few words. */
  readonly reason: string;
}

/** How much of an open file's text an IDE context message gives. */
export interface TextExtent {
  /** Absolute. */
  readonly path: string;
  /** All of it; whole lines of it; a part of which not every line is whole; only the path. */
  readonly extent: "lines" | "part" | "path" | "whole";
  /** The first and last line that are given, from 1, if it is not whole. */
  readonly lines?: readonly [number, number];
  /** How many lines the file has, if it is not whole. */
  readonly lineCount?: number;
  /** It is the text of the editor, which is not on disk. */
  readonly unsaved?: boolean;
  /** The message has only the differences from what it gave earlier. */
  readonly asChanges?: boolean;
  /** Why it is only the path. */
  readonly reason?: string;
}

/** A selection that was too long: first and last line, from 1, of what was sent and of what is selected. */
export interface SelectionCut {
  readonly sent: readonly [number, number];
  readonly selected: readonly [number, number];
}

/** The files and folders that the prompt mentions: what of them went to the model, what was withheld and why. */
export interface FilesAttached {
  readonly type: "filesAttached";
  readonly files: readonly Attachment[];
  readonly withheld: readonly Withheld[];
}

/** A file or a folder that a prompt names, as it was attached. */
export interface Attachment {
  /** Absolute; a folder's ends in a slash. */
  readonly path: string;
  /** First and last attached line, from 1; absent for a folder and for an empty file. */
  readonly lines?: readonly [number, number];
  /** There is more than was attached. */
  readonly truncated?: boolean;
}

/** The prompt does not fit, and nothing was sent; or what tools gave back does not, and the turn ended. */
export interface ContextWindowWillOverflow {
  readonly type: "contextWindowWillOverflow";
  readonly estimatedRequestTokenCount: number;
  readonly remainingTokenCount: number;
  /** What fills the window and what to do, in sentences for people. */
  readonly message?: string;
}

/** A compression runs. */
export interface CompressionStarted {
  readonly type: "compressionStarted";
  readonly compressionId: string;
  readonly trigger: "auto" | "background" | "manual";
  /** The turn under way, if its prompt stands in the history already: so the compression stands behind that. */
  readonly behindTurn?: string;
}

/** A compression entered a phase; `block` of `blocks`, from 1, where the history is summarised in several. */
export interface CompressionProgress {
  readonly type: "compressionProgress";
  readonly compressionId: string;
  readonly phase: "counting" | "hook" | "installing" | "repairing" | "summarising" | "truncating" | "verifying";
  readonly elapsedMs: number;
  readonly block?: number;
  readonly blocks?: number;
}

/** A compression ended as planned, or found nothing to do. The id is that of its `compressionStarted`. */
export interface CompressionCompleted {
  readonly type: "compressionCompleted";
  readonly compressionId: string;
  readonly result: CompressionResult;
}

/** The result of one compression, as on the wire. Token counts cover the whole request. */
export interface CompressionResult {
  readonly status: "COMPRESSED" | "COMPRESSION_FAILED_EMPTY_SUMMARY" | "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" | "COMPRESSION_FAILED_LOW_RETENTION" | "COMPRESSION_FAILED_TOKEN_COUNT_ERROR" | "CONTENT_TRUNCATED" | "NOOP" | "PREVIEW" | "UNDONE";
  readonly trigger: "auto" | "background" | "manual";
  readonly originalTokenCount: number;
  readonly newTokenCount: number;
  readonly tokenCountSource: "api" | "estimate";
  readonly modelCalls: number;
  readonly durationMs: number;
  /** A sentence for people. */
  readonly message: string;
  /** Absent unless it was installed, kept as a preview, or undone. */
  readonly compressionId?: string;
  /** Index of the first content kept, in the curated view before the compression. */
  readonly splitAt?: number;
  /** Contents outside of the span, in front of it and behind it. */
  readonly keptContents?: number;
  /** With its tags. */
  readonly snapshot?: string;
  /** The model that was asked wrote no usable snapshot, and the built-in summariser wrote it. */
  readonly builtIn?: boolean;
  /** Ids of the compressions that an undo took out of force, newest first. */
  readonly undone?: readonly string[];
  /** What of the hidden facts was put back behind the snapshot, as the model gets it. */
  readonly appendix?: string;
  readonly retention?: Retention;
  /** What chose the span; absent for undos and for shortened outputs. */
  readonly strategy?: "assemble" | "hierarchical" | "record" | "reserve" | "selective" | "semantic" | "split" | "userMessages";
  readonly verdict?: Verdict;
}

/**
 * How much of what must survive a compression did.
 *
 * Every field has a default, so that a later version may leave some out.
 */
export interface Retention {
  /** Share of the information in what was said that stands word for word, from 0 to 1; 1 where there was none. It counts what no pattern finds, so it is no quotient of the two that follow. */
  readonly score: number;
  readonly facts: number;
  readonly kept: number;
  /** Of those kept, how many were put back after the model had left them out. */
  readonly repaired: number;
  /** The most worthy of those that are missing, at most 50. */
  readonly missing: readonly MissingFact[];
  /** Of those kept, how many stand in the appendix alone. */
  readonly appended: number;
  /** Paths, addresses and numbers of the snapshot that never occurred in what it replaces, at most 50. */
  readonly unsupported: readonly MissingFact[];
}

/** A fact that is missing from what takes the place of what is hidden, or that stands there without a source. */
export interface MissingFact {
  /** A `FactKind`: `directive`, `path`, `command`, … */
  readonly kind: string;
  readonly text: string;
}

/**
 * Whether a compression pays for itself. Every number is tokens at the price of the chat's fresh input tokens.
 *
 * Every field has a default, so that a later version may leave some out.
 */
export interface Verdict {
  readonly isWorthIt?: boolean;
  /** What each later turn costs less. */
  readonly savedPerTurn?: number;
  /** What the calls that write the snapshot cost, input and output. */
  readonly summaryTokens?: number;
  /** What the first request costs more because the provider's prefix cache no longer fits. */
  readonly lostCacheTokens?: number;
  /** Turns that are expected to profit. */
  readonly expectedTurns?: number;
  /** `savedPerTurn * expectedTurns - summaryTokens - lostCacheTokens`. */
  readonly netTokens?: number;
  /** A sentence for people, with the numbers. */
  readonly message?: string;
}

/** A compression changed nothing, and why. The id is that of its `compressionStarted`. */
export interface CompressionFailed {
  readonly type: "compressionFailed";
  readonly compressionId: string;
  readonly result: CompressionResult;
}

/** A compression was cancelled; nothing was changed. */
export interface CompressionCancelled {
  readonly type: "compressionCancelled";
  readonly compressionId: string;
}

/** A compression is ready to be installed once the trigger is reached; nothing was changed. Token counts are of the whole request as it was counted, and as it would be. */
export interface CompressionPrepared {
  readonly type: "compressionPrepared";
  readonly compressionId: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Compressions were taken out of force; ids, newest first. */
export interface CompressionUndone {
  readonly type: "compressionUndone";
  readonly undone: readonly string[];
}

/** The history is shorter now. */
export interface ChatCompressed {
  readonly type: "chatCompressed";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly trigger: "auto" | "background" | "manual";
}

/** The model goes round in circles. */
export interface LoopDetected {
  readonly type: "loopDetected";
  readonly kind: "noProgress" | "repeatedCalls" | "repeatedText";
  /** What it repeats, or why it is thought to be stuck; a line, secrets masked, empty where that would show one. */
  readonly detail: string;
  /** The first time in a turn it is told so; the second time the turn ends. */
  readonly outcome: "stopped" | "told";
}

/** Most of a budget is used, or all of it. */
export interface BudgetUsed {
  readonly type: "budgetUsed";
  readonly scope: "day" | "session";
  readonly unit: "cost" | "tokens";
  /** Tokens, or US dollars by list prices. */
  readonly spent: number;
  readonly limit: number;
  /** At 80 % people are told, once; at 100 % the turn ends. */
  readonly outcome: "stopped" | "warned";
  /** The key of the settings that sets the limit. */
  readonly setting: string;
}

/** `model.maxSessionTurns` is used up. */
export interface MaxTurnsReached {
  readonly type: "maxTurnsReached";
  readonly limit: number;
}

/** MCP servers were started, ended, failed, or offer other tools: all of them, by name. */
export interface McpServersChanged {
  readonly type: "mcpServersChanged";
  readonly servers: readonly McpServerState[];
}

/** Where a server stands. */
export interface McpServerState {
  readonly name: string;
  readonly state: "consentNeeded" | "disabled" | "excluded" | "failed" | "held" | "loginNeeded" | "off" | "ready" | "restarting" | "starting" | "untrusted";
  readonly tools: number;
  readonly error: string;
}

/** Memory files changed; absolute paths. */
export interface MemoryChanged {
  readonly type: "memoryChanged";
  readonly paths: readonly string[];
}

/** The turn's prompt is a slash command, and stands in the log with all that it stands for. */
export interface CommandExpanded {
  readonly type: "commandExpanded";
  readonly command: CommandUse;
}

/** What stood behind a prompt that was a slash command. */
export interface CommandUse {
  /** As it was typed, without the slash. */
  readonly name: string;
  /** Whose command it was. */
  readonly scope: "builtIn" | "extension" | "server" | "user" | "workspace";
  /** The extension or the server. */
  readonly owner?: string;
  /** The file that defined it, absolute. */
  readonly path?: string;
  /** Parts of the prompt's content that it stood for, right behind what was typed. */
  readonly parts?: number;
  /** What it brought in of the workspace. */
  readonly files?: readonly Attachment[];
  /** Files that it names and that were not brought in, and why. */
  readonly withheld?: readonly Withheld[];
  /** The shell lines that it ran. */
  readonly calls?: readonly CallRecord[];
}

/** What became of one call, for people. */
export interface CallRecord {
  readonly callId: string;
  readonly name: string;
  readonly outcome: "declined" | "failed" | "interrupted" | "ok" | "timedOut";
  /** A few words: `42 lines`, `exit code 1`. */
  readonly summary?: string;
  /** From the start of the tool to its end, without the time that a question waited. */
  readonly durationMs?: number;
  /** The arguments that it ran with, if a person changed them. */
  readonly editedArgs?: Readonly<Record<string, unknown>>;
  /** Why it could run or not, in a few words: the rule, the mode, or the person's answer. */
  readonly consent?: string;
  /** The session of the subagent that did the work; empty where none did. */
  readonly agentSessionId?: string;
}

/** There are other slash commands than before. */
export interface SlashCommandsChanged {
  readonly type: "slashCommandsChanged";
}

/** There are other skills than before. */
export interface SkillsChanged {
  readonly type: "skillsChanged";
}

/** Settings changed; dotted keys. */
export interface SettingsChanged {
  readonly type: "settingsChanged";
  readonly keys: readonly string[];
}

/** The rules changed: all of them, oldest first. It has the turn's id if a prompt brought that about. */
export interface ConstraintsChanged {
  readonly type: "constraintsChanged";
  readonly constraints: readonly Constraint[];
}

/** A rule of the person's. In force, it stands word for word in every request to the model that answers. */
export interface Constraint {
  /** A pin's is its pin id. */
  readonly constraintId: string;
  /** Word for word as it was said. */
  readonly text: string;
  /** `project`: in every session of the project. */
  readonly scope: "project" | "session";
  /** `proposed`: found in a prompt and not in force; `released`: taken back, or replaced. */
  readonly state: "inForce" | "proposed" | "released";
  /** Milliseconds since 1970 (UTC). */
  readonly createdAt: number;
  /** Where it was said: in a prompt, by a pin, through a client's list of rules, in a memory file. */
  readonly source: "client" | "memory" | "pin" | "prompt";
  /** The turn whose prompt it stands in. */
  readonly turnId?: string;
  /** Id of the earlier one that it contradicts, or may, and replaces once it is in force. */
  readonly replaces?: string;
  readonly replacedBy?: string;
  /** A sentence for people: why it is only proposed, or what is wrong with it. */
  readonly note?: string;
}

/** A hook ran. */
export interface HookRan {
  readonly type: "hookRan";
  /** `BeforeTool`, … */
  readonly event: string;
  readonly name: string;
  /** What it wanted, or that it failed. */
  readonly outcome: "asked" | "changed" | "denied" | "failed" | "ok" | "stopped" | "timedOut";
  readonly durationMs: number;
  /** What it says to people, or why it denied or failed. */
  readonly message?: string;
  /** It is to be shown: it had an effect, failed or took a second, and the settings do not turn that off. */
  readonly isNotable?: boolean;
}

/** What a subagent that works for the chat does. Its own session has everything; this is for people to follow. */
export interface AgentActivity {
  readonly type: "agentActivity";
  /** The call that handed it its task. */
  readonly toolCallId: string;
  /** Its name for people. */
  readonly agent: string;
  /** Its own session, which can be opened. */
  readonly agentSessionId: string;
  readonly kind: "compressed" | "ended" | "said" | "started" | "tool" | "toolEnded";
  /** A line: what it does, found, says, or how it ended. */
  readonly text?: string;
  /** Of its own window; 0 where nothing new is known. */
  readonly tokens?: number;
}

/** The session has a new title: generated, or set by a client. */
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

/** Where compression stands. `forceFullIdeContext` is for the client that gets the report. */
export interface CompressionStatusReport {
  readonly sessionId: string;
  /** `preparing`: one is made beside the chat; `prepared`: it is ready, and installed when it is due. */
  readonly state: "idle" | "prepared" | "preparing" | "running";
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
  /** The step under way, as in `compressionProgress`, or `waiting` for what runs; absent while none is. */
  readonly phase?: string;
  /** Since the compression began; absent while none is under way. */
  readonly elapsedMs?: number;
  /** The compression under way, or prepared; absent while none is. */
  readonly compressionId?: string;
  /** Tokens that the prepared compression takes off the next request; absent while none is. */
  readonly preparedSaves?: number;
  readonly last?: CompressionResult;
  /** Whether it starts by itself, only reminds, or does neither. */
  readonly mode: "auto" | "off" | "remind";
  /** The count has reached what it starts at. */
  readonly isDue: boolean;
  /** Why it does not start at the settings' threshold, as a sentence: it moved, or pauses; absent where it does. */
  readonly thresholdReason?: string;
  /** Whether compressing now would pay for itself; absent while there is nothing to compress. */
  readonly verdict?: Verdict;
  /** Tokens at which automatic compression starts: by its threshold, or by the cap; absent while it is off. */
  readonly compressionAt?: number;
}

/** A tool asks before it acts. The fields are those of the event `toolQuestionAsked`, but for `text`. */
export interface ConfirmToolParams {
  readonly sessionId: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly name: string;
  /** As they will be used, to be edited; not to be shown as they are, for they may hold what a reader cannot see. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Verb and object: `Run npm test`. */
  readonly title: string;
  readonly risk: string;
  /** All arguments as a person reads them, where neither a command nor a diff shows what is asked about. */
  readonly argsText?: string;
  /** The file that would be changed. */
  readonly path?: string;
  /** Unified, of that file, whole; signs that cannot be seen are written out. */
  readonly diff?: string;
  /** The file's text as it would be, for a diff editor. */
  readonly newContent?: string;
  /** The whole line; signs that cannot be seen are written out. */
  readonly command?: string;
  /** Of the line, those that need the yes among them. */
  readonly parts?: readonly QuestionPart[];
  readonly cwd?: string;
  /** What holds the command back, or that nothing does: a sentence. */
  readonly sandbox?: string;
  readonly mode?: "acceptEdits" | "ask" | "plan";
  /** Why it asks. */
  readonly reason?: string;
  readonly warnings?: readonly string[];
  /** What cannot be taken back: a sentence; empty if everything can. */
  readonly irreversible?: string;
  /** What "for this session" and "always" would allow; absent where they are not offered. */
  readonly rule?: ToolRule;
  /** The same in words. */
  readonly ruleText?: string;
  readonly askedAt?: number;
  /** The subagent that asks, for people; empty where the chat itself does. */
  readonly agent?: string;
  /** All of it as plain text, for a client that has `questionText` in `supports`: whole, and signs that nobody can see are shown by their number. */
  readonly text?: string;
}

/** The model asks the person something. */
export interface AskUserParams {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly question: string;
  readonly options?: readonly string[];
  /** An answer in the person's own words is welcome. */
  readonly allowsText?: boolean;
}

/** Which problems does the editor report? */
export interface DiagnosticsParams {
  readonly paths: readonly string[];
  /** How long to wait for those of the newest text, at most. */
  readonly waitMs?: number;
}

/** An open document is to be written to the disk, as the person's own save does it. */
export interface SaveDocumentParams {
  readonly path: string;
}

/** A proposed content of a file, to be looked at. */
export interface OpenDiffParams {
  readonly path: string;
  readonly newContent: string;
}

/** A session as listings show it. */
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
  /** Whether the API counted it; `estimate` if absent. */
  readonly tokenCountSource?: "api" | "estimate";
  /** The session it was forked from. */
  readonly parent?: string;
  /** Process id of another process that holds it for writing. */
  readonly heldBy?: number;
  /** The turn that runs in it now, for whoever opens it meanwhile. */
  readonly runningTurn?: string;
  /** After an import: what could not be read and was left out, as sentences. */
  readonly warnings?: readonly string[];
  /** What its tools may do unasked. */
  readonly mode?: "acceptEdits" | "ask" | "plan";
  /** In listings: bytes of its log and its private files on disk. */
  readonly size?: number;
  /** It stays, whatever the settings for keeping sessions say. */
  readonly isKept?: boolean;
  /** In listings: when it is deleted if nobody uses it, in ms since 1970, at the earliest. */
  readonly leavesAt?: number;
}

/** A page of sessions, newest first. */
export interface SessionList {
  readonly sessions: readonly SessionInfo[];
  readonly nextCursor?: string;
  /** Sessions that are searched in part only, since they are still being indexed; absent if there are none. */
  readonly unindexed?: number;
}

/** A session as a file's text. */
export interface Exported {
  readonly content: string;
}

/** The end of a session, oldest first, whether it is loaded or not. */
export interface NewestContents {
  /** As a listing has it, where it is not loaded. */
  readonly session: SessionInfo;
  /** Of a transcript. */
  readonly contents: readonly HistoryItem[];
}

/** One content of a listing, with its origin in the log. */
export interface HistoryItem {
  readonly role: "model" | "user";
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  readonly entryId: string;
  readonly kind: string;
  readonly seq: number;
  /** The entries that it represents, if they are others than `entryId` alone (a snapshot hides many). */
  readonly entryIds?: readonly string[];
  readonly turnId?: string;
  readonly time?: number;
  /** How its turn ended, if not completed: `cancelled`, `failed`, `interrupted`, `stopped`; `replaced` by another. */
  readonly outcome?: string;
  /** The place of that end in the log: a compression before it ran within the turn. */
  readonly endSeq?: number;
  /** The compression that hides it from the model. */
  readonly hiddenBy?: string;
  /** Why its turn failed. */
  readonly reason?: string;
  /** Who cancelled its turn: a client's id; `leave` where its own client went, `shutdown` where the daemon ended. */
  readonly by?: string;
  /** In a transcript: what was shown behind it of an answer that was cut short. `outcome` says how, also where the content itself is kept. */
  readonly shown?: Shown;
  /** Parts at the end of `parts` that hooks added. */
  readonly hookContexts?: number;
  /** Of a prompt: the slash command that it is; what that stands for are the parts behind what was typed. */
  readonly command?: CommandUse;
  /** Of a prompt: the attached files; the last parts are theirs, one for each. */
  readonly attachments?: readonly Attachment[];
  /** Of a prompt: files that it names and that were not attached, and why. */
  readonly withheld?: readonly Withheld[];
  /** Of the kind `ide`, in a transcript. */
  readonly receipt?: ContextReceipt;
  /** Of tool results: what became of each call, in their order. */
  readonly calls?: readonly CallRecord[];
  /** Of a reply in a transcript, as the next three. */
  readonly model?: string;
  readonly finishReason?: string;
  readonly usage?: Usage;
  /** How long the turn took, on its last reply. */
  readonly durationMs?: number;
}

/** The text of an answer that was cut short, and its thoughts, as far as they came. */
export interface Shown {
  readonly text?: string;
  readonly thoughts?: string;
}

/** What of the editor went to the model with a turn, and what was withheld and why. */
export interface ContextReceipt {
  readonly kind: "delta" | "full";
  readonly files: readonly string[];
  readonly selectionChars: number;
  readonly withheld: readonly Withheld[];
  /** Those of `files` that the model was told are open no more. */
  readonly closed?: readonly string[];
  /** How much was sent of the files whose text it is about; of the other files only the path. */
  readonly texts?: readonly TextExtent[];
  readonly selectionCut?: SelectionCut;
  /** Open files that were left out because only so many go along. */
  readonly moreOpenFiles?: number;
}

/** Contents in order. */
export interface HistoryPage {
  readonly contents: readonly HistoryItem[];
  /** The log's newest sequence number. */
  readonly version: number;
  /** Rises with every change of the view except appending. */
  readonly epoch: number;
  /** Where the next page begins; absent on the last. */
  readonly nextCursor?: string;
}

/** The end of a turn. */
export interface ChatResult {
  readonly sessionId: string;
  readonly turnId: string;
  readonly text: string;
  readonly finishReason: string;
  readonly model: string;
  /** Of its last request. */
  readonly usage: Usage;
  /** The sums over all its requests. */
  readonly turnUsage?: Usage;
  /** The compression that ran within the turn, if one did. */
  readonly compression?: CompressionResult;
  /** Nothing was sent, or the turn was ended early. */
  readonly stopped?: "blocked" | "budget" | "contextWindowWillOverflow" | "loopDetected" | "maxToolRounds" | "maxTurns";
  /** The prompt, if nothing was sent. */
  readonly prompt?: readonly Readonly<Record<string, unknown>>[];
  /** Where it was stopped: why, and what can be done, in sentences for people. */
  readonly message?: string;
}

/** Whether there was a job to cancel. */
export interface CancelResult {
  readonly cancelled: boolean;
}

/** Every compression of a session, newest first. */
export interface CompressionList {
  readonly compressions: readonly CompressionInfo[];
}

/** One compression of a session. */
export interface CompressionInfo {
  readonly compressionId: string;
  readonly status: "COMPRESSED" | "COMPRESSION_FAILED_EMPTY_SUMMARY" | "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" | "COMPRESSION_FAILED_LOW_RETENTION" | "COMPRESSION_FAILED_TOKEN_COUNT_ERROR" | "CONTENT_TRUNCATED" | "NOOP" | "PREVIEW" | "UNDONE";
  readonly trigger: "auto" | "background" | "manual";
  readonly time: number;
  readonly originalTokenCount: number;
  readonly newTokenCount: number;
  /** `outdated`: a preview that cannot be applied any more, since what it hides was changed. */
  readonly state: "covered" | "inForce" | "outdated" | "preview" | "undone";
  /** The span of sequence numbers that it hides, both inclusive. */
  readonly hides?: readonly [number, number];
  /** Ids of the compressions that it stands on. */
  readonly covers?: readonly string[];
  /** Its place in the log, between the contents. */
  readonly seq?: number;
  /** Turns of which it hides a content. */
  readonly hiddenTurns?: number;
  readonly message?: string;
  /** Tool outputs that it shortened. */
  readonly cuts?: number;
  readonly snapshot?: string;
  /** What of the hidden facts was put back behind the snapshot. */
  readonly appendix?: string;
  readonly retention?: Retention;
  readonly strategy?: "assemble" | "hierarchical" | "record" | "reserve" | "selective" | "semantic" | "split" | "userMessages";
  /** A person's, 1 to 5. */
  readonly rating?: number;
  readonly note?: string;
  /** Whether the API counted both numbers; `estimate` if absent. */
  readonly tokenCountSource?: "api" | "estimate";
  /** It came with the imported file and cannot be undone. */
  readonly fromFile?: boolean;
}

/** Where the lines of a snapshot come from; a line whose source is not known is left out. */
export interface CompressionSources {
  readonly compressionId: string;
  readonly lines: readonly SourcedLine[];
}

/** A line of a snapshot and where it comes from. */
export interface SourcedLine {
  /** From 0, in the text that `snapshot` gives. */
  readonly line: number;
  readonly turnIds: readonly string[];
  /** The contents, oldest first. */
  readonly entryIds: readonly string[];
}

/** What is kept beside the snapshot of a compression. */
export interface KeptReport {
  /** Absent where no compression in force keeps what was said: it has another strategy, or there is none. */
  readonly compressionId?: string;
  /** Of the person's, in order; the newest if there are too many. */
  readonly statements?: readonly Statement[];
  /** How many older ones are not listed. */
  readonly omitted?: number;
  /** How many of all of them stand word for word. */
  readonly whole?: number;
  /** Tokens that they take. */
  readonly tokens?: number;
  /** How many they may. */
  readonly budget?: number;
  /** Sentences of the model's that are quoted. */
  readonly modelStatements?: number;
  /** Calls that have a line. */
  readonly calls?: number;
  /** Nothing of it holds yet; applied, it keeps what is wanted then. */
  readonly isPreview?: boolean;
  /** Whether the next compression will keep others, for the person has set it so since. */
  readonly isOutdated?: boolean;
}

/** A sentence of the person's that a compression hides. */
export interface Statement {
  readonly statementId: string;
  readonly text: string;
  readonly turnId: string;
  /** Whether the request has it word for word, its beginning alone, or not at all: there was no room, or it is not wanted. */
  readonly stands: "cut" | "no" | "whole";
  /** False where the person does not want it kept. Counts from the next compression on. */
  readonly isKept?: boolean;
  /** The rule in force that it says: that is kept whatever is set here. */
  readonly constraintId?: string;
}

/** The session's tokens by part. The parts add up to `tokenCount`, with `free` to `tokenLimit` unless exceeded. */
export interface ContextReport {
  readonly sessionId: string;
  readonly model: string;
  readonly tokenCount: number;
  readonly tokenCountSource: "api" | "estimate";
  readonly tokenLimit: number;
  readonly byPart: RequestParts;
  readonly free: number;
  /** Share of the limit at which automatic compression starts. */
  readonly threshold: number;
  /** `None` while automatic compression is off. */
  readonly tokensUntilCompression: number | null;
  /** Tokens at which automatic compression starts: by its threshold, or by the cap; absent while it is off. */
  readonly compressionAt?: number;
}

/** Estimated or counted tokens of a request, part by part. `messages` includes the prompt. */
export interface RequestParts {
  readonly systemInstruction: number;
  readonly tools: number;
  readonly environment: number;
  readonly memory: number;
  readonly ideContext: number;
  readonly snapshot: number;
  /** Rules and pins that stand in a content of their own; those in a prompt are part of `messages`. */
  readonly constraints: number;
  readonly messages: number;
  readonly toolOutputs: number;
}

/** The system prompt that a session's next request has. */
export interface SystemPromptReport {
  readonly text: string;
  /** An estimate. */
  readonly tokens: number;
  /** Built in, the file that GEMINI_SYSTEM_MD names, or the session's own, which its client or its file gave. */
  readonly source: "GEMINI_SYSTEM_MD" | "builtIn" | "session";
  /** Those that stand in it, in their order; empty where it was replaced. */
  readonly sections: readonly PromptSection[];
}

/** A section of the system prompt. */
export interface PromptSection {
  readonly name: string;
  /** An estimate. */
  readonly tokens: number;
}

/** The IDE context as the next turn would send it. `text` is absent when nothing would be sent. */
export interface ContextPreview {
  readonly kind: "delta" | "full" | "none";
  readonly files: readonly string[];
  readonly withheld: readonly Withheld[];
  readonly selectionChars: number;
  readonly text?: string;
  /** Those of `files` that the model is told are open no more. */
  readonly closed?: readonly string[];
  /** How much the message gives of the files whose text it is about. */
  readonly texts?: readonly TextExtent[];
  readonly selectionCut?: SelectionCut;
  /** Open files that are left out because only so many go along. */
  readonly moreOpenFiles?: number;
  /** Every open file of the client's report, the last focused first. */
  readonly openFiles?: readonly ContextFile[];
}

/** An open file, and how much of it the model knows once the next prompt is sent. */
export interface ContextFile {
  /** As the client named it. */
  readonly uri: string;
  /** Its base name. */
  readonly name: string;
  /** All of its text; whole lines of it; a part of which not every line is whole; only its path; nothing. */
  readonly extent: "lines" | "none" | "part" | "path" | "whole";
  readonly isActive?: boolean;
  /** The first and last line, from 1, if it is not whole. */
  readonly lines?: readonly [number, number];
  /** How many lines it has, if it is not whole. */
  readonly lineCount?: number;
  readonly unsaved?: boolean;
  /** Which lines go along of a selection that is too long. */
  readonly selectionCut?: SelectionCut;
  /** Why nothing or only the path goes along, in a few words; empty for a path if that is all that is meant to. */
  readonly reason?: string;
}

/** The matches, best first; `truncated` if there are more, or the workspace was too large to be searched whole. */
export interface WorkspaceFileList {
  readonly files: readonly WorkspaceFile[];
  readonly truncated: boolean;
}

/** A file or a folder that `@` can name: `path` is what to write after it, in quotes if it has spaces. */
export interface WorkspaceFile {
  readonly uri: string;
  /** Relative to its workspace folder; with that folder's name in front if there are several, absolute if two of them have the same name. */
  readonly path: string;
  readonly isDirectory?: boolean;
}

/** What is to be known of a prompt before it is sent. */
export interface PromptCheck {
  /** In order, each once. A word after an `@` that is nothing here and looks like no path is not among them. */
  readonly mentions: readonly MentionCheck[];
}

/** What a prompt names with `@`, and what becomes of it. */
export interface MentionCheck {
  /** As it stands in the prompt, with the `@`. */
  readonly written: string;
  /** What goes along. `resource` is an MCP server's, which alone knows whether it has it. `nothing` has a reason. */
  readonly found: "file" | "folder" | "nothing" | "resource";
  /** Absolute, if there is one. */
  readonly path?: string;
  /** Why it does not go along, in a few words. */
  readonly reason?: string;
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

/** What was found, best first. */
export interface RecallResult {
  readonly hits: readonly RecallHit[];
  /** Sessions that are searched in part only, since they are still being indexed; absent if there are none. */
  readonly unindexed?: number;
}

/** Something that was said, and where. */
export interface RecallHit {
  readonly sessionId: string;
  readonly sessionTitle: string;
  readonly turnId: string;
  readonly entryId: string;
  readonly role: "model" | "tool" | "user";
  readonly time: number;
  /** Of a search the passage, at most 600 characters around what matches; of a turn or an entry all of it. */
  readonly text: string;
  /** Larger is better; comparable within one answer only. 0 where nothing was searched for. */
  readonly score?: number;
  /** How the two entries before it begin, oldest first, at most 200 characters each. */
  readonly before?: readonly string[];
  /** The same of the two entries after it. */
  readonly after?: readonly string[];
  /** Of a call's output all that there are; `text` has some of them, from the asked offset on. */
  readonly characters?: number;
  /** A compression hides it from the model in its session. */
  readonly isHidden?: boolean;
}

/** The constraints of a session, pins among them, oldest first; released ones too. */
export interface ConstraintList {
  readonly constraints: readonly Constraint[];
}

/** The memory files that count now: the person's own, extensions', the project's, those below its folders. */
export interface MemoryList {
  readonly files: readonly MemoryFileInfo[];
  /** Estimated tokens of those that stand in every request. */
  readonly tokenCount: number;
}

/** A memory file. */
export interface MemoryFileInfo {
  /** Absolute. */
  readonly path: string;
  /** `global` stands in the system instruction, `extension` and `project` in the first content of every request; `subdirectory` goes along with what touches its folder. */
  readonly scope: "extension" | "global" | "project" | "subdirectory";
  /** Estimated, with its imports. */
  readonly tokenCount: number;
  /** Absolute paths of what it imports. */
  readonly imports: readonly string[];
  /** What is wrong with it, for people; absent if nothing is. */
  readonly problem?: string;
}

/** A fact was added to a memory file. */
export interface MemoryAdded {
  /** Absolute. */
  readonly path: string;
  /** Unified. */
  readonly diff: string;
}

/** The subagents, those that can be called first. */
export interface AgentList {
  readonly agents: readonly AgentInfo[];
}

/** A subagent that can be called, or a file that defines none. */
export interface AgentInfo {
  readonly name: string;
  readonly description?: string;
  readonly displayName?: string;
  readonly source?: "builtIn" | "extension" | "user" | "workspace";
  /** Absolute path of its file. */
  readonly path?: string;
  /** Names of the tools that it may call now. */
  readonly tools?: readonly string[];
  /** Empty for the chat's. */
  readonly model?: string;
  readonly maxTurns?: number;
  readonly timeoutMinutes?: number;
  readonly enabled?: boolean;
  /** What is wrong with the file, with the line. */
  readonly problem?: string;
  /** Of the problem, from 1. */
  readonly line?: number;
}

/** The hooks in force. */
export interface HookList {
  readonly enabled: boolean;
  readonly hooks: readonly ListedHook[];
  /** What of the settings' hooks was left out, and why; a sentence each. */
  readonly problems: readonly string[];
}

/** One hook. */
export interface ListedHook {
  readonly event: "AfterAgent" | "AfterModel" | "AfterTool" | "BeforeAgent" | "BeforeModel" | "BeforeTool" | "BeforeToolSelection" | "Notification" | "PostCompress" | "PreCompress" | "SessionEnd" | "SessionStart";
  /** What `hooksConfig.disabled` knows it by: its name, else its command. */
  readonly name: string;
  readonly command: string;
  readonly matcher: string;
  readonly sequential: boolean;
  readonly timeoutMs: number;
  /** The layer of the settings that it is from: `user`, `workspace` or `editor`. */
  readonly source: string;
  /** `off`: the settings turn it off. `withheld`: not in a workspace that is not trusted. */
  readonly state: "off" | "on" | "withheld";
  /** The settings file that has it, unless it comes from the editor or the command line. */
  readonly file?: string;
  /** Its line in it, from 1. */
  readonly line?: number;
  readonly lastRun?: LastRun;
}

/** How a hook last ran in this process, in whatever session. */
export interface LastRun {
  /** When, in ms since 1970. */
  readonly at: number;
  readonly outcome: "asked" | "changed" | "denied" | "failed" | "ok" | "stopped" | "timedOut";
  readonly durationMs: number;
  /** Why it refused or failed, or what it said; for people. */
  readonly message?: string;
}

/** The servers that the settings name, by name, and what of the settings is malformed. */
export interface McpList {
  readonly servers: readonly McpServerInfo[];
  readonly problems: readonly string[];
}

/** A server. */
export interface McpServerInfo {
  readonly name: string;
  readonly state: "consentNeeded" | "disabled" | "excluded" | "failed" | "held" | "loginNeeded" | "off" | "ready" | "restarting" | "starting" | "untrusted";
  /** The layer of the settings that it is from. */
  readonly source: string;
  /** The user's own settings name it; else the workspace's do. */
  readonly isPersonal: boolean;
  readonly transport: "http" | "sse" | "stdio";
  /** What is started or reached with all that goes along, whole and quoted as for bash, signs that cannot be seen written out. What the user's own settings hold is named by where it comes from: this is all that an agreement is to. */
  readonly command: string;
  /** What an agreement is about: another one after every change of the definition. */
  readonly digest: string;
  /** Its tools are called unasked. */
  readonly isTrusted: boolean;
  readonly canLogIn: boolean;
  /** What may deceive in `command`, for whoever is to agree: a sentence each. */
  readonly warnings: readonly string[];
  /** What it says that it is. */
  readonly title: string;
  /** What went wrong last, in sentences; empty if nothing did. */
  readonly error: string;
  readonly restarts: number;
  readonly tools: readonly McpToolInfo[];
  /** How many it offers, each a slash command of scope `server` in `gemini/commands/list`. */
  readonly prompts: number;
  readonly resources: number;
}

/** A tool of a server. */
export interface McpToolInfo {
  /** As models call it, and as rules name it. */
  readonly name: string;
  /** As the server calls it. */
  readonly wireName: string;
  readonly description: string;
}

/** The newest lines of a server's log, oldest first. */
export interface McpLog {
  readonly lines: readonly string[];
}

/** Resources of the servers that answer, those first that fit what was typed best. */
export interface McpCompletions {
  readonly resources: readonly McpResourceInfo[];
}

/** A resource of a server, which a prompt mentions by `@server:uri`. */
export interface McpResourceInfo {
  /** With the sign. */
  readonly mention: string;
  readonly name: string;
  readonly description: string;
}

/** The session's mode. */
export interface ModeResult {
  readonly sessionId: string;
  readonly mode: "acceptEdits" | "ask" | "plan";
}

/** The tools of a session, and what its turn leaves open. */
export interface ToolList {
  readonly mode: "acceptEdits" | "ask" | "plan";
  readonly tools: readonly ToolInfo[];
  readonly todos?: readonly Todo[];
  /** Those that wait for an answer, oldest first. */
  readonly questions?: readonly ToolQuestion[];
  /** What holds commands back here, or that nothing does. */
  readonly sandbox?: string;
  /** The turn that can be gone on with; absent while a turn is under way or waits. */
  readonly unfinished?: UnfinishedTurn;
}

/** A tool that the model has. */
export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly risk: string;
  /** What would be decided of a plain call now. */
  readonly decision: "allow" | "ask" | "deny";
}

/** The newest turn, where it ended early and `gemini/chat/resume` can go on with it. */
export interface UnfinishedTurn {
  readonly turnId: string;
  /** How it ended. */
  readonly outcome: "cancelled" | "completed" | "failed" | "interrupted" | "replaced" | "stopped";
  /** Why, if it failed or was stopped. */
  readonly reason?: string;
}

/** What one call of a tool did, as people read it. */
export interface ShownCall {
  /** Unified: what it changed in files. */
  readonly diff?: string;
  /** What it put out, without what only the model was told; the end of a long one. */
  readonly output?: string;
  /** There is more of the diff or of the output. */
  readonly isCut?: boolean;
}

/** The rules of consent in force, those that are asked first at the front. */
export interface RuleList {
  readonly rules: readonly StoredRule[];
}

/** A rule of consent, and where it comes from. */
export interface StoredRule {
  readonly rule: ToolRule;
  readonly source: "default" | "editor" | "session" | "system" | "user" | "workspace";
  /** By which a session's or the user's rule is taken back; absent for others. */
  readonly ruleId?: string;
  /** The same in words. */
  readonly text?: string;
}

/** The slash commands that the daemon carries out, by name in order, built-in ones first. */
export interface SlashCommandList {
  readonly commands: readonly SlashCommandInfo[];
  /** Command files that are skipped. */
  readonly problems: readonly FileProblem[];
}

/** A slash command. */
export interface SlashCommandInfo {
  /** What is typed behind the slash. */
  readonly name: string;
  /** One line, for people. */
  readonly description: string;
  /** Whose it is. */
  readonly scope: "builtIn" | "extension" | "server" | "user" | "workspace";
  /** The extension or the MCP server that it is of. */
  readonly owner?: string;
  /** What may follow it; empty if nothing, or if that is not known. */
  readonly hint?: string;
  /** Those that have names. */
  readonly arguments?: readonly CommandArgument[];
  /** Other names that it answers to. */
  readonly aliases?: readonly string[];
  /** The file that defines it, absolute. */
  readonly path?: string;
  /** It runs shell lines, which are asked about as the tool's are, a project's unless a rule allows them. */
  readonly runsCommands?: boolean;
}

/** An argument with a name, given as `--name="value"`. */
export interface CommandArgument {
  readonly name: string;
  readonly description?: string;
  readonly isRequired?: boolean;
}

/** A file that is skipped, and why. */
export interface FileProblem {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** For people, a few words. */
  readonly message: string;
}

/** What went to the model in the place of a slash command. */
export interface SentText {
  /** What was typed. */
  readonly line: string;
  /** What it stood for, word for word. */
  readonly text: string;
}

/** The skills that there are, by name in order. */
export interface SkillList {
  readonly skills: readonly SkillInfo[];
  /** Files that are skipped. */
  readonly problems: readonly FileProblem[];
  /** Whether there are skills at all, by `skills.enabled`. */
  readonly isEnabled: boolean;
  /** Estimated tokens of what stands of them in every request. */
  readonly tokenCount: number;
}

/** A skill. */
export interface SkillInfo {
  readonly name: string;
  readonly description: string;
  /** Whose it is. */
  readonly scope: "extension" | "user" | "workspace";
  /** Of its `SKILL.md`, absolute. */
  readonly path: string;
  /** Models are told of it. */
  readonly isEnabled: boolean;
  /** The extension that it is of. */
  readonly owner?: string;
}

/** The session's commands that run, and background ones that ended. */
export interface CommandList {
  readonly commands: readonly BackgroundCommand[];
}

/** Whether there was something to stop. */
export interface StopResult {
  readonly stopped: boolean;
}

/** The files that turns changed, newest turn first. */
export interface ChangeList {
  readonly changes: readonly Change[];
  /** What is not among them, such as what commands did outside the workspace. */
  readonly note?: string;
}

/** What a turn did to a file, from its first to its last change in that turn; its subagents' are among them. */
export interface Change {
  readonly turnId: string;
  readonly path: string;
  readonly kind: "changed" | "created" | "deleted" | "renamed";
  /** Lines. */
  readonly added: number;
  /** Lines. */
  readonly removed: number;
  /** Unified; empty for what is no text. */
  readonly diff: string;
  readonly fromPath?: string;
  /** `kept`: the person said so; it is not counted any more, and can still be taken back. */
  readonly state?: "kept" | "made" | "reverted";
  readonly canRevert?: boolean;
  /** Why it cannot be taken back. */
  readonly reason?: string;
  readonly byCommand?: boolean;
  /** Titles of the subagents that made it, or a part of it, for the turn. */
  readonly agents?: readonly string[];
  /** Number of places in `diff`, which `gemini/changes/revert` can name from 0. */
  readonly hunks?: number;
}

/** What was put back. */
export interface RevertResult {
  readonly reverted: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** The revert itself, which can be taken back in turn. */
  readonly changeId?: string;
  /** What else is to be known, for people: a command in the background may change files again. */
  readonly note?: string;
}

/** A file that was left as it is, and why. */
export interface Conflict {
  readonly path: string;
  readonly reason: string;
}

/** Every setting, in the order of the schema. */
export interface SettingList {
  readonly settings: readonly SettingInForce[];
  /** Whether the workspace is trusted now, and so its settings count. */
  readonly trusted: boolean;
  /** What is wrong with the files and the editor's section, each with its place. What they last held counts on. */
  readonly problems?: readonly string[];
}

/** A setting: its value, and where that comes from. */
export interface SettingInForce {
  /** As in `model.name`. */
  readonly key: string;
  /** The value in force, secrets masked; absent where nothing is set and there is no default. */
  readonly value?: unknown;
  /** What it would be if nobody had set it. */
  readonly default?: unknown;
  /** Where the value comes from; of joined lists the highest layer that adds to it. */
  readonly layer: "commandLine" | "default" | "editor" | "environment" | "experiment" | "system" | "systemDefaults" | "user" | "workspace";
  /** The layer's file, if it has one; of a variable the `.env` file that sets it. */
  readonly file?: string;
  /** The key's line in it, from 1, unless the file is broken or has the key under an old name. */
  readonly line?: number;
  /** The variable, if it comes from the environment or a `.env` file. */
  readonly variable?: string;
  /** Lower layers that set it too: they count only where lists are joined. */
  readonly also?: readonly ("commandLine" | "default" | "editor" | "environment" | "experiment" | "system" | "systemDefaults" | "user" | "workspace")[];
  /** What it is for. */
  readonly description?: string;
}

/** The models, which one is in use, and why. */
export interface ModelReport {
  readonly models: readonly ModelInfo[];
  /** The name that was asked for. */
  readonly current: string;
  /** The model that the settings choose, for a chat that asks for no other; also while another one answers for it. */
  readonly default: string;
  /** The model provider that answers: `gemini`, `offline`, or another adapter's name. */
  readonly provider: string;
  /** It runs on this machine: nothing of the conversation leaves it. */
  readonly isLocal: boolean;
  /** Why this provider answers, a sentence for people. */
  readonly reason: string;
  readonly hint: string;
  /** Settings files that cannot be read now: what each last held stays in force, or everything is asked about. */
  readonly unread?: readonly string[];
}

/** A model that can be chosen. */
export interface ModelInfo {
  readonly name: string;
  readonly tokenLimit: number;
  readonly description: string;
}

/**
 * What a session, or all of a project, did and cost.
 *
 * The sums are over all requests to models. A session that was forked begins at nothing, and a project counts of an imported one what was done since.
 */
export interface Stats {
  /** Absent for a whole project. */
  readonly sessionId?: string;
  readonly sessions?: number;
  /** Sessions of the project that could not be read and are left out. */
  readonly unreadable?: number;
  readonly turns: number;
  /** Times that a model went round in circles. */
  readonly loops?: number;
  readonly calls: number;
  readonly failures: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly thoughtTokens: number;
  readonly outputTokens: number;
  /** Of what was sent, the share that the provider had in its cache, 0 to 1. */
  readonly cachedShare: number;
  /** Those that were installed, undone ones too. */
  readonly compressions: number;
  /** By the compressions in force. */
  readonly tokensSaved: number;
  /** By list prices, of the calls whose price is known. */
  readonly cost: number;
  /** False where tokens were not counted, or a model is not in the price table. */
  readonly isCostComplete: boolean;
  /** Part of `cost`. */
  readonly compressionCost: number;
  /** Year and month of the price table, as in `2026-10`. */
  readonly pricesAsOf: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** By model and purpose, the most tokens first. */
  readonly models?: readonly ModelSums[];
  /** The most calls first. */
  readonly tools?: readonly ToolSums[];
  /** The newest, oldest first; of one session. */
  readonly compressionList?: readonly CompressionSums[];
  /** The newest, oldest first; of one session. */
  readonly turnList?: readonly TurnSums[];
  /** Some of them in order, the first and the last among them; of one session. */
  readonly requests?: readonly RequestPoint[];
}

/** The requests to one model for one purpose. */
export interface ModelSums {
  /** `""` where the log does not say. */
  readonly model: string;
  readonly purpose: "answer" | "compression" | "condensing" | "grounding" | "loopCheck" | "preparing" | "routing" | "title";
  readonly calls: number;
  /** Calls that failed or were cancelled. */
  readonly failures: number;
  readonly promptTokens: number;
  /** Part of `promptTokens`. */
  readonly cachedTokens: number;
  readonly thoughtTokens: number;
  readonly outputTokens: number;
  /** Calls whose tokens nobody counted. */
  readonly uncounted: number;
  /** By list prices; absent where a call's price is not known. A model on this machine costs nothing. */
  readonly cost?: number;
  /** Until the first piece of an answer. */
  readonly first?: Latency;
  readonly whole?: Latency;
}

/** How long requests took in milliseconds, out of the newest 2,000. */
export interface Latency {
  readonly median: number;
  readonly p95: number;
  readonly calls: number;
}

/** The calls of one tool. */
export interface ToolSums {
  readonly name: string;
  readonly calls: number;
  readonly ok: number;
  readonly declined: number;
  readonly failed: number;
  /** Of all calls, without the time that questions waited. */
  readonly durationMs: number;
  /** Estimated tokens that its calls and results have in what the model gets now; of one session. */
  readonly tokens?: number;
}

/** One compression, or an attempt at one. */
export interface CompressionSums {
  readonly time: number;
  readonly status: "COMPRESSED" | "COMPRESSION_FAILED_EMPTY_SUMMARY" | "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" | "COMPRESSION_FAILED_LOW_RETENTION" | "COMPRESSION_FAILED_TOKEN_COUNT_ERROR" | "CONTENT_TRUNCATED" | "NOOP" | "PREVIEW" | "UNDONE";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly modelCalls: number;
  readonly durationMs: number;
  /** As far as prices are known. */
  readonly cost: number;
  /** Absent if nothing was installed. */
  readonly compressionId?: string;
  readonly isUndone?: boolean;
}

/** The requests of one turn: for its answers, and for what was condensed, searched or compressed while it ran. */
export interface TurnSums {
  readonly turnId: string;
  readonly time: number;
  readonly calls: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Thoughts included. */
  readonly outputTokens: number;
  /** By list prices, of the calls whose price is known. */
  readonly cost: number;
  /** As of the whole session. */
  readonly isCostComplete: boolean;
}

/** One request for an answer, as it was sent. */
export interface RequestPoint {
  readonly time: number;
  readonly turnId: string;
  readonly tokens: number;
  readonly cachedTokens: number;
  /** Adds up to `tokens`. */
  readonly byPart: RequestParts;
  readonly tokenLimit: number;
  readonly compressionAt?: number;
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
  | WaitingForSlot
  | ModelLoading
  | MessageDelta
  | ThoughtDelta
  | MessageDiscarded
  | ToolCallStarted
  | ToolCallProgress
  | ToolCallCompleted
  | ToolQuestionAsked
  | ToolQuestionAnswered
  | PromptSteered
  | MaxToolRoundsReached
  | ModeChanged
  | TodosChanged
  | ChangesChanged
  | CommandsChanged
  | OutputsMasked
  | TurnCompleted
  | TurnFailed
  | TurnCancelled
  | ModelChanged
  | UsageUpdated
  | IdeContextSent
  | FilesAttached
  | ContextWindowWillOverflow
  | CompressionStarted
  | CompressionProgress
  | CompressionCompleted
  | CompressionFailed
  | CompressionCancelled
  | CompressionPrepared
  | CompressionUndone
  | ChatCompressed
  | LoopDetected
  | BudgetUsed
  | MaxTurnsReached
  | McpServersChanged
  | MemoryChanged
  | CommandExpanded
  | SlashCommandsChanged
  | SkillsChanged
  | SettingsChanged
  | ConstraintsChanged
  | HookRan
  | AgentActivity
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
  /** Subscribe to a session's events, or unsubscribe. */
  readonly "gemini/session/subscribe": { readonly params: SubscribeParams; readonly result: null };
  /** Go on from a point of a session in a new one, which becomes the current one. */
  readonly "gemini/session/fork": { readonly params: ForkParams; readonly result: SessionInfo };
  /** Give a session a title. */
  readonly "gemini/session/rename": { readonly params: RenameParams; readonly result: SessionInfo };
  /** Keep a session for good, or no longer. */
  readonly "gemini/session/keep": { readonly params: KeepSessionParams; readonly result: SessionInfo };
  /** Forget a session and its files. */
  readonly "gemini/session/delete": { readonly params: SessionIdParams; readonly result: null };
  /** A session as the text of a file. */
  readonly "gemini/session/export": { readonly params: ExportParams; readonly result: Exported };
  /** Read a session file; the session becomes the current one. */
  readonly "gemini/session/import": { readonly params: ImportParams; readonly result: SessionInfo };
  /** The newest turns of a session as its log has them, without loading it: what can be shown while it is opened. */
  readonly "gemini/session/newest": { readonly params: NewestParams; readonly result: NewestContents };
  /** What the model gets, or everything that was ever written. A page's cursor into the model's view holds until its epoch changes. */
  readonly "gemini/session/history": { readonly params: HistoryParams; readonly result: HistoryPage };
  /** Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order. */
  readonly "gemini/chat": { readonly params: ChatParams; readonly result: ChatResult };
  /** Go on with a turn that was interrupted, or that used all its rounds, where it stands. */
  readonly "gemini/chat/resume": { readonly params: ResumeParams; readonly result: ChatResult };
  /** Stop a job, whoever started it. */
  readonly "gemini/cancel": { readonly params: CancelParams; readonly result: CancelResult };
  /** Compress the history, or preview what that would give. */
  readonly "gemini/compress": { readonly params: CompressParams; readonly result: CompressionResult };
  /** Where compression stands. Never waits. */
  readonly "gemini/compressionStatus": { readonly params: SessionParams; readonly result: CompressionStatusReport };
  /** Whether compressing now would pay for itself. An estimate; asks no model. */
  readonly "gemini/compression/verdict": { readonly params: SessionParams; readonly result: Verdict };
  /** Install a preview, edited if wished. */
  readonly "gemini/compression/apply": { readonly params: ApplyParams; readonly result: CompressionResult };
  /** Throw a preview away: what is due is compressed of itself again. Nothing for one that was thrown away. */
  readonly "gemini/compression/discard": { readonly params: CompressionParams; readonly result: null };
  /** Take a compression back, with all that cover it. Later turns stay. Which one is settled when it is asked for. */
  readonly "gemini/compression/undo": { readonly params: UndoParams; readonly result: CompressionResult };
  /** Every compression of the session, newest first. */
  readonly "gemini/compression/list": { readonly params: SessionParams; readonly result: CompressionList };
  /** Which turns the lines of a snapshot come from, of a preview as well. */
  readonly "gemini/compression/sources": { readonly params: CompressionParams; readonly result: CompressionSources };
  /** Rate a compression. */
  readonly "gemini/compression/rate": { readonly params: RateParams; readonly result: null };
  /** What a compression keeps word for word: the person's statements with their turns, and how much of the rest. */
  readonly "gemini/kept": { readonly params: KeptParams; readonly result: KeptReport };
  /** Keep a statement of the person's no more, or again; from the next compression on. */
  readonly "gemini/kept/set": { readonly params: KeepStatementParams; readonly result: null };
  /** The token ledger, split by part. */
  readonly "gemini/context": { readonly params: SessionParams; readonly result: ContextReport };
  /** The system prompt that the session's next request has, with the tokens of its sections. */
  readonly "gemini/systemPrompt": { readonly params: SessionParams; readonly result: SystemPromptReport };
  /** The IDE context as the next turn would send it, and what is left out and why. */
  readonly "gemini/context/preview": { readonly params: PreviewContextParams; readonly result: ContextPreview };
  /** The files and folders of the workspace that `@` can name in a prompt, those first that are most likely meant. */
  readonly "gemini/files": { readonly params: FilesParams; readonly result: WorkspaceFileList };
  /** What a prompt names with `@`: what goes along with it, and what does not and why. */
  readonly "gemini/prompt/check": { readonly params: PromptCheckParams; readonly result: PromptCheck };
  /** Pin a text, or a turn's prompt: it stands word for word in every view after a compression. */
  readonly "gemini/pin": { readonly params: PinParams; readonly result: Pin };
  /** Take a pin away. */
  readonly "gemini/unpin": { readonly params: UnpinParams; readonly result: null };
  /** The pins of a session. */
  readonly "gemini/pins": { readonly params: SessionParams; readonly result: PinList };
  /** Find what was said, in all sessions of the project or in one, best first; or give a turn or an entry back whole. */
  readonly "gemini/recall": { readonly params: RecallParams; readonly result: RecallResult };
  /** The rules that the person set, pins among them: proposed, in force, released. */
  readonly "gemini/constraints": { readonly params: SessionParams; readonly result: ConstraintList };
  /** Take a rule in, propose, release or reword it, or make a new one. */
  readonly "gemini/constraints/set": { readonly params: SetConstraintParams; readonly result: Constraint };
  /** The memory files that count now, with what they import, their tokens, and what is wrong with them. */
  readonly "gemini/memory/list": { readonly params: Empty; readonly result: MemoryList };
  /** Keep a fact in a memory file: the person's own for every project, or the one of this project. */
  readonly "gemini/memory/add": { readonly params: AddMemoryParams; readonly result: MemoryAdded };
  /** Read the memory files anew. What is different counts from the next turn on. */
  readonly "gemini/memory/reload": { readonly params: Empty; readonly result: MemoryList };
  /** The subagents that can be called, and the files that define none, with what is wrong with them. */
  readonly "gemini/agents/list": { readonly params: Empty; readonly result: AgentList };
  /** The hooks of the settings, where each is from, whether it runs, and how it last ran. */
  readonly "gemini/hooks": { readonly params: SessionParams; readonly result: HookList };
  /** Turn the hooks of a name on or off, in the user's own settings file. */
  readonly "gemini/hooks/set": { readonly params: SetHookParams; readonly result: HookList };
  /** The MCP servers of the settings: what each starts or reaches, where it stands, what it offers. Starts none. */
  readonly "gemini/mcp/list": { readonly params: Empty; readonly result: McpList };
  /** Use a server, or do not. */
  readonly "gemini/mcp/enable": { readonly params: McpEnableParams; readonly result: McpList };
  /** Agree to what the workspace's settings want to start, as it was shown; a change of it is asked about anew. */
  readonly "gemini/mcp/agree": { readonly params: McpAgreeParams; readonly result: McpList };
  /** End a server, if it runs, and start it. */
  readonly "gemini/mcp/restart": { readonly params: McpServerParams; readonly result: McpList };
  /** Start a server and log in to it, in the browser that the editor opens. Where it stands comes as an event. */
  readonly "gemini/mcp/login": { readonly params: McpServerParams; readonly result: McpList };
  /** Forget a login, and end the server. */
  readonly "gemini/mcp/logout": { readonly params: McpServerParams; readonly result: McpList };
  /** The newest lines of a server's log. */
  readonly "gemini/mcp/log": { readonly params: McpServerParams; readonly result: McpLog };
  /** Resources of the servers that answer, by what a person has typed of their names behind an `@`. Starts none. */
  readonly "gemini/mcp/complete": { readonly params: McpCompleteParams; readonly result: McpCompletions };
  /** What the session's tools may do unasked: ask (read), plan (only read), acceptEdits (change files too). */
  readonly "gemini/session/mode": { readonly params: ModeParams; readonly result: ModeResult };
  /** The tools of a session, its tasks, and the questions that wait. */
  readonly "gemini/tools": { readonly params: SessionParams; readonly result: ToolList };
  /** What one call did, for people: a diff of what it changed, and its output without what only the model was told. */
  readonly "gemini/tools/shown": { readonly params: ShownCallParams; readonly result: ShownCall };
  /** The rules of consent in force, and where they come from. */
  readonly "gemini/rules": { readonly params: SessionParams; readonly result: RuleList };
  /** Take a rule of the session's or of the user's back. */
  readonly "gemini/rules/revoke": { readonly params: RevokeRuleParams; readonly result: RuleList };
  /** The slash commands that a prompt can be, prompts of MCP servers that run among them, and the command files that are skipped. */
  readonly "gemini/commands/list": { readonly params: Empty; readonly result: SlashCommandList };
  /** What went to the model in the place of a slash command. */
  readonly "gemini/commands/sent": { readonly params: SentTextParams; readonly result: SentText };
  /** The skills, where each is from, and whether models are told of it. */
  readonly "gemini/skills/list": { readonly params: Empty; readonly result: SkillList };
  /** Turn a skill on or off, in the user's own settings. */
  readonly "gemini/skills/enable": { readonly params: EnableSkillParams; readonly result: SkillList };
  /** The commands that run, and background ones that ended. */
  readonly "gemini/commands": { readonly params: SessionParams; readonly result: CommandList };
  /** End a command and all that it started. */
  readonly "gemini/commands/stop": { readonly params: StopCommandParams; readonly result: StopResult };
  /** The files that turns changed, newest turn first, with diffs. */
  readonly "gemini/changes": { readonly params: SessionParams; readonly result: ChangeList };
  /** Put files back as they were, three-way where the person edited meanwhile. A revert can be reverted. */
  readonly "gemini/changes/revert": { readonly params: RevertParams; readonly result: RevertResult };
  /** The changes are wanted: they are not counted any more. */
  readonly "gemini/changes/keep": { readonly params: KeepParams; readonly result: ChangeList };
  /** Every setting with the value in force, secrets masked, and where it comes from. */
  readonly "gemini/settings": { readonly params: Empty; readonly result: SettingList };
  /** The models, which one answers, and why. */
  readonly "gemini/models": { readonly params: Empty; readonly result: ModelReport };
  /** What a session or all of them did and cost. */
  readonly "gemini/stats": { readonly params: StatsParams; readonly result: Stats };
  /** The events after a number, in order; the deltas of a finished turn's answers come as one each. */
  readonly "gemini/events/replay": { readonly params: ReplayParams; readonly result: EventPage };
}

/** What the server may ask. */
export interface ServerRequests {
  /** May this tool run? */
  readonly "gemini/confirmTool": { readonly params: ConfirmToolParams; readonly result: ConfirmToolResult };
  /** The model asks the person. */
  readonly "gemini/askUser": { readonly params: AskUserParams; readonly result: AskUserResult };
  /** What does the editor report for these files? */
  readonly "gemini/diagnostics": { readonly params: DiagnosticsParams; readonly result: DiagnosticsResult };
  /** Write an open document to the disk. */
  readonly "gemini/saveDocument": { readonly params: SaveDocumentParams; readonly result: SaveDocumentResult };
  /** Show a proposed change. */
  readonly "gemini/openDiff": { readonly params: OpenDiffParams; readonly result: OpenDiffResult };
}

/** What a client may send without an answer. */
export interface Notifications {
  /** What the editor shows. A later one replaces an earlier one. */
  readonly "gemini/ideContext/didChange": IdeContextParams;
}

/** What the server sends without an answer. */
export interface ServerNotifications {
  /** What happens in a session that the client is subscribed to. */
  readonly "gemini/event": EventParams;
  /** Where compression stands, on every change of it. */
  readonly "gemini/compressionStatus/didChange": CompressionStatusReport;
  /** Another process took a session that this client is subscribed to. Opening it again tells who has it now. */
  readonly "gemini/session/taken": SessionIdParams;
}

/** The commands of `workspace/executeCommand`. */
export interface Commands {
  /** Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order. */
  readonly "gemini.chat": { readonly argument: ChatParams; readonly result: ChatResult };
  /** Compress the history, or preview what that would give. */
  readonly "gemini.compress": { readonly argument: CompressParams; readonly result: CompressionResult };
  /** Where compression stands. Never waits. */
  readonly "gemini.compressionStatus": { readonly argument: SessionParams; readonly result: CompressionStatusReport };
  /** Take a compression back, with all that cover it. Later turns stay. Which one is settled when it is asked for. */
  readonly "gemini.undoCompression": { readonly argument: UndoParams; readonly result: CompressionResult };
  /** Start a session; it becomes the client's current one. */
  readonly "gemini.newSession": { readonly argument: NewSessionParams; readonly result: SessionInfo };
  /** Pin the selected text. */
  readonly "gemini.pinSelection": { readonly argument: PinSelectionParams; readonly result: Pin };
  /** The token ledger, split by part. */
  readonly "gemini.showContext": { readonly argument: SessionParams; readonly result: ContextReport };
}

export const RequestMethod = {
  sessionNew: "gemini/session/new",
  sessionList: "gemini/session/list",
  sessionOpen: "gemini/session/open",
  sessionSubscribe: "gemini/session/subscribe",
  sessionFork: "gemini/session/fork",
  sessionRename: "gemini/session/rename",
  sessionKeep: "gemini/session/keep",
  sessionDelete: "gemini/session/delete",
  sessionExport: "gemini/session/export",
  sessionImport: "gemini/session/import",
  sessionNewest: "gemini/session/newest",
  sessionHistory: "gemini/session/history",
  chat: "gemini/chat",
  chatResume: "gemini/chat/resume",
  cancel: "gemini/cancel",
  compress: "gemini/compress",
  compressionStatus: "gemini/compressionStatus",
  compressionVerdict: "gemini/compression/verdict",
  compressionApply: "gemini/compression/apply",
  compressionDiscard: "gemini/compression/discard",
  compressionUndo: "gemini/compression/undo",
  compressionList: "gemini/compression/list",
  compressionSources: "gemini/compression/sources",
  compressionRate: "gemini/compression/rate",
  kept: "gemini/kept",
  keptSet: "gemini/kept/set",
  context: "gemini/context",
  systemPrompt: "gemini/systemPrompt",
  contextPreview: "gemini/context/preview",
  files: "gemini/files",
  promptCheck: "gemini/prompt/check",
  pin: "gemini/pin",
  unpin: "gemini/unpin",
  pins: "gemini/pins",
  recall: "gemini/recall",
  constraints: "gemini/constraints",
  constraintsSet: "gemini/constraints/set",
  memoryList: "gemini/memory/list",
  memoryAdd: "gemini/memory/add",
  memoryReload: "gemini/memory/reload",
  agentsList: "gemini/agents/list",
  hooks: "gemini/hooks",
  hooksSet: "gemini/hooks/set",
  mcpList: "gemini/mcp/list",
  mcpEnable: "gemini/mcp/enable",
  mcpAgree: "gemini/mcp/agree",
  mcpRestart: "gemini/mcp/restart",
  mcpLogin: "gemini/mcp/login",
  mcpLogout: "gemini/mcp/logout",
  mcpLog: "gemini/mcp/log",
  mcpComplete: "gemini/mcp/complete",
  sessionMode: "gemini/session/mode",
  tools: "gemini/tools",
  toolsShown: "gemini/tools/shown",
  rules: "gemini/rules",
  rulesRevoke: "gemini/rules/revoke",
  commandsList: "gemini/commands/list",
  commandsSent: "gemini/commands/sent",
  skillsList: "gemini/skills/list",
  skillsEnable: "gemini/skills/enable",
  commands: "gemini/commands",
  commandsStop: "gemini/commands/stop",
  changes: "gemini/changes",
  changesRevert: "gemini/changes/revert",
  changesKeep: "gemini/changes/keep",
  settings: "gemini/settings",
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
  sessionTaken: "gemini/session/taken",
} as const satisfies Readonly<Record<string, keyof ServerNotifications>>;

export const ServerRequestMethod = {
  confirmTool: "gemini/confirmTool",
  askUser: "gemini/askUser",
  diagnostics: "gemini/diagnostics",
  saveDocument: "gemini/saveDocument",
  openDiff: "gemini/openDiff",
} as const satisfies Readonly<Record<string, keyof ServerRequests>>;

/** The version of the protocol that these types describe. */
export const PROTOCOL_VERSION = 2;

/** JSON-RPC error codes by `FaultData.kind`. */
export const ErrorCode = {
  overloaded: 1011,
  blocked: 1010,
  compressionNotFound: 1009,
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
