/** The chat of this window: one open session, the prompts on their way to it, and what its panel shows. */
import { EventEmitter, type Disposable, type Event } from "vscode";
import type { ContextReporterPort } from "../context/port.js";
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import type { AnswerRow, ErrorView, PanelState, ScrollAnchor } from "../panel/contract.js";
import type { CompressionStatusReport, EventParams, ModelReport, SessionInfo } from "../protocol.gen.js";
import type { Drafts } from "./drafts.js";
import { Keeping } from "./keeping.js";
import { Conversation, isLive } from "./pure/conversation.js";
import type { Kept } from "./pure/draftFile.js";
import { errorView } from "./pure/faults.js";
import type { PromptQueue } from "./pure/queue.js";
import type { Translate } from "./pure/words.js";
import { Prompts } from "./prompts.js";
import { openSession, readTranscript } from "./session.js";

/** Rows from the end in which something can be under way. */
const RECENT_ROWS = 64;

/** What the chat remembers between windows: `workspaceState`. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}

const LAST_SESSION = "lastSession";
const ASKED_MODEL = "askedModel";

export interface ChatNeeds {
  readonly daemon: DaemonPort;
  readonly reporter: ContextReporterPort;
  readonly drafts: Drafts;
  readonly memory: Memory;
  /** A path as people read it: inside its workspace folder. */
  readonly place: (path: string) => string;
  readonly t: Translate;
}

/** How an answer ended that nobody may have seen. */
export interface AnswerEnd {
  readonly turnId: string;
  readonly state: AnswerRow["state"];
}

export class Chat implements Disposable {
  conversation: Conversation;
  readonly prompts: Prompts;
  info: SessionInfo | undefined;
  models: ModelReport | undefined;
  status: CompressionStatusReport | undefined;
  askedModel: string | undefined;

  readonly #changed = new EventEmitter<void>();
  readonly #rowsChanged = new EventEmitter<{ from: number; count: number } | "reset">();
  readonly #deltas = new EventEmitter<{ row: AnswerRow; field: "text" | "thoughts"; at: number; text: string }>();
  readonly #ended = new EventEmitter<AnswerEnd>();
  readonly #prefilled = new EventEmitter<string>();
  readonly #subscriptions: Disposable[] = [];
  #opening: Promise<void> = Promise.resolve();
  #refreshing: Promise<void> = Promise.resolve();
  #fault: ErrorView | undefined;
  readonly #keeping: Keeping;
  /** Conversations that were left while an answer was under way: they go on hearing until it ends. */
  readonly #left = new Map<string, Conversation>();
  /** Resolves when the draft of the last session is read: before it, a page would show an empty composer. */
  readonly loaded: Promise<void>;

  constructor(private readonly needs: ChatNeeds) {
    this.conversation = this.#blank();
    this.#keeping = new Keeping(needs.drafts);
    this.prompts = new Prompts({
      chat: this,
      daemon: needs.daemon,
      reporter: needs.reporter,
      keeping: this.#keeping,
      prefill: (text) => this.#prefilled.fire(text),
      t: needs.t,
    });
    const asked = needs.memory.get(ASKED_MODEL);
    this.askedModel = typeof asked === "string" && asked ? asked : undefined;
    this.loaded = this.#loadKept(this.#lastSession);
    this.#subscriptions.push(
      needs.daemon.onDidConnect(() => void this.#connected()),
      needs.daemon.onDidChangeView((view) => {
        if (view.kind === "lost" || view.kind === "failed") this.#lost();
        this.#changed.fire();
      }),
      needs.daemon.onEvent((params) => {
        try {
          this.#heard(params);
        } catch (error) {
          this.show(error); // an event that is not as the protocol says must not end the hearing of the next
        }
      }),
      needs.daemon.onCompressionStatus((report) => {
        if (report.sessionId !== this.info?.sessionId) return;
        this.status = report;
        this.#changed.fire();
      }),
      needs.reporter.onDidChange(() => {
        this.#keeping.change({ excluded: needs.reporter.excluded });
        this.#changed.fire();
      }),
    );
  }

