/** Prompts on their way: sent, queued, asked again, stopped. */
import { CancellationTokenSource, type CancellationToken, type Disposable } from "vscode";
import type { ContextReporterPort } from "../context/port.js";
import { DaemonFault } from "../daemon/port.js";
import type { Action, AnswerRow, QueuedPrompt } from "../panel/contract.js";
import { enclosedIn, isBlank, type Enclosed, type Written } from "../panel/written.js";
import type { ChatResult } from "../protocol.gen.js";
import { faultDataOf, type ChatState, type Target } from "./chatState.js";
import type { Conversation } from "./pure/conversation.js";
import { isLive } from "./pure/conversationRows.js";
import { errorView } from "./pure/faults.js";
import { promptOf } from "./pure/promptParts.js";
import { PromptQueue, type HoldReason } from "./pure/queue.js";
import { asLogged } from "./pure/slashes.js";

/** JSON-RPC's code for a request that was cancelled. */
const REQUEST_CANCELLED = -32_800;

/** The session that prompts go to, as far as they need it. */
export interface PromptSession {
  /** The chat that is shown. */
  readonly shown: Target;
  /** The one that was shown by a number, if that is known. */
  shownAs(number: number): Target | undefined;
  /** The session's id; a chat that is not begun yet gets its session. Rejects with `DaemonFault`. */
  session(target: Target): Promise<string>;
  /** The rows of a chat that is not shown. */
  outOfSight(sessionId: string): Conversation;
  /** Read the transcript again. */
  refresh(): Promise<void>;
  /** Read the session's title again. */
  refreshInfo(): Promise<void>;
  /** Ask what model the settings name now. */
  modelSettingChanged(): Promise<void>;
}

/** A request for an answer, from the moment its prompt is shown until the daemon has answered. */
interface Sending {
  readonly conversation: Conversation;
  readonly localId: string;
  readonly source: CancellationTokenSource;
}

interface PageSend extends Enclosed {
  /** The number of the chat that the page shows. */
  readonly chat?: number;
  readonly now?: boolean;
  readonly steer?: boolean;
}

export class Prompts {
  readonly queue = new PromptQueue();
  readonly #sending = new Set<Sending>();
  /** Chats that this window left, by session, with what their queues were held for, and how many prompts wait in them. */
  readonly #left = new Map<string, { readonly held: HoldReason | undefined; readonly waiting: number }>();

  constructor(
    private readonly chat: ChatState,
    private readonly session: PromptSession,
    private readonly reporter: ContextReporterPort,
  ) {}

  /** Send a prompt, or queue it behind what runs. With `now`, what runs is ended first. */
  async submit(text: string, now = false, enclosed: Enclosed = {}): Promise<void> {
    const written = { text, ...enclosedIn(enclosed) };
    if (isBlank(written)) return;
    const { kind } = this.chat.daemon.view;
    const busy = this.chat.job.kind !== "idle" || kind === "lost" || kind === "failed" || this.chat.isReadOnly;
    if (busy && !now) {
      if (this.queue.prompts.length === 0) this.queue.release(); // it was written for what comes, not for what ended before
      if (!this.queue.add(written)) this.#handBack(this.chat.conversation, written); // the page says that more cannot wait
      this.#queueChanged();
      return;
    }
    if (now) await this.stop();
    this.queue.release();
    await this.#dispatch(written);
  }

