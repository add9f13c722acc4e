/** Snapshots as documents: to read, to compare, and, where a preview is edited, to write. */
import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  Uri,
  commands,
  window,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type TextDocumentContentProvider,
} from "vscode";

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

  /** The document's URI; one of the same path is replaced. */
  put(path: string, text: string): Uri {
    const uri = Uri.from({ scheme: VIEW_SCHEME, path: `/${path}` });
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

  async show(path: string, text: string): Promise<void> {
    const document = await workspace.openTextDocument(this.put(path, text));
    await window.showTextDocument(document, { preview: true });
  }

  async compare(left: Uri, right: Uri, title: string): Promise<void> {
    await commands.executeCommand("vscode.diff", left, right, title, { preview: true });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

interface Edited {
  text: string;
  readonly created: number;
  changed: number;
}

/** Previews being edited: a file system of a few files in memory. */
export class SnapshotFiles implements FileSystemProvider, Disposable {
  readonly #files = new Map<string, Edited>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registration = workspace.registerFileSystemProvider(SNAPSHOT_SCHEME, this, { isCaseSensitive: true });

  static uri(compactionId: string): Uri {
    return Uri.from({ scheme: SNAPSHOT_SCHEME, path: `/${compactionId}/snapshot.md` });
  }

  /** The compaction whose preview a document holds. */
  static compactionOf(uri: Uri): string | undefined {
    return uri.scheme === SNAPSHOT_SCHEME ? uri.path.split("/")[1] : undefined;
  }

  /** Open it for editing; a text that was edited already stays as it is. */
  async edit(compactionId: string, text: string): Promise<void> {
    const uri = SnapshotFiles.uri(compactionId);
    if (!this.#files.has(uri.path)) this.#put(uri, text, FileChangeType.Created);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  /** The edited text, unsaved changes included; `undefined` if it is not being edited. */
  current(compactionId: string): string | undefined {
    const uri = SnapshotFiles.uri(compactionId);
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    return this.#files.has(uri.path) ? (open?.getText() ?? this.#files.get(uri.path)?.text) : undefined;
  }

  /** Close its tabs without asking, and forget it. */
  async close(compactionId: string): Promise<void> {
    const uri = SnapshotFiles.uri(compactionId);
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open?.isDirty) await open.save();
    const tabs = window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => {
        const input: unknown = tab.input;
        return typeof input === "object" && input !== null && "uri" in input && input.uri instanceof Uri && input.uri.toString() === uri.toString();
      });
    if (tabs.length > 0) await window.tabGroups.close(tabs);
    this.#files.delete(uri.path);
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  stat(uri: Uri): FileStat {
    const file = this.#find(uri);
    return { type: FileType.File, ctime: file.created, mtime: file.changed, size: Buffer.byteLength(file.text) };
  }

  readFile(uri: Uri): Uint8Array {
    return Buffer.from(this.#find(uri).text, "utf8");
  }

  writeFile(uri: Uri, content: Uint8Array): void {
    this.#find(uri);
    this.#put(uri, Buffer.from(content).toString("utf8"), FileChangeType.Changed);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }

  #find(uri: Uri): Edited {
    const file = this.#files.get(uri.path);
    if (!file) throw FileSystemError.FileNotFound(uri);
    return file;
  }

  #put(uri: Uri, text: string, type: FileChangeType): void {
    const now = Date.now();
    this.#files.set(uri.path, { text, created: this.#files.get(uri.path)?.created ?? now, changed: now });
    this.#changed.fire([{ type, uri }]);
  }
}
