/** The page's end of the line to the extension host: the only place that touches VS Code's API. */
import type { ErrorView, FromPage, PageRequest, PageResults, ToPage } from "../src/panel/contract.js";
import type { Decoders } from "./decoders.js";
import { Revisions } from "./revisions.js";
import { t } from "./strings.js";

/** What `acquireVsCodeApi` hands out, once per page. */
export interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** A question that the host answered with an error, or not at all. */
export class CallError extends Error {
  constructor(readonly view: ErrorView) {
    super(view.message);
    this.name = "CallError";
  }
}

/** Messages for the shell; `result` is the bridge's own business. */
export type ShellMessage = Exclude<ToPage, { readonly type: "result" }>;

/** How long a question may stay unanswered: a first start of the daemon may be under way, so this is generous. */
export const callTimeoutMs = 60_000;
/** How long the host may take to answer `ready` before it is posted again. */
export const readyTimeoutMs = 4_000;

interface PendingCall {
  readonly settle: (message: ToPage & { readonly type: "result" }) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Bridge {
  readonly #revisions = new Revisions();
  readonly #calls = new Map<number, PendingCall>();
  #lastCall = 0;
  #booted = false;
  #chat: number | undefined;
  #readyTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param decoders - asked for with the first message that comes
   * @param isVisible - whether the page is shown: a hidden view gets no sync, so asking again would be in vain.
   */
  constructor(
    private readonly api: VsCodeApi,
    private readonly onMessage: (message: ShellMessage) => void,
    private readonly decoders: () => Decoders,
    private readonly isVisible: () => boolean = () => true,
  ) {}

  /** Says that the page booted. Call it when messages can be received. */
  start(): void {
    this.#sayReady();
  }

  /** The page is shown again; if the sync it waits for was sent while it was hidden, it is asked for anew. */
  wake(): void {
    if (!this.#revisions.inStep) this.#sayReady();
  }

  /** Every message says which chat the page shows. */
  send(message: FromPage): void {
    this.api.postMessage(this.#chat === undefined ? message : { ...message, chat: this.#chat });
  }

  /** Asks for a sync because something does not fit: a delta without its beginning, a message that was lost. */
  resync(): void {
    this.#revisions.forget();
    this.#sayReady();
  }

  /** Asks the host. Rejects with `CallError` if it refuses, answers nonsense or does not answer for `callTimeoutMs`. */
  call<R extends PageRequest>(request: R): Promise<PageResults[R["do"]]> {
    const call = ++this.#lastCall;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(call);
        reject(new CallError(fault("timeout", t("There was no answer within {0} seconds.", callTimeoutMs / 1_000))));
      }, callTimeoutMs);
      this.#calls.set(call, {
        timer,
        settle: (message) => {
          if (!message.ok) {
            reject(new CallError(message.error));
            return;
          }
          const decoded = this.decoders().result<R["do"]>(request.do, message.value);
          if (decoded.ok) {
            resolve(decoded.value);
            return;
          }
          this.#defect(`result.${decoded.path}`);
          reject(new CallError(fault("malformed", t("The answer could not be read."))));
        },
      });
      this.send({ type: "call", call, request });
    });
  }

  /** Takes the data of a `message` event. */
  receive(data: unknown): void {
    const decoded = this.decoders().toPage(data);
    if (!decoded.ok) {
      // Its number is not counted, so the next message shows a gap and the page asks for a sync by itself.
      this.#defect(decoded.path);
      return;
    }
    const message = decoded.value;
    const verdict = this.#revisions.judge(message.rev, message.type === "sync");
    if (message.type === "result") this.#settle(message);
    if (verdict === "ask") this.#sayReady();
    if (verdict !== "take" || message.type === "result") return;
    if (message.type === "sync" || message.type === "state") this.#chat = message.state.chat;
    if (message.type === "sync") {
      this.#booted = true;
      clearTimeout(this.#readyTimer);
    }
    this.onMessage(message);
  }

  #settle(message: ToPage & { readonly type: "result" }): void {
    const pending = this.#calls.get(message.call);
    if (pending === undefined) return;
    this.#calls.delete(message.call);
    clearTimeout(pending.timer);
    pending.settle(message);
  }

  #sayReady(): void {
    clearTimeout(this.#readyTimer);
    this.send({ type: "ready", boot: !this.#booted });
    this.#readyTimer = setTimeout(() => {
      if (this.#revisions.inStep) return;
      if (this.isVisible()) this.#sayReady();
    }, readyTimeoutMs);
  }

  #defect(path: string): void {
    this.send({ type: "defect", message: `malformed message of the host: ${path}` });
  }
}

function fault(kind: string, message: string): ErrorView {
  return { kind, message, hint: t("Try again; if it happens again, the log says more."), retryable: true, actions: [] };
}
