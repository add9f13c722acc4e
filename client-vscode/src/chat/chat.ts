/** The chat of this window: which session is open, what the daemon says of it, and the prompts on their way to it. */
import type { Disposable } from "vscode";
import type { ContextReporterPort } from "../context/port.js";
import type { OtherChat } from "../panel/contract.js";
import type { EventParams, SessionInfo } from "../protocol.gen.js";
import { ChatState, type ChatStateNeeds, type Target } from "./chatState.js";
import { LeftChats, Standings } from "./leftChats.js";
import type { PromptQueue } from "./pure/queue.js";
import { withUsage } from "./pure/usage.js";
import { Prompts } from "./prompts.js";
import { Questions } from "./questions.js";
import { openSession, readTranscript, unlessGone, type Newest, type Transcript } from "./session.js";
import type { Conversation } from "./pure/conversation.js";
import type { SavedDraft } from "./pure/savedDraft.js";

const LAST_SESSION = "lastSession";
const LAST_TITLE = "lastTitle";
/** Chats that are known by their numbers after they were left. */
const EARLIER = 8;
/** Events that come in numbers, and change nothing but a row. */
const PIECES: ReadonlySet<string> = new Set(["messageDelta", "thoughtDelta", "toolCallProgress"]);

export interface ChatNeeds extends ChatStateNeeds {
  readonly reporter: ContextReporterPort;
}

export class Chat extends ChatState {
  readonly prompts: Prompts;
  readonly questions: Questions;
  /** Resolves when the draft of the last session is read: before it, a page would show an empty composer. */
  readonly loaded: Promise<void>;

  readonly #reporter: ContextReporterPort;
  readonly #subscriptions: Disposable[] = [];
  readonly #left = new LeftChats();
  readonly #standings = new Standings();
  /** The titles of the chats that were listed, by session. */
  readonly titles = new Map<string, string>();
  /** The chat that was asked for last. */
  #wanted: Target;
  /** The one that is shown. */
  #shown: Target;
  /** Those that were shown before it, by their numbers. */
  readonly #earlier = new Map<number, Target>();
  #isLoaded = false;
  #opening: Promise<void> = Promise.resolve();
  #refreshing: Promise<void> = Promise.resolve();

  constructor(needs: ChatNeeds) {
    super(needs);
    const { daemon, reporter } = needs;
    this.#reporter = reporter;
    this.prompts = new Prompts(this, this, reporter);
    this.questions = new Questions(
      (sessionId) => (sessionId === this.info?.sessionId ? this.conversation : this.#left.get(sessionId)),
      () => this.touch(),
    );
    this.#wanted = this.#shown = { sessionId: this.#lastSession };
    this.loaded = this.#loadDraft(this.#lastSession, () => true).then(() => void (this.#isLoaded = true));
    let before = daemon.view.kind; // one that is restarted by choice was ready until then
    this.#subscriptions.push(
      daemon.onDidConnect(() => void this.#connected()),
      daemon.onDidChangeView(({ kind }) => {
        if (kind === "lost" || kind === "failed" || (kind === "starting" && before === "ready")) this.#lost();
        before = kind;
        this.touch();
      }),
      daemon.onEvent((params) => {
        try {
          this.#receive(params);
        } catch (error) {
          this.show(error); // an event that cannot be shown must not keep the next ones away
        }
      }),
      daemon.onCompressionStatus((report) => {
        if (report.sessionId !== this.info?.sessionId) {
          this.#left.happens(report.sessionId, (left) => left.standing(report));
          return;
        }
        this.status = report;
        this.conversation.standing(report);
        this.touch();
      }),
      daemon.onSessionTaken(({ sessionId }) => void this.#taken(sessionId)),
      reporter.onDidChange(() => {
        this.draftStore.change({ excluded: reporter.excluded });
        this.touch();
      }),
    );
  }

  /** The prompts that wait. */
  get queue(): PromptQueue {
    return this.prompts.queue;
  }

  /** Start the daemon and read the session that was open last. Never rejects: what is wrong is shown. */
  async begin(): Promise<void> {
    await this.guard(() => this.ready());
  }

  get #lastSession(): string | undefined {
    const last = this.memory.get(LAST_SESSION);
    return typeof last === "string" && last ? last : undefined;
  }

  /** The chat that is to take the place of the one that is shown, until it does. */
  get coming(): { readonly title: string } | undefined {
    const { sessionId } = this.#wanted;
    const isThere = this.#wanted === this.#shown && sessionId === this.info?.sessionId;
    if (isThere) return undefined;
    const last = this.memory.get(LAST_TITLE);
    const isLast = sessionId !== undefined && sessionId === this.#lastSession && typeof last === "string";
    return { title: this.titles.get(sessionId ?? "") ?? (isLast ? last : "") };
  }

  /** The chats that were left, as far as something runs or waits in them, or was not seen yet. */
  get others(): OtherChat[] {
    const shown = this.info?.sessionId;
    const asking = new Set(this.questions.asking.filter((sessionId) => sessionId !== shown));
    return this.#standings.list(asking, (sessionId) => this.prompts.waitingIn(sessionId));
  }

  get shown(): Target {
    return this.#shown;
  }

  #want(sessionId: string | undefined): Target {
    this.#wanted = { sessionId };
    this.touch();
    return this.#wanted;
  }

