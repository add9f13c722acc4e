/** The open chat, as it is: its rows, session, numbers, draft and what went wrong. It emits every change; `Chat` and `Prompts` make them. */
import { EventEmitter, type Disposable, type Event } from "vscode";
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import type { AnswerRow, ErrorView, PanelState, ScrollAnchor, ToolRow } from "../panel/contract.js";
import type { Enclosed } from "../panel/written.js";
import type { CompressionStatusReport, ModelReport, SessionInfo } from "../protocol.gen.js";
import type { DraftFiles } from "./draftFiles.js";
import { DraftStore } from "./draftStore.js";
import type { Pictures } from "./pictures.js";
import { Conversation } from "./pure/conversation.js";
import { errorView } from "./pure/faults.js";
import { retryableTurn } from "./pure/retrying.js";
import { setUnfinished } from "./pure/unfinished.js";
import type { SavedDraft } from "./pure/savedDraft.js";
import type { Translate } from "./pure/words.js";
import type { Transcript } from "./session.js";
import { Work } from "./work.js";

/** VS Code's memory of a workspace. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}

export interface ChatStateNeeds {
  readonly daemon: DaemonPort;
  readonly drafts: DraftFiles;
  readonly pictures: Pictures;
  readonly memory: Memory;
  /** A path as people read it: inside its workspace folder. */
  readonly place: (path: string) => string;
  readonly t: Translate;
}

/** A chat as somebody asked for it. One that is not begun gets its session with its first prompt, also where it is left by then. */
export interface Target {
  sessionId: string | undefined;
  /** What stood in it when it was left before it was begun. */
  left?: { readonly conversation: Conversation; readonly saved: SavedDraft };
}

/** How an answer ended that nobody may have seen. */
export interface AnswerEnd {
  readonly sessionId: string | undefined;
  readonly turnId: string;
  readonly state: AnswerRow["state"];
}

/** The rows `from` to `from + count` changed, or all of them may have. */
export type RowChange = { readonly from: number; readonly count: number } | "reset";

export interface TextDelta {
  readonly row: AnswerRow;
  readonly field: "text" | "thoughts";
  /** The length of the field before. */
  readonly at: number;
  readonly text: string;
}

export interface ToolOutput {
  readonly row: AnswerRow;
  readonly tool: ToolRow;
}

const ASKED_MODEL = "askedModel";
/** A reminder that was put off comes again when the chat has grown by this factor. */
const AGAIN = 1.1;

export class ChatState implements Disposable {
  conversation: Conversation;
  /** Rises with every chat that takes the place of another one: what the page asks for says which one it shows. */
  number = 1;
  /** Absent for a chat that is not begun. */
  info: SessionInfo | undefined;
  models: ModelReport | undefined;
  status: CompressionStatusReport | undefined;

  readonly t: Translate;
  readonly daemon: DaemonPort;
  /** What survives beside the log. */
  readonly draftStore: DraftStore;
  /** The bytes of the pictures that prompts have. */
  readonly pictures: Pictures;
  /** What tools did and may do. */
  readonly work: Work;
  /** How often memory files, slash commands or skills have changed. */
  sourceChanges = 0;
  /** How often MCP servers have moved. */
  serverChanges = 0;

  readonly #changed = new EventEmitter<void>();
  readonly #rowsChanged = new EventEmitter<RowChange>();
  readonly #deltas = new EventEmitter<TextDelta>();
  readonly #outputs = new EventEmitter<ToolOutput>();
  readonly #ended = new EventEmitter<AnswerEnd>();
  readonly #prefilled = new EventEmitter<string>();
  protected readonly memory: Memory;
  readonly #place: (path: string) => string;
  #askedModel: string | undefined;
  #fault: ErrorView | undefined;
  #putOff: { readonly sessionId: string; readonly tokens: number } | undefined;

  constructor(needs: ChatStateNeeds) {
    this.t = needs.t;
    this.daemon = needs.daemon;
    this.draftStore = new DraftStore(needs.drafts);
    this.pictures = needs.pictures;
    this.memory = needs.memory;
    this.#place = needs.place;
    this.work = new Work(
      needs.daemon,
      { t: needs.t, place: needs.place },
      {
        changed: () => this.touch(),
        unfinished: (turn) => setUnfinished(this.conversation, turn),
      },
    );
    this.conversation = this.blankConversation();
    const asked = needs.memory.get(ASKED_MODEL);
    this.#askedModel = typeof asked === "string" && asked ? asked : undefined;
  }

