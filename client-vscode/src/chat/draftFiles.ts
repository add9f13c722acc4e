/** The files that keep drafts: `<storage>/drafts/<session>.json`, written whole and by renaming, so that a crash leaves the old one. */
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { previewsOf } from "../compression/editedPreviews.js";
import { isFileName, writeWhole } from "../editor/wholeFiles.js";
import { decodeDraft, encodeDraft, EMPTY_DRAFT, type SavedDraft } from "./pure/savedDraft.js";

/** The name for a chat that is not begun yet. */
const UNBEGUN = "new";

export class DraftFiles {
  #writing: Promise<void> = Promise.resolve();
  /** Deleted chats: nothing is written for them any more. */
  readonly #gone = new Set<string>();

  /** @param folder where this window's workspace keeps things; `undefined` without a workspace: then nothing is kept. */
  constructor(private readonly folder: string | undefined) {}

  async read(sessionId: string | undefined): Promise<SavedDraft> {
    await this.#writing;
    const path = this.#path(sessionId);
    return path === undefined ? EMPTY_DRAFT : kept(path);
  }

  /** Resolves when it is on the disk. Writes happen one after the other; a disk that refuses does not disturb the chat. */
  write(sessionId: string | undefined, kept: SavedDraft): Promise<void> {
    return this.#inOrder(sessionId, (path) => put(path, kept));
  }

  /** Change something of a draft that nobody holds. */
  amend(sessionId: string | undefined, change: Partial<SavedDraft>): Promise<void> {
    return this.#inOrder(sessionId, async (path) => put(path, { ...(await kept(path)), ...change }));
  }

  /** The chat is deleted, for good, or the draft of the unbegun one has found its chat. */
  forget(sessionId: string | undefined): Promise<void> {
    const forgotten = this.#inOrder(sessionId, async (path) => {
      await rm(path, { force: true });
      const previews = sessionId === undefined ? undefined : previewsOf(dirname(path), sessionId);
      if (previews !== undefined) await rm(previews, { recursive: true, force: true });
    });
    if (sessionId !== undefined) this.#gone.add(sessionId);
    return forgotten;
  }

  #inOrder(sessionId: string | undefined, work: (path: string) => Promise<void>): Promise<void> {
    const path = this.#path(sessionId);
    if (path === undefined || (sessionId !== undefined && this.#gone.has(sessionId))) return Promise.resolve();
    this.#writing = this.#writing.then(() => work(path)).catch(() => undefined); // it is still in the page and in memory
    return this.#writing;
  }

  #path(sessionId: string | undefined): string | undefined {
    const name = sessionId ?? UNBEGUN;
    return this.folder === undefined || !isFileName(name) ? undefined : join(this.folder, "drafts", `${name}.json`);
  }
}

async function kept(path: string): Promise<SavedDraft> {
  try {
    return decodeDraft(await readFile(path, "utf8"));
  } catch {
    return EMPTY_DRAFT; // there is none yet
  }
}

function put(path: string, saved: SavedDraft): Promise<void> {
  return writeWhole(path, encodeDraft(saved));
}
