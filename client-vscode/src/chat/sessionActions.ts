/** What the panel does with whole chats: open as text, export, rename, delete. */
import { window, workspace } from "vscode";
import type { TextViews } from "../compression/documents.js";
import { DaemonFault } from "../daemon/port.js";
import type { FromPage } from "../panel/contract.js";
import type { Chat } from "./chat.js";
import { chatAsMarkdown } from "./pure/asMarkdown.js";
import { number } from "./pure/numbers.js";
import { promptAsMarkdown } from "./pure/systemPrompt.js";
import { confirmed, warn } from "../toasts.js";

export class SessionActions {
  constructor(
    private readonly chat: Chat,
    private readonly views: TextViews,
  ) {}

  async handle(message: Extract<FromPage, { readonly type: "chat" }>): Promise<void> {
    const sessionId = message.sessionId ?? this.chat.info?.sessionId;
    switch (message.do) {
      case "new":
        await this.chat.startNew();
        return;
      case "openAsMarkdown":
        await this.openAsMarkdown();
        return;
      case "export":
        if (sessionId !== undefined) await this.#export(sessionId);
        return;
      case "rename":
        if (sessionId !== undefined) await this.#rename(sessionId);
        return;
      case "delete":
        if (sessionId !== undefined) await this.#delete(sessionId);
        return;
    }
  }

  async #export(sessionId: string): Promise<void> {
    const forms = [
      { label: "Gemini Companion", description: this.chat.t("loses nothing"), format: "companion" as const },
      { label: "Gemini CLI", description: this.chat.t("what Gemini CLI loads"), format: "gemini-cli" as const },
    ];
    const form = await window.showQuickPick(forms, { title: this.chat.t("Export Chat") });
    if (!form) return;
    const { content } = await this.chat.daemon.request("gemini/session/export", { sessionId, format: form.format });
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const target = await window.showSaveDialog({
      filters: { JSON: ["json"] },
      ...(folder ? { defaultUri: folder.with({ path: `${folder.path}/chat.json` }) } : {}),
    });
    if (target) await workspace.fs.writeFile(target, Buffer.from(content, "utf8"));
  }

  async #rename(sessionId: string): Promise<void> {
    const value = this.chat.titleOf(sessionId);
    const title = await window.showInputBox({
      title: this.chat.t("Rename Chat"),
      value,
      validateInput: (text) => (text.trim() ? undefined : this.chat.t("A title needs at least one character.")),
    });
    if (title === undefined) return;
    const info = await this.#unlessTaken(sessionId, () =>
      this.chat.daemon.request("gemini/session/rename", { sessionId, title: title.trim() }),
    );
    if (info === undefined) return;
    if (sessionId === this.chat.info?.sessionId) this.chat.renamed(info);
  }

  async #delete(sessionId: string): Promise<void> {
    const isSure = await confirmed(
      this.chat.t("Delete “{0}” for good?", this.chat.titleOf(sessionId) || this.chat.t("Untitled chat")),
      this.chat.t("Everything that was ever said in it goes, compressed parts too. This cannot be undone."),
      this.chat.t("Delete"),
      this.chat.t("Keep the Chat"),
    );
    if (!isSure) return;
    const deleted = await this.#unlessTaken(sessionId, async () => {
      await this.chat.daemon.request("gemini/session/delete", { sessionId });
      return true;
    });
    if (!deleted) return;
    await this.chat.forget(sessionId);
    await this.chat.pictures.sweep(this.chat.conversation.rows.filter((row) => row.kind === "prompt"));
  }

  /** What comes of a request, or undefined where another window uses that chat, if it is not the open one: of that the panel speaks. */
  async #unlessTaken<T>(sessionId: string, request: () => Promise<T>): Promise<T | undefined> {
    try {
      return await request();
    } catch (error) {
      const isTaken = error instanceof DaemonFault && error.data.kind === "sessionBusy";
      if (!isTaken || sessionId === this.chat.info?.sessionId) throw error;
      const title = this.chat.titleOf(sessionId) || this.chat.t("Untitled chat");
      void warn(this.chat.t("Another window is using “{0}”.", title));
      return undefined;
    }
  }

  /** The system prompt that the next request of the open chat has, as a document. */
  async showSystemPrompt(): Promise<void> {
    const sessionId = this.chat.info?.sessionId;
    const report = await this.chat.daemon.request("gemini/systemPrompt", sessionId === undefined ? {} : { sessionId });
    await this.views.show(
      `${sessionId ?? "new"}/${this.chat.t("System Prompt")}.md`,
      promptAsMarkdown(report, this.chat.t),
    );
  }

  /** The open chat, or what of it is named, as a document. */
  async openAsMarkdown(): Promise<void> {
    if (this.chat.daemon.view.kind === "ready") await this.chat.ready(); // of one that is being opened, some may be missing yet
    const title = this.chat.info?.title ?? "";
    const name =
      title
        .replace(/[^\p{L}\p{N} ._-]/gu, "")
        .trim()
        .slice(0, 60) || this.chat.t("Chat");
    await this.views.show(
      `${this.chat.info?.sessionId ?? "new"}/${name}.md`,
      chatAsMarkdown(title, this.chat.conversation.rows, this.chat.t, number),
    );
  }
}
