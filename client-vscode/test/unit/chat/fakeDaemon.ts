/** A daemon and an editor at our own ports, scripted by the test. */
import { Disposable, EventEmitter, type CancellationToken } from "vscode";
import { Chat } from "../../../src/chat/chat.js";
import type { Memory } from "../../../src/chat/chatState.js";
import { DraftFiles } from "../../../src/chat/draftFiles.js";
import { Pictures } from "../../../src/chat/pictures.js";
import { english } from "../../../src/chat/pure/words.js";
import type { ContextReporterPort, ReportedFile } from "../../../src/context/port.js";
import { DaemonFault, type DaemonPort } from "../../../src/daemon/port.js";
import type { DaemonView } from "../../../src/panel/contract.js";
import type {
  ChatResult,
  CompanionEvent,
  CompressionStatusReport,
  EventParams,
  HistoryItem,
  Requests,
  SessionInfo,
} from "../../../src/protocol.gen.js";
import { content, USAGE } from "./scriptedEvents.js";

export interface Call {
  readonly method: keyof Requests;
  readonly params: Readonly<Record<string, unknown>>;
}

type Answers = {
  -readonly [M in keyof Requests]?: (
    params: Requests[M]["params"],
    token?: CancellationToken,
  ) => Promise<Requests[M]["result"]>;
};

export class FakeDaemon implements DaemonPort {
  view: DaemonView = { kind: "starting", detail: "" };
  readonly calls: Call[] = [];
  readonly sessions = new Map<string, HistoryItem[]>();
  answers: Answers = {};
  /** What is not usual in the status. */
  status: Partial<CompressionStatusReport> = {};
  readonly #view = new EventEmitter<DaemonView>();
  readonly #connect = new EventEmitter<void>();
  readonly #event = new EventEmitter<EventParams>();
  readonly #status = new EventEmitter<CompressionStatusReport>();
  readonly #taken = new EventEmitter<{ readonly sessionId: string }>();
  readonly onDidChangeView = this.#view.event;
  readonly onDidConnect = this.#connect.event;
  readonly onEvent = this.#event.event;
  readonly onCompressionStatus = this.#status.event;
  readonly onSessionTaken = this.#taken.event;
  #seq = 0;
  #starting: Promise<void> | undefined;

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: CancellationToken,
  ): Promise<Requests[M]["result"]> {
    this.calls.push({ method, params: params as Call["params"] }); // every method's params are an object
    const answer = this.answers[method];
    if (answer) return answer(params, token);
    return (await this.#usual(method, params as Call["params"])) as Requests[M]["result"]; // `#usual` answers each method with its own result
  }

  async #usual(method: keyof Requests, params: Call["params"]): Promise<unknown> {
    await Promise.resolve();
    const sessionId = typeof params["sessionId"] === "string" ? params["sessionId"] : "s1";
    switch (method) {
      case "gemini/session/new":
        this.sessions.set("s1", []);
        return info("s1");
      case "gemini/session/open":
        if (!this.sessions.has(sessionId)) throw fault("sessionNotFound", 1001);
        return info(sessionId);
      case "gemini/session/newest":
        if (!this.sessions.has(sessionId)) throw fault("sessionNotFound", 1001);
        return { session: info(sessionId), contents: this.sessions.get(sessionId) ?? [] };
      case "gemini/session/history":
        return { contents: this.sessions.get(sessionId) ?? [], version: 1, epoch: 1 };
      case "gemini/compression/list":
        return { compressions: [] };
      case "gemini/kept":
        return {};
      case "gemini/kept/set":
        return null;
      case "gemini/constraints":
        return { constraints: [] };
      case "gemini/models":
        return {
          models: [],
          current: "gemini-3-pro",
          default: "gemini-3-pro",
          provider: "gemini",
          isLocal: false,
          reason: "",
          hint: "",
        };
      case "gemini/tools":
        return { mode: "ask", tools: [] };
      case "gemini/changes":
        return { changes: [] };
      case "gemini/compressionStatus":
        return statusOf(sessionId, this.status);
      case "gemini/compression/discard":
        return null;
      case "gemini/cancel":
        return { cancelled: true };
      default:
        throw new Error(`no answer to ${method}`);
    }
  }

  /** A chat whose turn the test plays: it settles the returned result itself. */
  playTurns(): TurnPlay[] {
    const plays: TurnPlay[] = [];
    this.answers["gemini/chat"] = (params, token) => {
      const play = new TurnPlay(this, `t${plays.length + 1}`, params.prompt);
      plays.push(play);
      token?.onCancellationRequested(() => play.cancelled());
      return play.result;
    };
    return plays;
  }

  tellStatus(change: Partial<CompressionStatusReport>): void {
    this.#status.fire(statusOf("s1", change));
  }

  /** Another window takes a chat. */
  take(sessionId: string): void {
    this.#taken.fire({ sessionId });
  }

  emit(event: CompanionEvent, turnId?: string, sessionId = "s1"): void {
    this.#seq += 1;
    this.#event.fire({ sessionId, seq: this.#seq, time: 0, event, ...(turnId === undefined ? {} : { turnId }) });
  }

  show(view: DaemonView): void {
    this.view = view;
    this.#view.fire(view);
  }

  notify(): Promise<void> {
    return Promise.resolve();
  }

  handle(): Disposable {
    return new Disposable(() => undefined);
  }

  start(): Promise<void> {
    this.#starting ??= this.restart();
    return this.#starting;
  }

  restart(): Promise<void> {
    this.show({ kind: "ready", version: "1" });
    this.#connect.fire();
    return Promise.resolve();
  }
}

