/** The daemon as the rest of the extension knows it: started when it is wanted, started again when it falls over. */
import type { CancellationToken, Disposable } from "vscode";
import type { Translate } from "../chat/pure/words.js";
import type { DaemonView } from "../panel/contract.js";
import {
  ErrorCode,
  ServerNotificationMethod,
  type CompressionStatusReport,
  type EventParams,
  type Notifications,
  type Requests,
  type ServerNotifications,
  type ServerRequests,
} from "../protocol.gen.js";
import { StartFailure } from "./failure.js";
import { isNoHandshake, NoHandshake, type Exit, type Launch, type Link, type LinkEvents } from "./link.js";
import { DaemonFault, type DaemonPort } from "./port.js";
import { cancelledFault, goneFault, toFault, wasNeverSent } from "./pure/faults.js";
import { isNotification, readNotification, readRequest, readResult } from "./pure/incoming.js";
import { afterCrash } from "./pure/restarts.js";
import type { SettingsSection } from "./pure/settings.js";
import type { ServerFacts } from "./pure/versions.js";
import { Signal } from "./signal.js";

/** What the daemon's life is made of; the extension brings the real ones. */
export interface DaemonParts {
  /** Finds the daemon, or makes it. `report` says in words what takes so long. Rejects with `StartFailure`. */
  launch(report: (detail: string) => void, abort: AbortSignal): Promise<Launch>;
  /** Rejects with `NoHandshake`. */
  connect(launch: Launch, events: LinkEvents): Promise<Link>;
  /** Why this daemon is not the one to talk to, if so. */
  judge(server: ServerFacts, launch: Launch): StartFailure | undefined;
  /** The process ended before it had answered, or too often. */
  crashed(exit: Exit | undefined): StartFailure;
  settings(): SettingsSection;
  /** `window/showMessage`, undecoded. */
  showMessage(params: unknown): void;
  /** `window/showMessageRequest`, undecoded; the token says that the daemon does not ask any more. */
  askMessage(params: unknown, token: CancellationToken): Promise<unknown>;
  readonly log: { info(text: string): void; warn(text: string): void; error(text: string): void };
  readonly t: Translate;
}

type Handler = (params: unknown, token: CancellationToken) => Promise<unknown>;

export class Daemon implements DaemonPort, Disposable {
  readonly #viewChanged: Signal<DaemonView>;
  readonly #connected: Signal<void>;
  readonly #event: Signal<EventParams>;
  readonly #status: Signal<CompressionStatusReport>;
  readonly #taken: Signal<ServerNotifications["gemini/session/taken"]>;
  readonly #handlers = new Map<string, Handler>();
  #view: DaemonView = { kind: "starting", detail: "" };
  #link: Link | undefined;
  /** Pending from the first start until it is ready or given up; a crash opens another. */
  #gate: Gate | undefined;
  #failure: DaemonFault | undefined;
  #crashes: readonly number[] = [];
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Aborted when what was begun is no longer wanted; whatever an aborted life still reports counts no more. */
  #life = new AbortController();
  #stopping: Promise<void> = Promise.resolve();
  #isDisposed = false;

  constructor(private readonly parts: DaemonParts) {
    const onFault = (error: unknown): void =>
      parts.log.error(`A listener failed: ${error instanceof Error ? (error.stack ?? error.message) : typeof error}`);
    this.#viewChanged = new Signal(onFault);
    this.#connected = new Signal(onFault);
    this.#event = new Signal(onFault);
    this.#status = new Signal(onFault);
    this.#taken = new Signal(onFault);
  }

  get view(): DaemonView {
    return this.#view;
  }

  get onDidChangeView() {
    return this.#viewChanged.event;
  }

  get onDidConnect() {
    return this.#connected.event;
  }

  get onEvent() {
    return this.#event.event;
  }

  get onCompressionStatus() {
    return this.#status.event;
  }

  get onSessionTaken() {
    return this.#taken.event;
  }

  start(): Promise<void> {
    if (this.#isDisposed) return Promise.reject(goneFault(this.parts.t));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#gate === undefined) {
      this.#gate = new Gate();
      void this.#attempt(this.#life.signal, true);
    }
    return this.#gate.passed;
  }