  /** Something but the rows changed. */
  get onDidChange(): Event<void> {
    return this.#changed.event;
  }
  get onDidChangeRows(): Event<RowChange> {
    return this.#rowsChanged.event;
  }
  get onDelta(): Event<TextDelta> {
    return this.#deltas.event;
  }
  get onOutput(): Event<ToolOutput> {
    return this.#outputs.event;
  }
  get onAnswerEnd(): Event<AnswerEnd> {
    return this.#ended.event;
  }
  /** A prompt comes back to the composer. */
  get onPrefill(): Event<string> {
    return this.#prefilled.event;
  }

  get saved(): SavedDraft {
    return this.draftStore.saved;
  }

  /** The last thing that went wrong outside a turn, until something succeeds. */
  get fault(): ErrorView | undefined {
    return this.#fault;
  }

  get isReadOnly(): boolean {
    return this.info?.heldBy !== undefined;
  }

  /** The model that the next prompts ask for; absent while the settings decide. */
  get askedModel(): string | undefined {
    return this.#askedModel;
  }

  /** The model to name in a request: what was picked, or what the settings say where the session keeps to an earlier pick. */
  get nextModel(): string | undefined {
    if (this.#askedModel !== undefined || !this.models || this.models.hint !== "") return this.#askedModel;
    const { default: bySettings } = this.models;
    return this.info && this.info.model !== "" && this.info.model !== bySettings ? bySettings : undefined;
  }

  /** What runs now, as far as this window knows. A queued prompt does not run. */
  get job(): PanelState["job"] {
    const answer = this.conversation.runningAnswer;
    if (answer) {
      const { turnId, state, since } = answer;
      return {
        kind: "turn",
        id: turnId,
        ...(state === "stopping" && since !== undefined ? { stoppingSince: since } : {}),
      };
    }
    const divider = this.conversation.runningCompression;
    return divider ? { kind: "compression", id: divider.compressionId } : { kind: "idle" };
  }

  /** Whether a turn runs that a prompt can be sent into. */
  get canSteer(): boolean {
    const { job } = this;
    return job.kind === "turn" && job.stoppingSince === undefined && !job.id.startsWith("local-") && !this.isReadOnly;
  }

  /** The turn whose prompt can be sent again now. */
  get retryTurn(): string | undefined {
    return this.isReadOnly ? undefined : retryableTurn(this.conversation.rows, this.job);
  }

  /** The rows of the open chat are those of a transcript now. */
  protected loadTranscript({ items, compressions, constraints }: Transcript): void {
    const discarded = new Set(this.saved.discarded);
    for (const item of items) if (item.kind === "prompt" || item.kind === "steer") this.pictures.learn(item.parts);
    this.conversation.load(items, compressions, constraints, discarded);
    for (const { compressionId, state } of compressions)
      if ((state === "preview" || state === "outdated") && discarded.has(compressionId))
        void this.#tellDiscarded(compressionId);
  }

  chooseModel(name: string | undefined): void {
    this.#askedModel = name;
    void this.memory.update(ASKED_MODEL, name);
    this.touch();
  }

  /** The settings name another model: the newest wish counts, so what was picked before is let go, and the chat says so. */
  async modelSettingChanged(): Promise<void> {
    const picked = this.askedModel;
    if (picked !== undefined) this.chooseModel(undefined);
    if (this.daemon.view.kind !== "ready") return;
    this.models = await this.daemon.request("gemini/models", {});
    this.touch();
    if (picked !== undefined && this.info)
      this.conversation.notice(
        "info",
        this.t(
          "The model in the settings was changed, so {0} is no longer picked: {1} answers.",
          picked,
          this.models.default,
        ),
      );
  }

  /** What is typed; `number` tells in which draft, by default in the one that is shown. */
  setDraft(
    draft: string,
    scroll: ScrollAnchor,
    { pasted = [], pictures = [] }: Enclosed = {},
    number = this.draftStore.number,
  ): void {
    if (this.draftStore.typed(number, scroll, { draft, pasted, pictures })) this.prefill(draft); // the page has an older one by now
  }

  /** Put a text into the composer. */
  prefill(text: string): void {
    this.#prefilled.fire(text);
  }

  /** Write the draft now; resolves when it is on the disk. */
  flushDraft(): Promise<void> {
    return this.draftStore.flush();
  }

  discardPreview(compressionId: string): void {
    this.draftStore.change({ discarded: [...new Set([...this.saved.discarded, compressionId])].slice(-100) });
    this.conversation.change(`c:${compressionId}`, "divider", { state: "discarded" });
    void this.#tellDiscarded(compressionId);
    this.touch();
  }

  /** To the daemon, which waits with what is due for a preview that somebody may apply. If it cannot be told, the next reading does. */
  async #tellDiscarded(compressionId: string): Promise<void> {
    const sessionId = this.info?.sessionId;
    if (sessionId === undefined || this.isReadOnly || this.daemon.view.kind !== "ready") return;
    await this.daemon.request("gemini/compression/discard", { sessionId, compressionId }).catch(() => undefined);
  }

