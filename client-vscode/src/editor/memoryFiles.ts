/** A file system of a few files that exist in memory while somebody looks at them or edits them. */
import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from "vscode";

interface Entry {
  bytes: Uint8Array;
  readonly created: number;
  changed: number;
}

export class MemoryFiles implements FileSystemProvider, Disposable {
  readonly #entries = new Map<string, Entry>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registrations: Disposable[];

  /** @param schemes each with whether its files may only be read */
  constructor(schemes: Readonly<Record<string, { readonly isReadonly: boolean }>>) {
    this.#registrations = Object.entries(schemes).map(([scheme, { isReadonly }]) =>
      workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true, isReadonly }),
    );
  }

  /** Makes a file, or one of the same path anew. */
  protected put(uri: Uri, text: string): void {
    const now = Date.now();
    this.#entries.set(key(uri), { bytes: new TextEncoder().encode(text), created: now, changed: now });
  }

  has(uri: Uri): boolean {
    return this.#entries.has(key(uri));
  }

  /** The text, what is typed and not saved included. */
  read(uri: Uri): string {
    const document = workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    return document?.getText() ?? new TextDecoder().decode(this.#entry(uri).bytes);
  }

  remove(uri: Uri): void {
    this.#entries.delete(key(uri));
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  stat(uri: Uri): FileStat | Promise<FileStat> {
    const { bytes, created, changed } = this.#entry(uri);
    return { type: FileType.File, ctime: created, mtime: changed, size: bytes.length };
  }

  readFile(uri: Uri): Uint8Array | Promise<Uint8Array> {
    return this.#entry(uri).bytes;
  }

  writeFile(uri: Uri, content: Uint8Array): void | Promise<void> {
    // Auto-save may come when the file is gone, since it was answered: a message about that would only be in the way.
    const entry = this.#entries.get(key(uri)) ?? { bytes: content, created: Date.now(), changed: 0 };
    entry.bytes = content;
    entry.changed = Date.now();
    this.#entries.set(key(uri), entry);
    this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(): void {
    // Folders mean nothing here; VS Code makes them on its way to a file that is gone.
  }

  delete(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): void {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const registration of this.#registrations) registration.dispose();
    this.#changed.dispose();
  }

  #entry(uri: Uri): Entry {
    const entry = this.#entries.get(key(uri));
    if (entry === undefined) throw FileSystemError.FileNotFound(uri);
    return entry;
  }
}

function key({ path, query }: Uri): string {
  return `${path}?${query}`;
}
