import { Disposable, window, workspace, type ExtensionContext } from "vscode";
import type { DaemonPort } from "../daemon/port.js";
import { Signal } from "../daemon/signal.js";
import { readEditor } from "./reader.js";
import { ContextReporter } from "./reporter.js";

/** Listens to the editor for as long as the extension lives. */
export function registerContext(context: ExtensionContext, daemon: DaemonPort): ContextReporter {
  const changed = new Signal<void>();
  const tell = (): void => changed.fire();
  const listening = Disposable.from(
    window.tabGroups.onDidChangeTabs(tell),
    window.tabGroups.onDidChangeTabGroups(tell),
    window.onDidChangeActiveTextEditor(tell),
    window.onDidChangeVisibleTextEditors(tell),
    window.onDidChangeTextEditorSelection(tell),
    window.onDidChangeTextEditorVisibleRanges(tell),
    workspace.onDidGrantWorkspaceTrust(tell),
  );
  const reporter = new ContextReporter(daemon, { read: readEditor, onDidChange: changed.event });
  context.subscriptions.push(listening, changed, reporter);
  return reporter;
}
