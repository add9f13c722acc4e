/** Files that exist in memory while somebody looks at them. */
import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  Uri,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
} from "vscode";

/** Of proposals: the person may edit them before accepting. */
export const PROPOSAL_SCHEME = "gemini-proposal";
/** Of what is only shown. */
export const SHOWN_SCHEME = "gemini-shown";

interface Entry {
  bytes: Uint8Array;
  readonly created: number;
  changed: number;
}

export class ProposalFiles implements FileSystemProvider, Disposable {
  readonly #entries = new Map<string, Entry>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  readonly #registrations = [
    workspace.registerFileSystemProvider(PROPOSAL_SCHEME, this, { isCaseSensitive: true }),
    workspace.registerFileSystemProvider(SHOWN_SCHEME, this, { isCaseSensitive: true, isReadonly: true }),
  ];
  #count = 0;

  /** @param name the last part of the path, from which the editor takes the language */
  add(scheme: typeof PROPOSAL_SCHEME | typeof SHOWN_SCHEME, name: string, text: string): Uri {
    const uri = Uri.from({ scheme, path: `/${++this.#count}/${name.replace(/[\\/\0]/g, "_") || "text"}` });
    const now = Date.now();
    this.#entries.set(uri.path, { bytes: new TextEncoder().encode(text), created: now, changed: now });
    return uri;
  }

  /** The text, what is typed and not saved included. */
  read(uri: Uri): string {
    const document = workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    return document?.getText() ?? new TextDecoder().decode(this.#entry(uri).bytes);
  }

  remove(uri: Uri): void {
    this.#entries.delete(uri.path);
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  stat(uri: Uri): FileStat {
    const { bytes, created, changed } = this.#entry(uri);
    return { type: FileType.File, ctime: created, mtime: changed, size: bytes.length };
  }

  readFile(uri: Uri): Uint8Array {
    return this.#entry(uri).bytes;
  }

  writeFile(uri: Uri, content: Uint8Array): void {
    const entry = this.#entry(uri); // nobody makes files here but `add`
    entry.bytes = content;
    entry.changed = Date.now();
    this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
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
    for (const registration of this.#registrations) registration.dispose();
    this.#changed.dispose();
  }

  #entry(uri: Uri): Entry {
    const entry = this.#entries.get(uri.path);
    if (entry === undefined) throw FileSystemError.FileNotFound(uri);
    return entry;
  }
}