  /** Something but the rows changed. */
  get onDidChange(): Event<void> {
    return this.#changed.event;
  }
  get onDidChangeRows(): Event<{ from: number; count: number } | "reset"> {
    return this.#rowsChanged.event;
  }
  get onDelta(): Event<{ row: AnswerRow; field: "text" | "thoughts"; at: number; text: string }> {
    return this.#deltas.event;
  }
  get onAnswerEnd(): Event<AnswerEnd> {
    return this.#ended.event;
  }
  /** A prompt comes back to the composer. */
  get onPrefill(): Event<string> {
    return this.#prefilled.event;
  }

  /** The prompts that wait. */
  get queue(): PromptQueue {
    return this.prompts.queue;
  }

  get t(): Translate {
    return this.needs.t;
  }

  get daemon(): DaemonPort {
    return this.needs.daemon;
  }

  /** What survives beside the log. */
  get kept(): Kept {
    return this.#keeping.kept;
  }

  /** The last thing that went wrong outside a turn, until something succeeds. */
  get fault(): ErrorView | undefined {
    return this.#fault;
  }

  get isReadOnly(): boolean {
    return this.info?.heldBy !== undefined;
  }

  /** What runs now, as far as this window knows. */
  get job(): PanelState["job"] {
    const rows = this.conversation.rows;
    for (let index = rows.length - 1; index >= Math.max(0, rows.length - RECENT_ROWS); index -= 1) {
      const row = rows[index];
      if (row?.kind === "answer" && isLive(row) && row.state !== "queued") {
        return { kind: "turn", id: row.turnId, ...(row.state === "stopping" && row.since !== undefined ? { stoppingSince: row.since } : {}) };
      }
    }
    for (let index = rows.length - 1; index >= Math.max(0, rows.length - RECENT_ROWS); index -= 1) {
      const row = rows[index];
      if (row?.kind === "divider" && row.state === "running") return { kind: "compression", id: row.compactionId };
    }
    return { kind: "idle" };
  }

  // ------------------------------------------------------------------------------------------------------- connection and session

  /** Start the daemon and read the session that was open last. Never rejects: what is wrong is shown. */
  async begin(): Promise<void> {
    await this.guard(async () => {
      await this.daemon.start();
      await this.#opening;
    });
  }

