/** What the panel does to the files in the editor: insert, apply, open. Nothing is written that was not seen as a diff, but an insertion. */
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import {
  commands,
  env,
  l10n,
  Position,
  Range,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
  type CancellationToken,
  type TextDocument,
  type TextEditor,
} from "vscode";
import type { EditorPort, OpenReview } from "../chat/editorPort.js";
import { SHOWN_SCHEME, type ProposalFiles } from "./proposalFiles.js";
import { decideHref, isWithin, type Opening, type Root } from "./pure/hrefs.js";
import { mentionOf } from "./pure/mentions.js";
import { proposeContent, rebased, smallestEdit } from "./pure/proposals.js";
import type { Reviews } from "./reviews.js";
import { fail, inform, warn } from "../toasts.js";

export class Edits implements EditorPort {
  constructor(
    private readonly reviews: Reviews,
    private readonly files: ProposalFiles,
  ) {}

  async insertCode(text: string): Promise<void> {
    const editor = targetEditor();
    if (editor === undefined) return;
    await editor.edit((edit) => {
      for (const selection of editor.selections) edit.replace(selection, text);
    });
    await window.showTextDocument(editor.document, {
      ...(editor.viewColumn === undefined ? {} : { viewColumn: editor.viewColumn }),
    });
  }

  async applyCode(text: string, language: string): Promise<void> {
    const editor = targetEditor();
    if (editor === undefined) return;
    const { document, selection } = editor;
    const name = basename(document.uri.path);
    const base = document.getText();
    const target = { text: base, from: document.offsetAt(selection.start), to: document.offsetAt(selection.end), name };
    const proposal = proposeContent(target, text, language);
    if (proposal.how === "unfit") {
      void warn(l10n.t("This diff does not fit {0} as it is now.", name));
      return;
    }
    if (proposal.content === base) {
      void inform(l10n.t("{0} has this already.", name));
      return;
    }
    const reviewed = await this.reviews.review({
      file: document.uri,
      content: proposal.content,
      title: l10n.t("{0} (proposed by Gemini)", name),
    });
    if (reviewed.outcome === "accepted") await write(document.uri, base, reviewed.content, name);
  }

  async openHref(href: string): Promise<void> {
    const opening = decideHref(href, roots(), process.platform);
    if (opening.open === "web") {
      await env.openExternal(Uri.parse(opening.url, true)); // the editor asks first
      return;
    }
    const file = opening.open === "file" ? await firstInside(opening.candidates) : undefined;
    if (file !== undefined && opening.open === "file") await showFile(file, opening);
    else void warn(refusal(opening));
  }

  async openFile(path: string): Promise<void> {
    await showFile(path, {});
  }

  async reviewText(path: string, content: string, token: CancellationToken): Promise<OpenReview> {
    const title = l10n.t("{0} (proposed by Gemini)", basename(path));
    return this.reviews.open({ file: Uri.file(path), content, title }, token);
  }

  async showChange(path: string, before: string, title: string): Promise<void> {
    const file = Uri.file(path);
    const name = basename(path);
    const exists = (await readText(file)) !== undefined;
    const right = exists ? file : this.files.add(SHOWN_SCHEME, name, "");
    await commands.executeCommand("vscode.diff", this.files.add(SHOWN_SCHEME, name, before), right, title);
  }

  async showText(name: string, text: string): Promise<void> {
    await window.showTextDocument(this.files.add(SHOWN_SCHEME, name, text), { preview: true });
  }

  async textOf(path: string): Promise<string> {
    return (await readText(Uri.file(path))) ?? "";
  }

  mentionsOf(uris: readonly string[]): string[] {
    return uris.slice(0, 100).flatMap((text) => {
      const file = localFile(text);
      const mention = file === undefined ? undefined : mentionOf(file, roots(), process.platform);
      return mention === undefined ? [] : [mention];
    });
  }
}

/** The editor of a file that was last used; says so if there is none. */
function targetEditor(): TextEditor | undefined {
  const isFile = (editor: TextEditor | undefined): boolean =>
    editor !== undefined && ["file", "untitled"].includes(editor.document.uri.scheme);
  const active = window.activeTextEditor;
  const editor = isFile(active) ? active : window.visibleTextEditors.find(isFile);
  if (editor === undefined) void inform(l10n.t("Open the file that this is for, and put the cursor where it belongs."));
  return editor;
}

/** The text of a file as the editor has it; nothing if there is none, or no text. */
async function readText(uri: Uri): Promise<string | undefined> {
  try {
    return (await workspace.openTextDocument(uri)).getText();
  } catch {
    return undefined;
  }
}

async function write(uri: Uri, base: string, accepted: string, name: string): Promise<void> {
  const document = await workspace.openTextDocument(uri);
  const now = document.getText();
  const content = rebased(base, accepted, now);
  if (content === undefined) {
    void warn(l10n.t("{0} has changed meanwhile, in the same place: nothing was written. Apply the code again.", name));
    return;
  }
  const { from, to, text } = smallestEdit(now, content);
  const edit = new WorkspaceEdit();
  edit.replace(uri, rangeOf(document, from, to), text);
  if (!(await workspace.applyEdit(edit))) void fail(l10n.t("{0} could not be changed.", name));
}

function rangeOf(document: TextDocument, from: number, to: number): Range {
  return new Range(document.positionAt(from), document.positionAt(to));
}

/** Workspace folders on a disk. */
export function roots(): Root[] {
  const folders = workspace.workspaceFolders ?? [];
  return folders.filter(({ uri }) => uri.scheme === "file").map(({ name, uri }) => ({ name, path: uri.fsPath }));
}

/** The first file that exists and does not lead out of the roots by a link. */
async function firstInside(candidates: readonly string[]): Promise<string | undefined> {
  const real = await Promise.all(roots().map(({ path }) => realpath(path).catch(() => path)));
  for (const candidate of candidates) {
    const target = await realpath(candidate).catch(() => undefined);
    if (target !== undefined && real.some((root) => isWithin(target, root, process.platform))) return candidate;
  }
  return undefined;
}

type FilePlace = Pick<Extract<Opening, { open: "file" }>, "line" | "lastLine" | "column">;

async function showFile(file: string, place: FilePlace): Promise<void> {
  const uri = Uri.file(file);
  const { line, lastLine, column } = place;
  const from = new Position((line ?? 1) - 1, (column ?? 1) - 1);
  const to = lastLine === undefined ? from : new Position(lastLine - 1, Number.MAX_SAFE_INTEGER);
  try {
    await window.showTextDocument(uri, {
      preview: true,
      ...(line === undefined ? {} : { selection: new Range(from, to) }),
    });
  } catch {
    void warn(l10n.t("{0} cannot be shown as text.", basename(file)));
  }
}

function refusal(opening: Opening): string {
  if (opening.open === "nothing" && opening.because === "scheme")
    return l10n.t("Only web pages and files of the workspace are opened from an answer.");
  if (opening.open === "nothing" && opening.because === "malformed")
    return l10n.t("This is no link that can be opened.");
  return l10n.t("There is no such file in the workspace.");
}

/** The path of a dropped URI on this machine; a remote window's own files come as `vscode-remote:`. */
function localFile(text: string): string | undefined {
  try {
    const uri = Uri.parse(text, true);
    return uri.scheme === "file" || (uri.scheme === "vscode-remote" && env.remoteName !== undefined)
      ? Uri.file(uri.path).fsPath
      : undefined;
  } catch {
    return undefined;
  }
}
