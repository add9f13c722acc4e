import { Disposable, window, workspace, type ExtensionContext } from "vscode";
import type { DaemonPort } from "../daemon/port.js";
import { Signal } from "../daemon/signal.js";
import { readEditor } from "./reader.js";
import { ContextReporter } from "./reporter.js";

/** Listens to the editor for as long as the extension lives. */
export function registerContext(context: ExtensionContext, daemon: DaemonPort): ContextReporter {
  const changed = new Signal<void>();
  const emit = (): void => changed.fire();
  const listening = Disposable.from(
    window.tabGroups.onDidChangeTabs(emit),
    window.tabGroups.onDidChangeTabGroups(emit),
    window.onDidChangeActiveTextEditor(emit),
    window.onDidChangeVisibleTextEditors(emit),
    window.onDidChangeTextEditorSelection(emit),
    window.onDidChangeTextEditorVisibleRanges(emit),
    window.onDidChangeActiveNotebookEditor(emit),
    window.onDidChangeVisibleNotebookEditors(emit),
    window.onDidChangeNotebookEditorSelection(emit),
    // Files the daemon follows itself.
    workspace.onDidChangeTextDocument(({ document: { uri } }) => {
      if (uri.scheme === "untitled" || uri.scheme === "vscode-notebook-cell") emit();
    }),
    workspace.onDidGrantWorkspaceTrust(emit),
  );
  const reporter = new ContextReporter(daemon, { read: readEditor, onDidChange: changed.event });
  context.subscriptions.push(listening, changed, reporter);
  return reporter;
}