  /** Run it; what goes wrong is shown above the composer. */
  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.show(error);
    }
  }

  show(error: unknown): void {
    const { kind } = this.daemon.view;
    if (error instanceof DaemonFault && (error.data.kind === "cancelled" || kind === "failed" || kind === "lost"))
      return;
    this.#fault = viewOf(error, this.t);
    this.touch();
  }

  /** Whether the person is to be told that a compression is due; not before the chat has grown by a tenth if that was put off. */
  get isReminderDue(): boolean {
    const { status, job, isReadOnly } = this;
    if (status?.mode !== "remind" || !status.isDue || job.kind !== "idle" || isReadOnly) return false;
    const putOff = this.#putOff;
    return putOff?.sessionId !== status.sessionId || status.tokenCount >= putOff.tokens * AGAIN;
  }

  remindLater(): void {
    if (this.status) this.#putOff = { sessionId: this.status.sessionId, tokens: this.status.tokenCount };
    this.touch();
  }

  dismissFault(): void {
    this.#fault = undefined;
    this.touch();
  }

  /** Something that the panel shows changed elsewhere. */
  touch(): void {
    this.#changed.fire();
  }

  /** Everything may have changed. */
  reset(): void {
    this.#fault = undefined;
    this.#rowsChanged.fire("reset");
    this.touch();
  }

  /** An answer ended, however it did. */
  ended({ turnId, state }: Pick<AnswerRow, "turnId" | "state">, sessionId = this.info?.sessionId): void {
    this.#ended.fire({ sessionId, turnId, state });
  }

  /** An empty conversation. Its changes are emitted only while it is the one that is shown. */
  blankConversation(): Conversation {
    const isShown = (): boolean => conversation === this.conversation;
    const conversation: Conversation = new Conversation(
      {
        rows: (from, count) => isShown() && this.#rowsChanged.fire({ from, count }),
        delta: (row, field, at, text) => isShown() && this.#deltas.fire({ row, field, at, text }),
        output: (row, tool) => isShown() && this.#outputs.fire({ row, tool }),
        reset: () => isShown() && this.#rowsChanged.fire("reset"),
      },
      this.t,
      Date.now,
      this.#place,
    );
    return conversation;
  }

  dispose(): void {
    this.draftStore.dispose();
    for (const emitter of [this.#changed, this.#rowsChanged, this.#deltas, this.#outputs, this.#ended, this.#prefilled])
      emitter.dispose();
  }
}

/** Any error for people. What is not a fault of the daemon is a defect of ours: its text stays in the log. */
export function viewOf(error: unknown, t: Translate): ErrorView {
  return errorView(faultDataOf(error, t), t, Date.now());
}

/** The data of a fault; of anything else only that it is a defect. */
export function faultDataOf(error: unknown, t: Translate): DaemonFault["data"] {
  if (error instanceof DaemonFault) return error.data;
  return {
    kind: "defect",
    message: t("Something went wrong inside the extension."),
    hint: t("The log says more."),
    retryable: false,
  };
}
