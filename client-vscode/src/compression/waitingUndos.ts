/** Undos that are carried out when an answer is complete: their rows say so, and they can be called off until then. */
import { CancellationTokenSource, ProgressLocation, window, type CancellationToken } from "vscode";
import type { Chat } from "../chat/chat.js";

interface Needs {
  readonly chat: Chat;
  /** Whether the chat is in sight: then the row is where it can be called off. */
  readonly isChatVisible: () => boolean;
}

export class WaitingUndos {
  /** By compression; two that ask for the same wait together. */
  readonly #waiting = new Map<string, Set<CancellationTokenSource>>();

  constructor(private readonly needs: Needs) {}

  async waiting<T>(compressionId: string, work: (token: CancellationToken) => Promise<T>): Promise<T> {
    const { chat, isChatVisible } = this.needs;
    const { conversation } = chat;
    const source = new CancellationTokenSource();
    const others = this.#waiting.get(compressionId) ?? new Set();
    this.#waiting.set(compressionId, others.add(source));
    const say = (undoWaits: boolean): void =>
      conversation.change(`c:${compressionId}`, "divider", { undoWaits: undoWaits || others.size > 0 });
    say(true);
    try {
      return await window.withProgress(
        {
          location: isChatVisible() ? ProgressLocation.Window : ProgressLocation.Notification,
          title: chat.t("Undoing the compression"),
          cancellable: true,
        },
        (progress, token) => {
          token.onCancellationRequested(() => source.cancel());
          progress.report({ message: chat.t("waiting for the answer to end") });
          return work(source.token);
        },
      );
    } finally {
      others.delete(source);
      if (others.size === 0) this.#waiting.delete(compressionId);
      say(false);
      source.dispose();
    }
  }

  cancel(compressionId: string): void {
    for (const source of this.#waiting.get(compressionId) ?? []) source.cancel();
  }
}
