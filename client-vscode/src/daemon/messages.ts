/**
 * What the daemon says and asks by messages of the window. One about a file stands until that is mended: it would still be there an hour
 * later, and nobody could tell whether it holds.
 */
import { l10n, window, workspace, type CancellationToken, type Disposable, type LogOutputChannel } from "vscode";
import type { DaemonPort } from "./port.js";
import { fileLocationIn } from "./pure/fileLocation.js";
import { Signal } from "./signal.js";
import { openPlace } from "./settingsFile.js";
import { fail, inform, stand, warn, type StandingAction } from "../toasts.js";

const LONGEST = 1_000;

export class DaemonMessages implements Disposable {
  /** What stands, each with what ends it. */
  readonly #standing = new Map<string, () => void>();
  readonly #subscriptions: Disposable[] = [];
  #daemon: DaemonPort | undefined;

  readonly #changed = new Signal<void>();
  /** A file is broken or mended; where there is no chat yet, no event says so. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly log: Pick<LogOutputChannel, "info">) {}

  /** Whom to ask whether something is still so. */
  follow(daemon: DaemonPort): void {
    this.#daemon = daemon;
    const look = (): void => void this.#look();
    this.#subscriptions.push(
      daemon.onEvent(({ event }) => event.type === "settingsChanged" && look()),
      daemon.onDidConnect(look),
      // Without a chat there are no events.
      workspace.onDidSaveTextDocument(look),
      window.onDidChangeWindowState(({ focused }) => focused && look()),
    );
  }

  show(params: unknown): void {
    const read = messageIn(params);
    if (read === undefined) return;
    const { text, kind } = read;
    this.log.info(`daemon says: ${text}`);
    const place = fileLocationIn(text);
    if (place === undefined) void (kind === 1 ? fail : kind === 2 ? warn : inform)(text);
    else void this.#tell(text, kind, place);
  }

  /** The action that the person chose, as the protocol has it; `null` without one, also when it is not asked any more. */
  async ask(params: unknown, token: CancellationToken): Promise<{ readonly title: string } | null> {
    const read = messageIn(params);
    if (read === undefined || token.isCancellationRequested) return null;
    const { text, actions } = read;
    const place = fileLocationIn(text);
    return new Promise((resolve) => {
      const ended = new Promise<void>((end) => {
        const answer = (title?: string): void => {
          resolve(title === undefined ? null : { title });
          end();
        };
        token.onCancellationRequested(() => answer());
        const offered = actions.map((title) => ({ label: title, run: () => answer(title) }));
        queueMicrotask(() => stand(text, [...openAction(place), ...offered], ended));
      });
      this.#changed.fire();
      void ended.then(() => this.#changed.fire());
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const end of this.#standing.values()) end();
    this.#changed.dispose();
  }

  async #tell(text: string, kind: unknown, place: string): Promise<void> {
    if (this.#standing.has(text)) return;
    const problems = await this.#problems();
    if (problems?.some((problem) => text.startsWith(problem)) === true) {
      stand(text, openAction(place), new Promise<void>((end) => this.#standing.set(text, end)));
      this.#changed.fire();
      return;
    }
    // A remark, which nothing ends.
    const [open] = openAction(place);
    const show = kind === 1 ? fail : kind === 2 ? warn : inform;
    if (open !== undefined && (await show(text, open.label)) === open.label) open.run();
  }

  async #look(): Promise<void> {
    if (this.#standing.size === 0) return;
    const problems = await this.#problems();
    if (problems === undefined) return;
    for (const [text, end] of this.#standing) {
      if (problems.some((problem) => text.startsWith(problem))) continue;
      this.#standing.delete(text);
      end();
      this.#changed.fire();
    }
  }

  /** What is wrong with settings now; undefined where that cannot be asked. */
  async #problems(): Promise<readonly string[] | undefined> {
    if (this.#daemon?.view.kind !== "ready") return undefined;
    try {
      return (await this.#daemon.request("gemini/settings", {})).problems ?? [];
    } catch {
      return undefined;
    }
  }
}

function openAction(place: string | undefined): StandingAction[] {
  if (place === undefined) return [];
  const run = (): void => {
    openPlace(place).catch(() => void fail(l10n.t("The file cannot be opened: {0}", place)));
  };
  return [{ label: l10n.t("Open Settings File"), run }];
}

interface Message {
  readonly text: string;
  readonly kind: unknown;
  readonly actions: readonly string[];
}

function messageIn(params: unknown): Message | undefined {
  if (typeof params !== "object" || params === null || !("message" in params) || typeof params.message !== "string")
    return undefined;
  const offered: readonly unknown[] = "actions" in params && Array.isArray(params.actions) ? params.actions : [];
  const actions = offered.flatMap((one) =>
    typeof one === "object" && one !== null && "title" in one && typeof one.title === "string" ? [one.title] : [],
  );
  return { text: params.message.slice(0, LONGEST), kind: "type" in params ? params.type : undefined, actions };
}
