/** The context meter in the status bar. A click shows what the context is made of; it never compresses. */
import { MarkdownString, StatusBarAlignment, ThemeColor, window, type Disposable } from "vscode";
import type { Chat } from "../chat/chat.js";
import { number } from "../chat/pure/numbers.js";
import { meterOf } from "../chat/pure/panelState.js";
import { meterText } from "./pure/meterText.js";

export class StatusMeter implements Disposable {
  readonly #item = window.createStatusBarItem("geminiCompanion.context", StatusBarAlignment.Right, 90);
  readonly #subscriptions: Disposable[];

  constructor(private readonly chat: Chat) {
    this.#item.name = chat.t("Gemini Context");
    this.#item.command = "geminiCompanion.showContext";
    this.#subscriptions = [chat.onDidChange(() => this.#show()), chat.daemon.onDidChangeView(() => this.#show())];
    this.#show();
  }

  #show(): void {
    const { chat } = this;
    const { t } = chat;
    const daemon = chat.daemon.view;
    if (daemon.kind === "lost" || daemon.kind === "failed") {
      this.#item.text = `$(warning) Gemini`;
      this.#item.tooltip = daemon.kind === "failed" ? daemon.error.message : t("The daemon is being restarted.");
      this.#item.backgroundColor = new ThemeColor("statusBarItem.warningBackground");
      this.#item.accessibilityInformation = { label: t("Gemini: the daemon does not run"), role: "button" };
      this.#item.show();
      return;
    }
    this.#item.backgroundColor = undefined;
    if (!chat.status) {
      this.#item.hide();
      return;
    }
    const words = meterText(meterOf(chat.status), chat.job.kind === "compression", t, number);
    this.#item.text = words.text;
    this.#item.tooltip = new MarkdownString(words.tooltip);
    this.#item.accessibilityInformation = { label: words.label, role: "button" };
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
