/** What the daemon would withhold of the open files, and why: asked when the editor's state changes, for the chips. */
import { EventEmitter, type Disposable } from "vscode";
import type { ContextReporterPort } from "../context/port.js";
import type { Chat } from "./chat.js";

/** How long the editor has to be quiet before the daemon is asked, ms. */
const QUIET_MS = 300;

export class Withheld implements Disposable {
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #reasons: ReadonlyMap<string, string> = new Map();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly chat: Chat,
    private readonly reporter: ContextReporterPort,
  ) {
    this.#subscriptions = [reporter.onDidChange(() => this.#later()), chat.daemon.onDidConnect(() => this.#later())];
  }

  /** By base name, which is all that the daemon reports of a withheld file. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons;
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), QUIET_MS);
  }

  async #ask(): Promise<void> {
    const sessionId = this.chat.info?.sessionId;
    if (this.chat.daemon.view.kind !== "ready" || sessionId === undefined) return;
    try {
      await this.reporter.flush();
      const { withheld } = await this.chat.daemon.request("gemini/context/preview", { sessionId });
      const reasons = new Map(withheld.map(({ name, reason }) => [name, reason]));
      if (JSON.stringify([...reasons]) === JSON.stringify([...this.#reasons])) return;
      this.#reasons = reasons;
      this.#changed.fire();
    } catch {
      // the chips say less; a prompt's receipt says the truth in any case
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#changed.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
