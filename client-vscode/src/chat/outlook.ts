/** What of the open files goes along with the next prompt, as the daemon says it: asked whenever that may have changed, for the chips. */
import { EventEmitter, type Disposable, type Event } from "vscode";
import type { ContextReporterPort } from "../context/port.js";
import type { ContextFile } from "../protocol.gen.js";
import type { Chat } from "./chat.js";

/** How long everything has to be quiet before the daemon is asked, ms. */
const QUIET_MS = 300;

export class Outlook implements Disposable {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #files: ReadonlyMap<string, ContextFile> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #isStale = false;

  /** `changes` are what else may change the answer: texts, files on disk, settings. */
  constructor(
    private readonly chat: Chat,
    private readonly reporter: ContextReporterPort,
    changes: readonly Event<unknown>[],
  ) {
    const sources: readonly Event<unknown>[] = [
      reporter.onDidChange,
      reporter.onDidSend,
      chat.daemon.onDidConnect,
      chat.onAnswerEnd,
      ...changes,
    ];
    this.#subscriptions = sources.map((source) => source(() => this.refresh()));
  }

  /** By URI, as the reporter names them. */
  get files(): ReadonlyMap<string, ContextFile> {
    return this.#files;
  }

  /** Ask the daemon, once everything is quiet. */
  refresh(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), QUIET_MS);
  }

  /** One question at a time; what changes meanwhile is asked afterwards. */
  async #ask(): Promise<void> {
    if (this.chat.daemon.view.kind !== "ready") return;
    if (this.#isAsking) {
      this.#isStale = true;
      return;
    }
    this.#isAsking = true;
    try {
      await this.reporter.flush();
      const sessionId = this.chat.info?.sessionId;
      const asked = sessionId === undefined ? { ofNewSession: true } : { sessionId };
      const { openFiles = [] } = await this.chat.daemon.request("gemini/context/preview", asked);
      const files = new Map(openFiles.map((file) => [file.uri, file]));
      if (JSON.stringify([...files]) !== JSON.stringify([...this.#files])) {
        this.#files = files;
        this.#changed.fire();
      }
    } catch {
      // the chips say less; a prompt's receipt says the truth in any case
    } finally {
      this.#isAsking = false;
      if (this.#isStale) this.refresh();
      this.#isStale = false;
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#changed.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
