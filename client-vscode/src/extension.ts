/** The extension's wiring. Activation only registers: the daemon starts when the panel or a command wants it. */
import { commands, type ExtensionContext } from "vscode";
import { registerChat, type ChatCommands } from "./chat/register.js";
import { registerContext } from "./context/register.js";
import type { Daemon } from "./daemon/daemon.js";
import { registerDaemon } from "./daemon/register.js";
import { registerEditor } from "./editor/register.js";

let running: Daemon | undefined;

export function activate(context: ExtensionContext): void {
  const { daemon, messages, log } = registerDaemon(context);
  running = daemon;
  const reporter = registerContext(context, daemon);
  // The editor's commands and the chat need each other; neither does before a person acts.
  let chat: ChatCommands | undefined = undefined;
  const editor = registerEditor(context, daemon, async (text, options) => chat?.ask(text, options));
  chat = registerChat(context, { daemon, reporter, editor, log: (message) => log.info(message) });
  context.subscriptions.push(
    messages.onDidChange(() => chat.settingsChanged()),
    commands.registerCommand("geminiCompanion.openWalkthrough", () =>
      commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
    ),
  );
}

/** Waits for the daemon to be gone, so that nothing is left behind. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}
