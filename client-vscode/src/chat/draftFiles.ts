/** The files that keep drafts: `<storage>/drafts/<session>.json`, written whole and by renaming, so that a crash leaves the old one. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeDraft, encodeDraft, EMPTY_DRAFT, type SavedDraft } from "./pure/savedDraft.js";

/** The name for a chat that is not begun yet. */
const UNBEGUN = "new";

export class DraftFiles {
  #writing: Promise<void> = Promise.resolve();

  /** @param folder where this window's workspace keeps things; `undefined` without a workspace: then nothing is kept. */
  constructor(private readonly folder: string | undefined) {}

  async read(sessionId: string | undefined): Promise<SavedDraft> {
    await this.#writing;
    const path = this.#path(sessionId);
    if (path === undefined) return EMPTY_DRAFT;
    try {
      return decodeDraft(await readFile(path, "utf8"));
    } catch {
      return EMPTY_DRAFT; // there is none yet
    }
  }

  /** Resolves when it is on the disk. Writes happen one after the other; a disk that refuses does not disturb the chat. */
  write(sessionId: string | undefined, kept: SavedDraft): Promise<void> {
    const path = this.#path(sessionId);
    if (path === undefined || this.folder === undefined) return Promise.resolve();
    const folder = join(this.folder, "drafts");
    this.#writing = this.#writing.then(async () => {
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(`${path}.tmp`, encodeDraft(kept), { encoding: "utf8", mode: 0o600 });
        await rename(`${path}.tmp`, path);
      } catch {
        // the draft is still in the page and in memory
      }
    });
    return this.#writing;
  }

  /** The chat is deleted, or the draft of the unbegun one has found its chat. */
  async forget(sessionId: string | undefined): Promise<void> {
    const path = this.#path(sessionId);
    await this.#writing;
    if (path !== undefined) await rm(path, { force: true });
  }

  #path(sessionId: string | undefined): string | undefined {
    const name = sessionId ?? UNBEGUN;
    return this.folder === undefined || !/^[\w-]{1,100}$/.test(name)
      ? undefined
      : join(this.folder, "drafts", `${name}.json`);
  }
}