  get #lastSession(): string | undefined {
    const last = this.needs.memory.get(LAST_SESSION);
    return typeof last === "string" && last ? last : undefined;
  }

  async #loadKept(sessionId: string | undefined): Promise<void> {
    const { queue, excluded } = await this.#keeping.load(sessionId);
    this.prompts.take(queue);
    this.needs.reporter.restoreExcluded(excluded);
  }

  async #connected(): Promise<void> {
    await this.guard(async () => {
      await this.#inTurn(() => this.#open(this.info?.sessionId ?? this.#lastSession));
      this.prompts.drain();
    });
  }

  #lost(): void {
    this.#left.clear();
    this.prompts.lost();
  }

  /** Show a session: this one, or none. Rejects with `DaemonFault`. */
  async open(sessionId: string | undefined, takeOver = false): Promise<void> {
    await this.flushDraft();
    await this.#inTurn(() => this.#open(sessionId, takeOver));
  }

  /** Sessions are shown one after the other: the last one asked for is the one that stays. */
  #inTurn(show: () => Promise<void>): Promise<void> {
    const shown = this.#opening.then(show);
    this.#opening = shown.catch(() => undefined);
    return shown;
  }

  async #open(sessionId: string | undefined, takeOver = false): Promise<void> {
    const info = sessionId === undefined ? undefined : await openSession(this.daemon, sessionId, takeOver);
    await this.#show(info);
  }

  async #show(info: SessionInfo | undefined, isNew = false): Promise<void> {
    // A prompt that was sent while the daemon was starting belongs to the session that opens then.
    const isAnother = info?.sessionId !== this.info?.sessionId && this.info !== undefined;
    const left = this.#left.get(info?.sessionId ?? "");
    if (isAnother || isNew || left) {
      if (this.info && this.job.kind === "turn") this.#left.set(this.info.sessionId, this.conversation);
      this.conversation = left ?? this.#blank();
      this.#left.delete(info?.sessionId ?? "");
    }
    this.info = info;
    this.status = undefined;
    await this.needs.memory.update(LAST_SESSION, info?.sessionId);
    await this.loaded;
    if (info?.sessionId !== this.#keeping.sessionId) {
      this.prompts.queue.clear();
      await this.#loadKept(info?.sessionId);
      this.#prefilled.fire(this.kept.draft);
    }
    this.models = await this.daemon.request("gemini/models", {});
    if (info) {
      const { items, compactions, pins } = await readTranscript(this.daemon, info.sessionId);
      this.conversation.tell(items, compactions, pins, new Set(this.kept.discarded));
      this.status = await this.daemon.request("gemini/compressionStatus", { sessionId: info.sessionId });
    }
    this.#fault = undefined;
    this.#rowsChanged.fire("reset");
    this.#changed.fire();
  }

  /** What another window holds goes on there, or is let go of: look again. Nothing for a chat of our own. */
  async lookAgain(): Promise<void> {
    if (!this.isReadOnly || this.daemon.view.kind !== "ready") return;
    await this.guard(() => this.open(this.info?.sessionId));
  }

  /** An empty chat; the session is made with its first prompt. */
  async startNew(): Promise<void> {
    await this.flushDraft();
    await this.#inTurn(() => this.#show(undefined, true));
  }

  renamed(info: SessionInfo): void {
    this.info = info;
    this.#changed.fire();
  }

  /** A session was deleted; if it is the open one, an empty chat takes its place. */
  async forget(sessionId: string): Promise<void> {
    await this.needs.drafts.forget(sessionId);
    if (sessionId === this.info?.sessionId) await this.#inTurn(() => this.#show(undefined, true));
  }

  /** Go on in a copy: of everything, or of what there was up to and with a turn. Rejects with `DaemonFault`. */
  async fork(atTurn?: string): Promise<void> {
    const sessionId = this.info?.sessionId;
    if (sessionId === undefined) return;
    await this.flushDraft();
    await this.#inTurn(async () => this.#show(await this.daemon.request("gemini/session/fork", { sessionId, ...(atTurn === undefined ? {} : { atTurn }) })));
  }

  /** Read the transcript again: after a compression or an undo other contents are hidden. One reading follows the other. */
  refresh(): Promise<void> {
    const reading = this.#refreshing.then(() => this.#readAgain());
    this.#refreshing = reading.catch(() => undefined);
    return reading;
  }

  async #readAgain(): Promise<void> {
    const [sessionId, conversation] = [this.info?.sessionId, this.conversation];
    if (sessionId === undefined) return;
    const { items, compactions, pins } = await readTranscript(this.daemon, sessionId);
    if (conversation === this.conversation) conversation.tell(items, compactions, pins, new Set(this.kept.discarded));
  }

  #heard(params: EventParams): void {
    if (params.sessionId !== this.info?.sessionId) {
      const left = this.#left.get(params.sessionId);
      left?.apply(params);
      if (left && !left.rows.some(isLive)) this.#left.delete(params.sessionId);
      return;
    }
    if (params.event.type === "usageUpdated" && this.status) {
      const { tokenCount, tokenLimit, source, tokensUntilCompression } = params.event;
      this.status = { ...this.status, tokenCount, tokenLimit, tokenCountSource: source, tokensUntilCompression: tokensUntilCompression ?? null };
    }
    this.conversation.apply(params);
    switch (params.event.type) {
      case "titleChanged":
        this.info = { ...this.info, title: params.event.title };
        break;
      case "compactionCompleted":
      case "compactionUndone":
        void this.guard(() => this.refresh());
        this.prompts.drain();
        break;
      case "compactionFailed":
      case "compactionCancelled":
        this.prompts.drain();
        break;
      case "turnCompleted":
      case "turnFailed":
      case "turnCancelled": {
        const answer = this.conversation.answer(params.turnId ?? "");
        if (answer) this.#ended.fire({ turnId: answer.turnId, state: answer.state });
        break;
      }
      default:
    }
    if (params.event.type !== "messageDelta" && params.event.type !== "thoughtDelta") this.#changed.fire();
  }

  /** The open session's id; a chat that is not begun yet gets its session. Rejects with `DaemonFault`. */
  async session(): Promise<string> {
    await this.daemon.start();
    await this.#opening;
    if (this.info) return this.info.sessionId;
    this.info = await this.daemon.request("gemini/session/new", {});
    await this.needs.memory.update(LAST_SESSION, this.info.sessionId);
    await this.#keeping.begun(this.info.sessionId);
    this.status = await this.daemon.request("gemini/compressionStatus", { sessionId: this.info.sessionId });
    return this.info.sessionId;
  }

  /** The title may have been found meanwhile. */
  async refreshInfo(): Promise<void> {
    const sessionId = this.info?.sessionId;
    if (sessionId === undefined || this.daemon.view.kind !== "ready") return;
    const info = await openSession(this.daemon, sessionId);
    if (info && this.info?.sessionId === info.sessionId) {
      this.info = info;
      this.#changed.fire();
    }
  }

  // --------------------------------------------------------------------------------------------------------------- what is kept

  setDraft(draft: string, scroll: ScrollAnchor): void {
    this.#keeping.change({ draft, scroll });
  }

  discardPreview(compactionId: string): void {
    this.#keeping.change({ discarded: [...new Set([...this.kept.discarded, compactionId])].slice(-100) });
    this.conversation.change(`c:${compactionId}`, "divider", { state: "cancelled" });
    this.#changed.fire();
  }

  chooseModel(name: string | undefined): void {
    this.askedModel = name;
    void this.needs.memory.update(ASKED_MODEL, name);
    this.#changed.fire();
  }

  /** Write what is kept now; resolves when it is on the disk. */
  flushDraft(): Promise<void> {
    return this.#keeping.flush();
  }

  // ------------------------------------------------------------------------------------------------------------------ the rest

  /** Run it; what goes wrong is shown above the composer. */
  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.show(error);
    }
  }

  show(error: unknown): void {
    if (error instanceof DaemonFault && (error.data.kind === "cancelled" || this.daemon.view.kind === "failed" || this.daemon.view.kind === "lost")) return;
    this.#fault = viewOf(error, this.t);
    this.#changed.fire();
  }

  /** Something that the panel shows changed elsewhere. */
  touch(): void {
    this.#changed.fire();
  }

  dismissFault(): void {
    this.#fault = undefined;
    this.#changed.fire();
  }

  dispose(): void {
    this.#keeping.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const emitter of [this.#changed, this.#rowsChanged, this.#deltas, this.#ended, this.#prefilled]) emitter.dispose();
  }

  #blank(): Conversation {
    const isShown = (): boolean => conversation === this.conversation;
    const conversation: Conversation = new Conversation(
      {
        rows: (from, count) => isShown() && this.#rowsChanged.fire({ from, count }),
        delta: (row, field, at, text) => isShown() && this.#deltas.fire({ row, field, at, text }),
        reset: () => isShown() && this.#rowsChanged.fire("reset"),
      },
      this.needs.t,
      Date.now,
      this.needs.place,
    );
    return conversation;
  }
}

/** Any error for people. What is not a fault of the daemon is a defect of ours: its text stays in the log. */
export function viewOf(error: unknown, t: Translate): ErrorView {
  const data = error instanceof DaemonFault ? error.data : { kind: "defect", message: t("Something went wrong inside the extension."), hint: t("The log says more.") };
  return errorView(data, t, Date.now());
}
