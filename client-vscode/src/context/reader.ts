/**
 * Looks at the editor: tabs of files, notebooks and untitled texts, and what of them is in sight. No diffs, output or virtual documents.
 * Which of it goes along, and why not, is the daemon's to say.
 */
import {
  Position,
  Range,
  TabInputNotebook,
  TabInputText,
  window,
  workspace,
  type NotebookEditor,
  type Selection,
  type Tab,
  type TextEditor,
} from "vscode";
import { LONGEST_OWN_TEXT, MAX_SELECTED, type EditorReading, type ShownFile } from "./pure/editorState.js";

const SCHEMES: ReadonlySet<string> = new Set(["file", "untitled"]);

export function readEditor(): EditorReading {
  const groups = window.tabGroups.all;
  const tabs = new Set(groups.flatMap((group) => group.tabs.map(fileOf).filter((uri) => uri !== undefined)));
  // The active tab and not the active editor: that one is lost, or is the output's, while the person is in a panel.
  const active = fileOf(window.tabGroups.activeTabGroup.activeTab);
  const shown = new Map<string, ShownFile>();
  const focused = window.activeTextEditor;
  for (const editor of focused === undefined ? window.visibleTextEditors : [focused, ...window.visibleTextEditors]) {
    const uri = editor.document.uri.toString();
    if (!shown.has(uri) && isTabsOwn(editor, uri)) shown.set(uri, shownFile(editor, uri));
  }
  for (const editor of window.visibleNotebookEditors) {
    const cell = shownCell(editor);
    if (cell !== undefined && !shown.has(cell.uri)) shown.set(cell.uri, cell);
  }
  return {
    tabs: [...tabs],
    ...(active === undefined ? {} : { active }),
    shown: [...shown.values()],
    untitled: untitledTexts(tabs),
    isTrusted: workspace.isTrusted,
  };
}

function fileOf(tab: Tab | undefined): string | undefined {
  const input: unknown = tab?.input;
  const isOpen = input instanceof TabInputText || input instanceof TabInputNotebook;
  return isOpen && SCHEMES.has(input.uri.scheme) ? input.uri.toString() : undefined;
}

/** Whether an editor is what a text tab shows, and not a side of a diff, a peek or an input box. */
function isTabsOwn(editor: TextEditor, uri: string): boolean {
  return window.tabGroups.all.some(
    (group) => group.viewColumn === editor.viewColumn && fileOf(group.activeTab) === uri,
  );
}

/** Texts that no file holds; the daemon has them from here alone. */
function untitledTexts(tabs: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = workspace.textDocuments.filter(({ uri }) => uri.scheme === "untitled" && tabs.has(uri.toString()));
  return new Map(
    found.flatMap((document) => {
      const text = document.getText();
      return text.length <= LONGEST_OWN_TEXT ? [[document.uri.toString(), text]] : [];
    }),
  );
}

/** The cell of a notebook that is worked in, with what is selected in it. */
function shownCell({ notebook, selection }: NotebookEditor): ShownFile | undefined {
  if (selection.start >= notebook.cellCount) return undefined;
  const { document, index } = notebook.cellAt(selection.start);
  const text = document.getText();
  if (text.length > LONGEST_OWN_TEXT) return undefined;
  const uri = notebook.uri.toString();
  const editor = window.visibleTextEditors.find((one) => one.document === document);
  const inCell = editor === undefined ? { uri, cursor: { line: 0, character: 0 } } : shownFile(editor, uri);
  return { ...inCell, cell: { number: index + 1, text } };
}

function shownFile(editor: TextEditor, uri: string): ShownFile {
  const { selection, visibleRanges } = editor;
  const visible =
    visibleRanges[0] === undefined ? {} : { visible: plain(visibleRanges.reduce((all, range) => all.union(range))) };
  const cursor = { line: selection.active.line, character: selection.active.character };
  if (selection.isEmpty) return { uri, cursor, ...visible };
  return { uri, cursor, selection: plain(selection), selectedText: selectedText(editor, selection), ...visible };
}

/** The beginning of the selection; a whole large file is not copied to be cut afterwards. */
function selectedText({ document }: TextEditor, selection: Selection): string {
  const from = document.offsetAt(selection.start);
  const end = document.positionAt(from + MAX_SELECTED + 2);
  return document.getText(new Range(selection.start, end.isBefore(selection.end) ? end : selection.end));
}

function plain({ start, end }: Range): ShownFile["selection"] & object {
  const place = ({ line, character }: Position): { line: number; character: number } => ({ line, character });
  return { start: place(start), end: place(end) };
}