  /**
   * A prompt of the page. It goes to the chat that it was written in, also where another one has just taken its place; but to a new chat as
   * soon as that was asked for, for it was written after that.
   */
  async send(text: string, { chat, now = false, steer = false, ...rest }: PageSend): Promise<void> {
    const enclosed = enclosedIn(rest);
    const { shown } = this.session;
    const written = (chat === undefined ? undefined : this.session.shownAs(chat)) ?? shown;
    if (written !== shown && written.sessionId !== undefined && shown.sessionId !== undefined)
      await this.#dispatch(
        { text, ...enclosed },
        {},
        { target: written, conversation: this.session.outOfSight(written.sessionId) },
      );
    else if (steer) await this.steer(text, enclosed);
    else await this.submit(text, now, enclosed);
  }

  /** Ask the same again: a failed or stopped prompt anew, the last answer for another one. Nothing for an older turn. */
  async retry(turnId: string): Promise<void> {
    const prompt = this.chat.conversation.prompt(turnId);
    const answer = this.chat.conversation.answer(turnId);
    if (!prompt || this.chat.retryTurn !== turnId) return;
    const replaces = answer?.state === "done" ? turnId : undefined;
    const isLogged = !turnId.startsWith("local-");
    if (!isLogged) this.chat.conversation.withdraw(turnId);
    if (this.queue.held === "ended") this.queue.release(); // what waits goes on behind the answer that comes now
    await this.#dispatch(prompt, { isLogged, ...(replaces === undefined ? {} : { replaces }) });
  }

  /** Send a prompt into the turn that runs; without one it is sent, or queued, as any other. */
  async steer(text: string, enclosed: Enclosed = {}): Promise<void> {
    const written = { text, ...enclosedIn(enclosed) };
    const sessionId = this.chat.info?.sessionId;
    if (isBlank(written)) return;
    if (!this.chat.canSteer || sessionId === undefined) return this.submit(text, false, enclosed);
    const conversation = this.chat.conversation;
    try {
      await this.reporter.flush();
      await this.chat.daemon.request("gemini/chat", { prompt: await this.#asParts(written), sessionId, steer: true });
    } catch (error) {
      // The turn was stopped, and this with it; or it came too late for that turn, and its own, which has rows, ended badly.
      if (isCancelled(error) || conversation.rows.findLast((row) => row.kind === "prompt")?.text === text) return;
      this.#handBack(conversation, written);
      throw error;
    }
  }

  /** Go on with the newest turn where it stands. Rejects with `DaemonFault`. */
  async goOn(): Promise<void> {
    const sessionId = this.chat.info?.sessionId;
    if (sessionId === undefined || this.chat.job.kind !== "idle") return;
    if (this.queue.held === "ended") this.queue.release(); // what waits goes on behind the answer that goes on
    try {
      const result = await this.chat.daemon.request("gemini/chat/resume", { sessionId });
      await this.session.refresh();
      tellEnd(this.chat.conversation, result);
    } catch (error) {
      this.queue.hold();
      await this.session.refresh();
      throw error;
    }
    this.drain();
  }

  sendQueued(id: string): Promise<void> {
    if (this.chat.isReadOnly) return Promise.resolve(); // it would only be refused: it waits on
    const prompt = this.queue.remove(id);
    this.#queueChanged();
    return prompt ? this.submit(prompt.text, true, prompt) : Promise.resolve();
  }

  editQueued(id: string, text: string, enclosed: Enclosed = {}): void {
    this.queue.edit(id, { text, ...enclosedIn(enclosed) });
    this.#queueChanged();
  }

  removeQueued(id: string): void {
    this.queue.remove(id);
    this.#queueChanged();
  }

  /** With `isLogged` it is a prompt already, whatever it begins with; `replaces` is the turn whose answer it gives anew. */
  async #dispatch(
    asked: Written,
    { isLogged = false, replaces }: { readonly isLogged?: boolean; readonly replaces?: string } = {},
    // Another chat may be shown before the daemon can be asked.
    { target, conversation } = { target: this.session.shown, conversation: this.chat.conversation },
  ): Promise<void> {
    const written = { text: asked.text, ...enclosedIn(asked) };
    const localId = conversation.send(written, this.chat.askedModel ?? this.chat.models?.default ?? "");
    const source = new CancellationTokenSource();
    const sending: Sending = { conversation, localId, source };
    this.#sending.add(sending);
    this.chat.touch();
    try {
      const sessionId = await unlessCancelled(this.session.session(target), source.token);
      await unlessCancelled(this.reporter.flush(), source.token);
      const prompt = await this.#asParts(isLogged ? asLogged(written) : written);
      const model = conversation === this.chat.conversation ? await this.#modelToName() : this.chat.askedModel;
      const result = await this.chat.daemon.request(
        "gemini/chat",
        {
          prompt,
          sessionId,
          ...(model === undefined ? {} : { model }),
          ...(replaces === undefined ? {} : { replaces }),
        },
        source.token,
      );
      this.#answered(conversation, localId, result);
      if (replaces !== undefined) await this.session.refresh();
    } catch (error) {
      // Another answer that is refused before its turn begins leaves no row: its prompt stands above already.
      if (replaces !== undefined && conversation.answer(localId) && !isCancelled(error)) {
        conversation.withdraw(localId);
        if (conversation === this.chat.conversation) this.chat.show(error);
      } else this.#failed(conversation, localId, error, target);
    } finally {
      source.dispose();
      this.#sending.delete(sending);
      this.chat.touch();
    }
    this.drain();
    await this.chat.guard(() => this.session.refreshInfo());
  }

  /** Rejects with a `DaemonFault` where the bytes of a picture are gone. */
  async #asParts(written: Written): Promise<ReturnType<typeof promptOf>> {
    const { pictures } = this.chat;
    return promptOf(written, await Promise.all((written.pictures ?? []).map((picture) => pictures.part(picture))));
  }

  /** No event tells of settings that change before a chat has a session: they are asked about before they name a model. */
  async #modelToName(): Promise<string | undefined> {
    const { chat } = this;
    if (chat.askedModel === undefined && chat.nextModel !== undefined) await this.session.modelSettingChanged();
    return chat.nextModel;
  }

  #answered(conversation: Conversation, localId: string, result: ChatResult): void {
    this.chat.dismissFault();
    const ours = conversation.answer(localId);
    if (ours) {
      conversation.withdraw(localId); // a command, such as /compress: its outcome has a row of its own
      if (result.compression && !conversation.tells(result.compression)) conversation.notice("info", result.text);
    }
    tellEnd(conversation, result);
    if (result.stopped === "contextWindowWillOverflow" || result.stopped === "maxTurns") {
      if (conversation === this.chat.conversation) this.queue.hold();
      else {
        const { held = "ended", waiting = 0 } = this.#left.get(result.sessionId) ?? {};
        this.#left.set(result.sessionId, { held, waiting });
      }
      if (result.stopped === "maxTurns") conversation.change(`a:${result.turnId}`, "answer", { state: "stopped" });
      this.#handBack(conversation, conversation.prompt(result.turnId));
    }
  }

  #failed(conversation: Conversation, localId: string, error: unknown, target: Target): void {
    if (isCancelled(error)) {
      conversation.change(`a:${localId}`, "answer", { state: "stopped" });
      return; // who stopped it has decided about the queue
    }
    if (conversation === this.chat.conversation) this.queue.hold();
    const unsent = conversation.answer(localId);
    // Nobody comes back to its rows.
    const isGone =
      target.sessionId === undefined || (error instanceof DaemonFault && error.data.kind === "sessionNotFound");
    if (isGone && conversation !== this.chat.conversation) this.chat.show(error);
    if (unsent) this.#handBack(isGone ? this.chat.conversation : conversation, conversation.prompt(localId));
    const row = unsent ?? this.#lastFailed(conversation);
    if (!row) return;
    const view = errorView(faultDataOf(error, this.chat.t), this.chat.t, Date.now(), row.turnId);
    // The event of the failure came before this answer, which alone says how long to wait.
    if (isLive(row) || view.retryAt !== undefined)
      conversation.change(row.id, "answer", { state: row.state === "blocked" ? "blocked" : "failed", error: view });
  }

  /** A prompt that no log holds goes back to the composer, unless something else is being written there. */
  #handBack(conversation: Conversation, prompt: Written | undefined): void {
    const { text = "", pasted = [], pictures = [] } = prompt ?? {};
    // What is kept may be a moment old: the prompt as far as it was written then.
    const isOther = !text.startsWith(this.chat.draftStore.saved.draft.trim());
    if (conversation !== this.chat.conversation || isBlank({ text, pictures }) || isOther) return;
    this.chat.draftStore.change({ draft: text, pasted, pictures }); // the page keeps what is written there
    this.chat.prefill(text);
  }

  #lastFailed(conversation: Conversation): AnswerRow | undefined {
    const row = conversation.rows.at(-1);
    return row?.kind === "answer" && row.state === "failed" ? row : undefined;
  }

  /** The next queued prompt, if nothing runs and the queue is not held. */
  drain(): void {
    if (
      this.chat.job.kind !== "idle" ||
      this.#sendingsOfShown.length > 0 ||
      this.chat.daemon.view.kind !== "ready" ||
      this.chat.isReadOnly ||
      this.chat.draftStore.sessionId !== this.chat.info?.sessionId // while another chat comes, the queue is still that of the one before
    )
      return;
    const next = this.queue.take();
    if (!next) return;
    this.#queueChanged();
    void this.#dispatch(next);
  }

  /** End what runs: at once on the screen, within 100 ms in the daemon. Resolves when it has ended. */
  async stop(): Promise<void> {
    const job = this.chat.job;
    if (job.kind === "idle") return;
    if (job.kind === "turn") this.queue.hold(); // what waits behind a compression was not written for it
    const sessionId = this.chat.info?.sessionId;
    if (job.kind === "turn") {
      this.chat.conversation.change(`a:${job.id}`, "answer", { state: "stopping", since: Date.now() });
      this.chat.touch();
      if (job.id.startsWith("local-") || sessionId === undefined) {
        for (const { localId, source } of this.#sendingsOfShown) if (localId === job.id) source.cancel();
        return;
      }
    }
    await this.chat.guard(async () => {
      await this.chat.daemon.request("gemini/cancel", {
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(job.kind === "turn" ? { turnId: job.id } : { compressionId: job.id }),
      });
    });
  }

  /** The daemon is gone, with all that ran in it. */
  lost(): void {
    const { conversation } = this.chat;
    const live = conversation.liveAnswers;
    if (live.length > 0) this.queue.hold();
    const data = {
      kind: "daemon",
      message: this.chat.t("The daemon ended while this was under way."),
      hint: this.chat.t("What came so far is kept. Try again when it is back."),
      retryable: true,
    };
    conversation.interrupt(undefined);
    for (const { id, turnId } of live) {
      const retry: Action = { id: "retry", label: this.chat.t("Retry"), argument: turnId };
      conversation.change(id, "answer", {
        error: { ...errorView(data, this.chat.t, Date.now(), turnId), actions: [retry] },
      });
    }
  }

  /** Another chat is shown: its queue takes the place of this one's, or joins the prompts that came before it was read. */
  take(queue: readonly QueuedPrompt[]): void {
    this.queue.restore(queue);
    this.chat.draftStore.change({ queue: this.queue.prompts });
  }

  /** A chat is left, with its queue as it stands. */
  leave(sessionId: string): void {
    this.#left.set(sessionId, { held: this.queue.held, waiting: this.queue.prompts.length });
  }

  /** Prompts that wait in a chat that was left, until somebody comes back. */
  waitingIn(sessionId: string): number {
    return this.#left.get(sessionId)?.waiting ?? 0;
  }

  /** A chat that this window left is shown again: its queue goes on, unless it was held, or what it waited for ended badly meanwhile. */
  resume(sessionId: string): void {
    const held = this.#left.get(sessionId)?.held;
    if (this.#left.delete(sessionId)) {
      const last = this.chat.conversation.rows.findLast((row) => row.kind === "answer");
      if (held !== undefined) this.queue.hold(held);
      else if (last?.state === "failed" || last?.state === "blocked" || last?.state === "stopped") this.queue.hold();
      else this.queue.release();
    }
    this.drain(); // in a chat that was not left, what waited while another window had it
  }

  get #sendingsOfShown(): readonly Sending[] {
    return [...this.#sending].filter(({ conversation }) => conversation === this.chat.conversation);
  }

  #queueChanged(): void {
    this.chat.draftStore.change({ queue: this.queue.prompts });
    this.chat.touch();
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof DaemonFault && error.data.kind === "cancelled";
}

/** Waits for `work`, but no longer than until a stop is asked for: a daemon that is starting keeps nobody. Rejects as the daemon would. */
async function unlessCancelled<T>(work: Promise<T>, token: CancellationToken): Promise<T> {
  let subscription: Disposable | undefined;
  const cancelled = new Promise<never>((_, reject) => {
    const refuse = (): void =>
      reject(new DaemonFault(REQUEST_CANCELLED, { kind: "cancelled", message: "", hint: "", retryable: false }));
    if (token.isCancellationRequested) refuse();
    else subscription = token.onCancellationRequested(refuse);
  });
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    subscription?.dispose();
  }
}

/** The answer of a turn that was ended early says why, and what can be done. */
function tellEnd(conversation: Conversation, { turnId, message }: ChatResult): void {
  if (message) conversation.change(`a:${turnId}`, "answer", { endMessage: message });
}
