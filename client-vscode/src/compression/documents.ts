/** Snapshots as documents: to read, to compare, and, where a preview is edited, to write. */
import {
  EventEmitter,
  TabInputText,
  Uri,
  commands,
  window,
  workspace,
  type Disposable,
  type FileStat,
  type TextDocumentContentProvider,
} from "vscode";
import { MemoryFiles } from "../editor/memoryFiles.js";
import type { EditedPreviews, Preview } from "./editedPreviews.js";

/** Read-only: snapshots, what was hidden, chats as text. */
export const VIEW_SCHEME = "gemini-view";
/** A preview under an editor's hands; saving keeps it here, in memory. */
export const SNAPSHOT_SCHEME = "gemini-snapshot";

/** How many read-only documents are kept. */
const MOST_VIEWS = 64;

/** The texts of read-only documents, by their URI. */
export class TextViews implements TextDocumentContentProvider, Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration = workspace.registerTextDocumentContentProvider(VIEW_SCHEME, this);

  static uri(path: string): Uri {
    return Uri.from({ scheme: VIEW_SCHEME, path: `/${path}` });
  }

  /** The document's URI; one of the same path is replaced. */
  put(path: string, text: string): Uri {
    const uri = TextViews.uri(path);
    this.#texts.delete(uri.toString());
    this.#texts.set(uri.toString(), text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MOST_VIEWS) break;
      this.#texts.delete(oldest);
    }
    this.#changed.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  async show(path: string, text: string, { preserveFocus = false } = {}): Promise<void> {
    const document = await workspace.openTextDocument(this.put(path, text));
    await window.showTextDocument(document, { preview: true, preserveFocus });
  }

  /** Close its tabs, if it is open. */
  async close(path: string): Promise<void> {
    await closeTabs(TextViews.uri(path));
  }

  async compare(left: Uri, right: Uri, title: string): Promise<void> {
    await commands.executeCommand("vscode.diff", left, right, title, { preview: true });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

/** Previews being edited. What is saved of them is still there after a reload. */
export class SnapshotFiles extends MemoryFiles {
  constructor(private readonly kept: EditedPreviews) {
    super({ [SNAPSHOT_SCHEME]: { isReadonly: false } });
  }

  /** The session stands in the query: it is of no use to who reads the path. */
  static uri({ compressionId, sessionId }: Preview): Uri {
    return Uri.from({ scheme: SNAPSHOT_SCHEME, path: `/${compressionId}/snapshot.md`, query: sessionId });
  }

  /** The compression whose preview a document holds. */
  static previewOf(uri: Uri): Preview | undefined {
    const compressionId = uri.scheme === SNAPSHOT_SCHEME ? uri.path.split("/")[1] : undefined;
    return compressionId && uri.query ? { compressionId, sessionId: uri.query } : undefined;
  }

  /** Open it for editing; a text that was edited already stays as it is. */
  async edit(compressionId: string, sessionId: string, text: string): Promise<void> {
    const uri = SnapshotFiles.uri({ compressionId, sessionId });
    if (!(await this.#isHere(uri))) {
      this.put(uri, text);
      await this.kept.write({ compressionId, sessionId }, text);
    }
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  /** The edited text, unsaved changes included; `undefined` if it is not being edited. */
  async current(compressionId: string, sessionId: string): Promise<string | undefined> {
    const uri = SnapshotFiles.uri({ compressionId, sessionId });
    return (await this.#isHere(uri)) ? this.read(uri) : undefined;
  }

  /** Close its tabs without asking, and forget it. */
  async close(compressionId: string, sessionId: string): Promise<void> {
    const uri = SnapshotFiles.uri({ compressionId, sessionId });
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open?.isDirty) await open.save();
    await closeTabs(uri);
    this.remove(uri);
    await this.kept.forget({ compressionId, sessionId });
  }

  override async stat(uri: Uri): Promise<FileStat> {
    await this.#isHere(uri);
    return super.stat(uri);
  }

  override async readFile(uri: Uri): Promise<Uint8Array> {
    await this.#isHere(uri);
    return super.readFile(uri);
  }

  override async writeFile(uri: Uri, content: Uint8Array): Promise<void> {
    const preview = (await this.#isHere(uri)) ? SnapshotFiles.previewOf(uri) : undefined; // of one that is answered nothing is kept
    await super.writeFile(uri, content);
    if (preview) await this.kept.write(preview, new TextDecoder().decode(content));
  }

  /** Whether it is being edited, also since an earlier window. */
  async #isHere(uri: Uri): Promise<boolean> {
    const preview = SnapshotFiles.previewOf(uri);
    if (this.has(uri) || !preview) return this.has(uri);
    const text = await this.kept.read(preview);
    if (text !== undefined && !this.has(uri)) this.put(uri, text);
    return this.has(uri);
  }
}

async function closeTabs(uri: Uri): Promise<void> {
  const tabs = window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof TabInputText && input.uri.toString() === uri.toString());
  if (tabs.length > 0) await window.tabGroups.close(tabs);
}
