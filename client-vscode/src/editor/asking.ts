/** "Ask", "Explain" and "Fix" in the editor: commands and code actions. */
import {
  CodeAction,
  CodeActionKind,
  CodeActionTriggerKind,
  commands,
  DiagnosticSeverity,
  l10n,
  languages,
  Range,
  Uri,
  window,
  workspace,
  type CodeActionContext,
  type CodeActionProvider,
  type Diagnostic,
  type Disposable,
  type TextDocument,
} from "vscode";
import { composePrompt, type AskKind, type Problem } from "./pure/prompts.js";
import { inform } from "../toasts.js";

/** Schemes of documents that go along with a prompt: files, what was never saved, cells of notebooks. */
const SCHEMES = ["file", "untitled", "vscode-notebook-cell"];

/** Puts a prompt into the chat, and sends it if wished. */
export type Ask = (text: string, options: { readonly send: boolean }) => Promise<void>;

const SEVERITIES: Readonly<Record<DiagnosticSeverity, Problem["severity"]>> = {
  [DiagnosticSeverity.Error]: "error",
  [DiagnosticSeverity.Warning]: "warning",
  [DiagnosticSeverity.Information]: "information",
  [DiagnosticSeverity.Hint]: "hint",
};

const KINDS = { askAboutSelection: "ask", explain: "explain", fix: "fix" } as const satisfies Record<string, AskKind>;

export function registerAsking(ask: Ask): Disposable[] {
  const own = Object.entries(KINDS).map(([name, kind]) =>
    commands.registerCommand(`geminiCompanion.${name}`, (uri: unknown, range: unknown) => run(kind, ask, uri, range)),
  );
  const kinds = [CodeActionKind.QuickFix, AskActions.kind];
  return [
    ...own,
    languages.registerCodeActionsProvider(
      SCHEMES.map((scheme) => ({ scheme })),
      new AskActions(),
      { providedCodeActionKinds: kinds },
    ),
  ];
}

/** @param uri, range what a code action is about; the active editor and its selection without them */
async function run(kind: AskKind, ask: Ask, uri: unknown, range: unknown): Promise<void> {
  const editor = window.activeTextEditor;
  const document =
    uri instanceof Uri && range instanceof Range ? await workspace.openTextDocument(uri) : editor?.document;
  const where = range instanceof Range ? range : editor?.selection;
  if (document === undefined || where === undefined || !SCHEMES.includes(document.uri.scheme)) {
    void inform(l10n.t("Open a file, and select what you want to know about."));
    return;
  }
  const end = where.end.character === 0 && where.end.line > where.start.line ? where.end.line : where.end.line + 1;
  const place = {
    path: nameOf(document),
    firstLine: where.start.line + 1,
    lastLine: end,
    isSelection: !where.isEmpty,
  };
  const { text, send } = composePrompt(
    kind,
    place,
    kind === "fix" ? problemsAt(document, where) : [],
    (message, ...args) => l10n.t(message, ...args),
  );
  await ask(text, { send });
}

/** As the daemon names it to the model. */
function nameOf({ uri }: TextDocument): string {
  if (uri.scheme === "untitled") return `untitled:${uri.path}`;
  if (uri.scheme === "file") return workspace.asRelativePath(uri);
  const cells = workspace.notebookDocuments.flatMap((notebook) => notebook.getCells());
  const cell = cells.find(({ document }) => document.uri.toString() === uri.toString());
  const notebook = workspace.asRelativePath(cell?.notebook.uri ?? uri.path);
  return cell === undefined ? notebook : `${notebook}#cell-${cell.index + 1}`;
}

function problemsAt(document: TextDocument, where: Range): Problem[] {
  const found = languages.getDiagnostics(document.uri).filter(({ range }) => range.intersection(where) !== undefined);
  return found.map(({ range, severity, message, source }: Diagnostic) => ({
    line: range.start.line + 1,
    severity: SEVERITIES[severity],
    message,
    source: source ?? "",
  }));
}

class AskActions implements CodeActionProvider {
  static readonly kind = CodeActionKind.RefactorRewrite.append("gemini");

  provideCodeActions(document: TextDocument, range: Range, context: CodeActionContext): CodeAction[] {
    const fix =
      context.diagnostics.length === 0
        ? []
        : [action(l10n.t("Fix with Gemini"), CodeActionKind.QuickFix, "fix", document, range, context.diagnostics)];
    // Not by themselves: a light bulb at every selection is noise.
    if (range.isEmpty || context.triggerKind !== CodeActionTriggerKind.Invoke) return fix;
    return [
      ...fix,
      action(l10n.t("Explain with Gemini"), AskActions.kind, "explain", document, range),
      action(l10n.t("Ask Gemini About Selection"), AskActions.kind, "askAboutSelection", document, range),
    ];
  }
}

function action(
  title: string,
  kind: CodeActionKind,
  command: keyof typeof KINDS,
  document: TextDocument,
  range: Range,
  diagnostics?: readonly Diagnostic[],
): CodeAction {
  const made = new CodeAction(title, kind);
  made.command = { title, command: `geminiCompanion.${command}`, arguments: [document.uri, range] };
  if (diagnostics !== undefined) made.diagnostics = [...diagnostics];
  return made;
}