  /** It cannot be shown: what is shown stays, and is what is sent to again. */
  #unwant(target: Target): void {
    if (target === this.#wanted) this.#wanted = this.#shown;
    this.touch();
  }

  async #loadDraft(sessionId: string | undefined, isWanted: () => boolean): Promise<void> {
    const kept = await this.draftStore.load(sessionId, isWanted);
    if (kept) this.#takeDraft(kept);
  }

  #takeDraft({ queue, excluded }: SavedDraft): void {
    this.prompts.take(queue);
    this.#reporter.restoreExcluded(excluded);
  }

  async #connected(): Promise<void> {
    await this.guard(async () => {
      await this.#oneByOne(() => this.#open(this.#wanted));
      this.prompts.drain();
    });
  }

  #lost(): void {
    this.#left.clear();
    this.#standings.lost();
    this.questions.lost();
    this.prompts.lost();
  }

  /** Show a session: this one, or none. Rejects with `DaemonFault`; where it is gone, what is shown stays. */
  async open(sessionId: string | undefined, takeOver = false): Promise<void> {
    if (sessionId === undefined) return this.startNew();
    if (sessionId === this.#shown.sessionId) this.#wanted = this.#shown; // whatever was to come in its place
    const target = sessionId === this.#wanted.sessionId ? this.#wanted : this.#want(sessionId);
    try {
      await this.#oneByOne(async () => {
        await this.flushDraft();
        await this.#open(target, takeOver, sessionId !== this.info?.sessionId);
      });
    } catch (error) {
      this.#unwant(target);
      throw error;
    }
  }

  /** Sessions are shown one after the other: the last one asked for is the one that stays. */
  #oneByOne<T>(show: () => Promise<T>): Promise<T> {
    const shown = this.#opening.then(show);
    this.#opening = shown.then(
      () => undefined,
      () => undefined,
    );
    return shown;
  }

  /** One that is gone is shown as an empty chat, unless it `mustExist`. Nothing of one in whose place another was asked for meanwhile. */
  async #open(target: Target, takeOver = false, mustExist = false): Promise<void> {
    if (target !== this.#wanted) return;
    const { sessionId } = target;
    if (sessionId === undefined) return this.#show(target, undefined);
    const isHere = sessionId === this.info?.sessionId || this.#left.has(sessionId);
    const ahead = isHere ? undefined : (newest: Newest) => this.#showAhead(target, newest);
    const opening = openSession(this.daemon, sessionId, takeOver, ahead);
    const info = await unlessGone(opening, () => !mustExist || sessionId === this.info?.sessionId);
    if (info === undefined) target.sessionId = undefined;
    await this.#show(target, info);
  }

  /** The newest turns of a chat that is being opened, to be read meanwhile. A prompt that is sent waits until it is open. */
  async #showAhead(target: Target, { session, transcript }: Newest): Promise<void> {
    if (!(await this.#turnTo(target, session))) return;
    this.work.turnTo(session);
    this.#showNewest(transcript);
    this.reset();
  }

  /**
   * A chat takes the place of another one, with its draft and its queue. False if it is not wanted any more: another one was asked for, in
   * whose place it must not come.
   */
  async #turnTo(target: Target, info: SessionInfo | undefined): Promise<boolean> {
    const isWanted = (): boolean => target === this.#wanted;
    await this.loaded;
    if (!isWanted()) return false;
    this.#leaveFor(target, info);
    if (info?.sessionId === this.draftStore.sessionId) return true;
    this.prompts.queue.clear();
    await this.#loadDraft(info?.sessionId, isWanted);
    if (!isWanted()) return false;
    this.prefill(this.saved.draft);
    return true;
  }

  #leaveFor(target: Target, info: SessionInfo | undefined): void {
    // A prompt that was sent while the daemon was starting belongs to the session that opens then.
    const isAnother = target !== this.#shown || (this.info !== undefined && info?.sessionId !== this.info.sessionId);
    const left = this.#left.take(info?.sessionId);
    if (isAnother || left) {
      if (this.info) {
        this.prompts.leave(this.info.sessionId);
        this.titles.set(this.info.sessionId, this.info.title);
        this.#standings.leave(this.info.sessionId, this.job.kind !== "idle");
      }
      this.#keepShown();
      this.conversation = left ?? this.blankConversation();
      this.#earlier.set(this.number, this.#shown);
      this.#earlier.delete(this.number - EARLIER);
      this.number += 1;
    }
    this.#shown = target;
    this.#standings.forget(info?.sessionId);
    this.info = info;
    this.conversation.join(info?.runningTurn);
    this.status = undefined;
  }

  /** What runs in the chat that is being left goes on out of sight, also if it has no session yet. */
  #keepShown(): void {
    if (this.job.kind === "idle") return;
    const { conversation } = this;
    const sessionId = this.info?.sessionId ?? this.#shown.sessionId;
    if (sessionId !== undefined) this.#left.keep(sessionId, conversation);
    else this.#shown.left = { conversation, saved: this.draftStore.release() };
  }

  #remember(info: SessionInfo | undefined): Promise<unknown> {
    return Promise.all([
      this.memory.update(LAST_SESSION, info?.sessionId),
      this.memory.update(LAST_TITLE, info?.title ?? ""),
    ]);
  }

  async #show(target: Target, info: SessionInfo | undefined): Promise<void> {
    if (!(await this.#turnTo(target, info))) return;
    await this.#remember(info);
    if (target !== this.#shown) return;
    const [models, asked, transcript] = await Promise.all([
      this.daemon.request("gemini/models", {}),
      this.work.open(info),
      info &&
        readTranscript(this.daemon, info.sessionId, (newest) => target === this.#shown && this.#showNewest(newest)),
    ]);
    this.models = models;
    if (target !== this.#shown) return;
    if (info && transcript) {
      this.loadTranscript(transcript);
      const status = await this.daemon.request("gemini/compressionStatus", { sessionId: info.sessionId });
      if (target !== this.#shown) return;
      this.status = status;
      if (this.saved.compressing !== "") this.conversation.recall(this.saved.compressing, this.status);
      this.conversation.standing(this.status);
      this.questions.show(info.sessionId, asked);
      this.#keepRunning();
    }
    this.reset();
    if (info) this.prompts.resume(info.sessionId);
  }

  /** The newest messages of a long chat, to be read while the others come. What is shown already stays. */
  #showNewest(newest: Transcript): void {
    if (this.conversation.rows.length === 0) this.loadTranscript(newest);
  }

  /** What another window holds goes on there, or is let go of: look again. Nothing for a chat of our own. */
  async reopenIfReadOnly(): Promise<void> {
    if (!this.isReadOnly || this.daemon.view.kind !== "ready") return;
    await this.guard(() => this.open(this.info?.sessionId));
  }

  /** Another window took a chat: from now on it is only read here, and what is said there is read. */
  async #taken(sessionId: string): Promise<void> {
    // At once, whoever it is: what runs here ends now, and the prompts behind it must not go out while the chat is read.
    if (sessionId === this.info?.sessionId) this.info = { heldBy: 0, ...this.info };
    await this.guard(() =>
      this.#oneByOne(async () => {
        if (sessionId === this.info?.sessionId) await this.#open(this.#wanted);
      }),
    );
  }

  /**
   * An empty chat; the session is made with its first prompt. It is there at once, whatever the daemon is at: what is sent next goes to it,
   * and nothing that was asked for before comes in its place.
   */
  async startNew(): Promise<void> {
    const target = this.#want(undefined);
    void this.#remember(undefined);
    if (!this.#isLoaded) await this.loaded;
    if (target === this.#wanted) this.#showNew(target);
    await this.#oneByOne(() => this.#open(target));
  }

  #showNew(target: Target): void {
    const isStillUnbegun = this.draftStore.sessionId === undefined && this.job.kind === "idle";
    this.#leaveFor(target, undefined);
    if (!isStillUnbegun) {
      this.prompts.queue.clear();
      this.#takeDraft(this.draftStore.renew());
      this.prefill(this.saved.draft);
    }
    this.work.turnTo(undefined);
    this.reset();
  }

  /** What a chat is called, as far as that is known here; empty for one without a title. */
  titleOf(sessionId: string): string {
    return (sessionId === this.info?.sessionId ? this.info.title : this.titles.get(sessionId)) ?? "";
  }

  renamed(info: SessionInfo): void {
    this.info = info;
    this.touch();
  }

  /** A session was deleted; if it is the open one, an empty chat takes its place. */
  async forget(sessionId: string): Promise<void> {
    await this.draftStore.forget(sessionId);
    this.#standings.forget(sessionId);
    if (sessionId === this.info?.sessionId) await this.startNew();
  }

  /** Go on in a copy: of everything, or of what there was up to and with a turn. Rejects with `DaemonFault`. */
  async fork(atTurn?: string): Promise<void> {
    const sessionId = this.info?.sessionId;
    if (sessionId === undefined) return;
    const target = this.#want(undefined);
    try {
      await this.#oneByOne(async () => {
        await this.flushDraft();
        const info = await this.daemon.request("gemini/session/fork", {
          sessionId,
          ...(atTurn === undefined ? {} : { atTurn }),
        });
        target.sessionId = info.sessionId;
        await this.#show(target, info);
      });
    } catch (error) {
      this.#unwant(target);
      throw error;
    }
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
    const transcript = await readTranscript(this.daemon, sessionId);
    if (conversation === this.conversation) this.loadTranscript(transcript);
  }

  #receive(params: EventParams): void {
    if ("prompt" in params.event) this.pictures.learn(params.event.prompt);
    if (params.sessionId !== this.info?.sessionId) {
      this.#left.happens(params.sessionId, (left) => left.apply(params));
      this.#happensElsewhere(params);
      return;
    }
    if (params.event.type === "usageUpdated" && this.status) this.status = withUsage(this.status, params.event);
    if (this.conversation.apply(params)) void this.guard(() => this.refresh());
    this.work.apply(params.event);
    if (params.event.type.startsWith("compression")) this.#keepRunning();
    switch (params.event.type) {
      case "titleChanged":
        this.info = { ...this.info, title: params.event.title };
        break;
      case "compressionCompleted":
      case "compressionUndone":
        void this.guard(() => this.refresh());
        this.prompts.drain();
        break;
      case "compressionFailed":
      case "compressionCancelled":
        this.prompts.drain();
        break;
      case "mcpServersChanged":
        this.serverChanges += 1;
        break;
      case "memoryChanged":
      case "skillsChanged":
      case "slashCommandsChanged":
        this.sourceChanges += 1;
        break;
      case "settingsChanged": {
        const { keys } = params.event;
        void this.guard(() => (keys.includes("model.name") ? this.modelSettingChanged() : this.#readModels()));
        break;
      }
      case "turnCompleted":
      case "turnFailed":
      case "turnCancelled": {
        const answer = this.conversation.answer(params.turnId ?? "");
        if (answer) this.ended(answer);
        break;
      }
      default:
    }
    if (!PIECES.has(params.event.type)) this.touch();
  }

  #happensElsewhere({ sessionId, turnId = "", event }: EventParams): void {
    if (event.type === "titleChanged") this.titles.set(sessionId, event.title);
    const end = this.#standings.happens(sessionId, event);
    if (end !== undefined) this.ended({ turnId, state: end === "answered" ? "done" : "failed" }, sessionId);
    if (!PIECES.has(event.type)) this.touch();
  }

  async #readModels(): Promise<void> {
    if (this.daemon.view.kind !== "ready") return;
    this.models = await this.daemon.request("gemini/models", {});
    this.touch();
  }

  /** Which compression runs is kept: a window that is closed meanwhile says what became of it when it is back. */
  #keepRunning(): void {
    const compressing = this.conversation.runningCompression?.compressionId ?? "";
    if (compressing !== this.saved.compressing) this.draftStore.change({ compressing });
  }

  /** Resolves when the daemon runs and what was asked to be shown is. Rejects with `DaemonFault`. */
  async ready(): Promise<void> {
    await this.daemon.start();
    await this.#opening;
  }

  /** The id of the session that is shown, or of another chat; one that is not begun yet gets its session. Rejects with `DaemonFault`. */
  async session(target = this.#shown): Promise<string> {
    await this.daemon.start();
    return this.#oneByOne(() => this.#begun(target));
  }

  async #begun(target: Target): Promise<string> {
    if (target.sessionId !== undefined) return target.sessionId;
    const info = await this.daemon.request("gemini/session/new", {});
    const { sessionId } = info;
    target.sessionId = sessionId;
    if (target !== this.#shown) {
      const { left } = target;
      if (left) {
        this.#left.keep(sessionId, left.conversation);
        this.#standings.leave(sessionId, true);
        await this.draftStore.begunElsewhere(sessionId, left.saved);
      }
      return sessionId;
    }
    this.info = info;
    this.work.begun(info);
    await Promise.all([this.#remember(info), this.draftStore.begun(sessionId)]);
    const status = await this.daemon.request("gemini/compressionStatus", { sessionId });
    if (target === this.#shown) this.status = status;
    return sessionId;
  }

  shownAs(number: number): Target | undefined {
    return number === this.number ? this.#shown : this.#earlier.get(number);
  }

  /** The rows of a chat that is not shown: what is sent there can be followed when somebody comes back. */
  outOfSight(sessionId: string): Conversation {
    const conversation = this.#left.get(sessionId) ?? this.blankConversation();
    this.#left.keep(sessionId, conversation);
    this.#standings.leave(sessionId, true);
    return conversation;
  }

  /** The title may have been found meanwhile. In its turn: to ask makes the chat the daemon's current one, which another may be by then. */
  refreshInfo(): Promise<void> {
    return this.#oneByOne(async () => {
      const sessionId = this.info?.sessionId;
      if (sessionId === undefined || this.daemon.view.kind !== "ready") return;
      const info = await unlessGone(openSession(this.daemon, sessionId));
      if (info && this.info?.sessionId === info.sessionId) {
        this.info = info;
        this.touch();
      }
    });
  }

  override dispose(): void {
    this.questions.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    super.dispose();
  }
}