/** One turn, as the daemon would play it. */
export class TurnPlay {
  readonly result: Promise<ChatResult>;
  readonly prompt: string;
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  #resolve: (result: ChatResult) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(
    private readonly daemon: FakeDaemon,
    readonly turnId: string,
    sent: string | readonly Readonly<Record<string, unknown>>[],
  ) {
    this.parts = typeof sent === "string" ? [{ text: sent }] : sent;
    this.prompt = this.parts.map(({ text }) => (typeof text === "string" ? text : "")).join("");
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** `prompt` is what the daemon made of it. */
  start(prompt?: string): this {
    const parts = prompt === undefined ? [...this.parts] : [{ text: prompt }];
    this.daemon.emit({ type: "turnStarted", prompt: parts, model: "gemini-3-pro" }, this.turnId);
    return this;
  }

  say(text: string): this {
    this.daemon.emit({ type: "messageDelta", text, attempt: 1 }, this.turnId);
    return this;
  }

  complete(text = "Done."): void {
    this.daemon.sessions
      .get("s1")
      ?.push({ ...content("prompt", this.turnId, ""), parts: [...this.parts] }, content("reply", this.turnId, text));
    this.daemon.emit({ type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 1 }, this.turnId);
    this.answer({ text });
  }

  answer(more: Partial<ChatResult>): void {
    this.#resolve({
      sessionId: "s1",
      turnId: this.turnId,
      text: "",
      finishReason: "STOP",
      model: "gemini-3-pro",
      usage: USAGE,
      ...more,
    });
  }

  cancelled(): void {
    this.daemon.emit({ type: "turnCancelled", by: "me" }, this.turnId);
    this.#reject(fault("cancelled", -32800));
  }

  fail(kind: string, retryAfterMs?: number): void {
    this.daemon.emit(
      { type: "turnFailed", error: { code: 1003, kind, message: "It failed.", hint: "", retryable: true } },
      this.turnId,
    );
    this.#reject(fault(kind, 1003, retryAfterMs));
  }
}

export function fault(kind: string, code: number, retryAfterMs?: number): DaemonFault {
  return new DaemonFault(code, {
    kind,
    message: "It failed.",
    hint: "",
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function statusOf(sessionId: string, change: Partial<CompressionStatusReport>): CompressionStatusReport {
  return {
    sessionId,
    state: "idle",
    hasFailedCompressionAttempt: false,
    forceFullIdeContext: false,
    tokenCount: 1,
    tokenCountSource: "api",
    tokenLimit: 100,
    threshold: 0.5,
    tokensUntilCompression: 49,
    compressions: 0,
    canUndo: false,
    mode: "auto",
    isDue: false,
    ...change,
  };
}

export function info(sessionId: string): SessionInfo {
  return {
    sessionId,
    title: `title of ${sessionId}`,
    model: "gemini-3-pro",
    createdAt: 0,
    updatedAt: 0,
    turns: 0,
    tokenCount: 0,
    workspaceFolders: [],
  };
}

export class FakeReporter implements ContextReporterPort {
  files: readonly ReportedFile[] = [];
  excluded: readonly string[] = [];
  flushes = 0;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #sent = new EventEmitter<void>();
  readonly onDidSend = this.#sent.event;

  setIncluded(uri: string, included: boolean): void {
    this.excluded = included ? this.excluded.filter((out) => out !== uri) : [...this.excluded, uri];
    this.#changed.fire();
  }

  restoreExcluded(uris: readonly string[]): void {
    this.excluded = uris;
  }

  flush(): Promise<void> {
    this.flushes += 1;
    return Promise.resolve();
  }
}

export class FakeMemory implements Memory {
  constructor(readonly values: Record<string, unknown> = {}) {}

  get(key: string): unknown {
    return this.values[key];
  }

  update(key: string, value: unknown): Promise<void> {
    this.values[key] = value;
    return Promise.resolve();
  }
}

export interface Stage {
  readonly chat: Chat;
  readonly daemon: FakeDaemon;
  readonly reporter: FakeReporter;
  readonly memory: FakeMemory;
}

export function stage(folder?: string, memory = new FakeMemory()): Stage {
  const daemon = new FakeDaemon();
  const reporter = new FakeReporter();
  return {
    chat: new Chat({
      daemon,
      reporter,
      drafts: new DraftFiles(folder),
      pictures: new Pictures(folder, english),
      memory,
      place: (path) => path,
      t: english,
    }),
    daemon,
    reporter,
    memory,
  };
}