  /** Also after a failure, and with a clean slate: earlier crashes are forgotten. */
  async restart(): Promise<void> {
    await this.#end();
    this.#crashes = [];
    await this.start();
  }

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: CancellationToken,
  ): Promise<Requests[M]["result"]> {
    const { t } = this.parts;
    for (;;) {
      await untilCancelled(this.start(), token, t);
      const link = this.#link;
      if (link === undefined) throw goneFault(t);
      try {
        return readResult(method, await link.request(method, params, token), t);
      } catch (error) {
        if (!wasNeverSent(error)) throw toFault(error, t);
        await untilCancelled(link.gone, token, t); // its connection is closed already: the next process is the one to ask
      }
    }
  }

  async notify<M extends keyof Notifications>(method: M, params: Notifications[M]): Promise<void> {
    await this.#notify(method, params);
  }

  handle<M extends keyof ServerRequests>(
    method: M,
    handler: (params: ServerRequests[M]["params"], token: CancellationToken) => Promise<ServerRequests[M]["result"]>,
  ): Disposable {
    const entry: Handler = async (params, token) => handler(readRequest(method, params, this.parts.t), token);
    this.#handlers.set(method, entry);
    return { dispose: () => this.#handlers.get(method) === entry && this.#handlers.delete(method) };
  }

  /** Notifies a running daemon of the settings as they are now. */
  async sendSettings(): Promise<void> {
    await this.#notify("workspace/didChangeConfiguration", { settings: { geminiCompanion: this.parts.settings() } });
  }

  /** Whether there is a process, or one is being started. */
  get isWanted(): boolean {
    return this.#gate !== undefined || this.#failure !== undefined;
  }

  /** Ends the process. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isDisposed = true;
    await this.#end();
  }

  dispose(): void {
    void this.stop();
    for (const signal of [this.#viewChanged, this.#connected, this.#event, this.#status, this.#taken]) signal.dispose();
  }

  async #attempt(life: AbortSignal, isFirst: boolean): Promise<void> {
    try {
      await this.#stopping;
      this.#show({ kind: "starting", detail: "" }, life);
      const launch = await this.parts.launch((detail) => this.#show({ kind: "starting", detail }, life), life);
      if (isOver(life)) return;
      const early: Exit[] = [];
      const link = await this.parts.connect(launch, this.#eventsOf(life, early));
      if (early[0] !== undefined) throw new NoHandshake("it ended at once", early[0]);
      if (isOver(life)) {
        this.#stopping = link.stop();
        return;
      }
      const failure = this.parts.judge(link.server, launch);
      if (failure !== undefined) {
        this.#stopping = link.stop();
        throw failure;
      }
      this.#ready(link);
    } catch (error) {
      if (!isOver(life)) this.#startFailed(error, isFirst);
    }
  }

  #ready(link: Link): void {
    this.#link = link;
    this.parts.log.info(`Ready: ${link.server.name} ${link.server.version}`);
    void this.sendSettings();
    this.#connected.fire();
    this.#show({ kind: "ready", version: link.server.version });
    this.#gate?.open();
  }

  #startFailed(error: unknown, isFirst: boolean): void {
    if (error instanceof StartFailure) {
      this.#fail(error);
      return;
    }
    const exit = isNoHandshake(error) ? error.exit : undefined;
    this.parts.log.error(
      `Not started: ${error instanceof Error ? error.message : typeof error}${exit?.code === undefined ? "" : ` (exit code ${exit.code})`}`,
    );
    // What never came up will not come up by being tried again; what ran before may.
    if (isFirst) this.#fail(this.parts.crashed(exit));
    else this.#fellOver(exit);
  }

  /** @param early gets the exit of a process that ends before anybody holds its link */
  #eventsOf(life: AbortSignal, early: Exit[]): LinkEvents {
    return {
      notification: (method, params) => {
        if (!life.aborted) this.#receive(method, params);
      },
      request: (method, params, token) => {
        if (method === "window/showMessageRequest") return this.parts.askMessage(params, token);
        const handler = this.#handlers.get(method);
        if (handler !== undefined) return handler(params, token);
        const data = { kind: "methodNotFound", message: `${method} is not answered here.`, hint: "", retryable: false };
        return Promise.reject(new DaemonFault(ErrorCode.methodNotFound, data));
      },
      ended: (exit) => {
        early.push(exit);
        if (life.aborted || this.#link === undefined) return;
        this.#link = undefined;
        this.#gate = new Gate();
        this.parts.log.warn(`The daemon ended${exit.code === undefined ? "" : ` with exit code ${exit.code}`}.`);
        this.#fellOver(exit);
      },
    };
  }

  #fellOver(exit: Exit | undefined): void {
    const now = Date.now();
    const { crashes, attempt, delay } = afterCrash(this.#crashes, now);
    this.#crashes = crashes;
    if (delay === undefined) {
      this.#fail(this.parts.crashed(exit));
      return;
    }
    const life = this.#life.signal;
    this.#retry = setTimeout(() => void this.#attempt(life, false), delay);
    this.#show({ kind: "lost", attempt, retryAt: now + delay });
  }

  #fail(failure: StartFailure): void {
    this.parts.log.error(failure.message);
    this.#failure = failure.fault;
    this.#show(failure.view);
    this.#gate?.refuse(failure.fault);
    this.#gate = undefined;
  }

  async #end(): Promise<void> {
    this.#life.abort();
    this.#life = new AbortController();
    clearTimeout(this.#retry);
    const link = this.#link;
    this.#link = undefined;
    this.#failure = undefined;
    this.#gate?.refuse(goneFault(this.parts.t));
    this.#gate = undefined;
    if (link !== undefined) this.#stopping = link.stop();
    await this.#stopping;
  }

  async #notify(method: string, params: unknown): Promise<void> {
    try {
      await this.#link?.notify(method, params);
    } catch {
      // It has just gone; what changed meanwhile is reported at the next handshake.
    }
  }

  #receive(method: string, params: unknown): void {
    if (method === "window/showMessage") this.parts.showMessage(params);
    if (!isNotification(method)) return;
    switch (method) {
      case ServerNotificationMethod.event:
        this.#emit(method, params, this.#event);
        return;
      case ServerNotificationMethod.compressionStatusDidChange:
        this.#emit(method, params, this.#status);
        return;
      case ServerNotificationMethod.sessionTaken:
        this.#emit(method, params, this.#taken);
        return;
    }
  }

  /** A notification that is not as the protocol says is left out: what it would have said is asked for anew at the next handshake. */
  #emit<M extends keyof ServerNotifications>(method: M, raw: unknown, signal: Signal<ServerNotifications[M]>): void {
    const read = readNotification(method, raw);
    if ("params" in read) signal.fire(read.params);
    else this.parts.log.warn(`${method} could not be read: ${read.wrong}`);
  }

  #show(view: DaemonView, life?: AbortSignal): void {
    if (life?.aborted === true) return;
    this.#view = view;
    this.#viewChanged.fire(view);
  }
}

/** Those who wait for the daemon. Nobody has to. */
class Gate {
  readonly passed: Promise<void>;
  open: () => void = () => undefined;
  refuse: (fault: DaemonFault) => void = () => undefined;

  constructor() {
    this.passed = new Promise<void>((resolve, reject) => {
      this.open = resolve;
      this.refuse = reject;
    });
    this.passed.catch(() => undefined);
  }
}

/** Asked anew after every wait. */
function isOver(life: AbortSignal): boolean {
  return life.aborted;
}

async function untilCancelled(
  waiting: Promise<void>,
  token: CancellationToken | undefined,
  t: Translate,
): Promise<void> {
  if (token === undefined) return waiting;
  if (token.isCancellationRequested) throw cancelledFault(t);
  let subscription: Disposable | undefined;
  const cancelled = new Promise<never>((_, reject) => {
    subscription = token.onCancellationRequested(() => reject(cancelledFault(t)));
  });
  try {
    await Promise.race([waiting, cancelled]);
  } finally {
    subscription?.dispose();
  }
}
