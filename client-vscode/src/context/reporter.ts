/** Reports to the daemon what the editor shows, folded, and the panel what goes along. */
import type { Disposable, Event } from "vscode";
import type { DaemonPort } from "../daemon/port.js";
import { Signal } from "../daemon/signal.js";
import { NotificationMethod } from "../protocol.gen.js";
import type { ContextReporterPort, ReportedFile } from "./port.js";
import {
  filesOf,
  withReading,
  noticeOf,
  NOTHING_OPEN,
  withExcluded,
  withIncluded,
  type EditorState,
  type EditorReading,
} from "./pure/editorState.js";

/** How long changes wait for more, ms. */
const FOLD_MS = 50;

/** The editor, as far as it is read here. */
export interface EditorPort {
  read(): EditorReading;
  /** Anything that `read` may answer differently after. */
  readonly onDidChange: Event<void>;
}

export class ContextReporter implements ContextReporterPort, Disposable {
  readonly #changed = new Signal<void>();
  readonly #sent = new Signal<void>();
  readonly #subscriptions: Disposable[];
  #state: EditorState;
  #files: readonly ReportedFile[];
  #pending: ReturnType<typeof setTimeout> | undefined;
  /** The last notice of this connection. */
  #lastSent = "";

  constructor(
    private readonly daemon: DaemonPort,
    private readonly editor: EditorPort,
  ) {
    this.#state = withReading(NOTHING_OPEN, editor.read(), Date.now());
    this.#files = filesOf(this.#state);
    this.#subscriptions = [
      editor.onDidChange(() => this.#look()),
      daemon.onDidConnect(() => {
        this.#lastSent = "";
        void this.flush();
      }),
    ];
  }

  get files(): readonly ReportedFile[] {
    return this.#files;
  }

  get excluded(): readonly string[] {
    return this.#state.excluded;
  }

  get onDidChange(): Event<void> {
    return this.#changed.event;
  }

  get onDidSend(): Event<void> {
    return this.#sent.event;
  }

  setIncluded(uri: string, included: boolean): void {
    this.#enter(withIncluded(this.#state, uri, included));
  }

  restoreExcluded(uris: readonly string[]): void {
    this.#enter(withExcluded(this.#state, uris));
  }

  async flush(): Promise<void> {
    clearTimeout(this.#pending);
    this.#pending = undefined;
    this.#enter(withReading(this.#state, this.editor.read(), Date.now()), false);
    const notice = noticeOf(this.#state);
    const text = JSON.stringify(notice);
    if (text === this.#lastSent || this.daemon.view.kind === "failed") return;
    this.#lastSent = text;
    await this.daemon.notify(NotificationMethod.ideContextDidChange, notice);
    this.#sent.fire();
  }

  dispose(): void {
    clearTimeout(this.#pending);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
    this.#sent.dispose();
  }

  #look(): void {
    this.#enter(withReading(this.#state, this.editor.read(), Date.now()));
  }

  #enter(state: EditorState, later = true): void {
    this.#state = state;
    if (later) this.#pending ??= setTimeout(() => void this.flush(), FOLD_MS);
    const files = filesOf(state);
    if (JSON.stringify(files) === JSON.stringify(this.#files)) return;
    this.#files = files;
    this.#changed.fire();
  }
}
