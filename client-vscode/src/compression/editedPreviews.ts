/** Previews as they were saved while somebody edited them, so that a reload loses none. They lie beside the draft of their chat and go with it. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isFileName, writeWhole } from "../editor/wholeFiles.js";

export interface Preview {
  readonly compressionId: string;
  readonly sessionId: string;
}

/** The folder with the previews of a chat; `undefined` for what is no name of a chat. */
export function previewsOf(drafts: string, sessionId: string): string | undefined {
  return isFileName(sessionId) ? join(drafts, `${sessionId}.previews`) : undefined;
}

export class EditedPreviews {
  #writing: Promise<void> = Promise.resolve();

  /** @param storage where this window's workspace keeps things; `undefined` without a workspace: then nothing is kept. */
  constructor(private readonly storage: string | undefined) {}

  /** `undefined` if none is kept. */
  async read(preview: Preview): Promise<string | undefined> {
    await this.#writing;
    const path = this.#path(preview);
    return path === undefined ? undefined : readFile(path, "utf8").catch(() => undefined);
  }

  /** Resolves when it is on the disk; a disk that refuses keeps nobody from editing. */
  write(preview: Preview, text: string): Promise<void> {
    return this.#inOrder(preview, (path) => writeWhole(path, text));
  }

  forget(preview: Preview): Promise<void> {
    return this.#inOrder(preview, (path) => rm(path, { force: true }));
  }

  #inOrder(preview: Preview, work: (path: string) => Promise<void>): Promise<void> {
    const path = this.#path(preview);
    if (path === undefined) return Promise.resolve();
    this.#writing = this.#writing.then(() => work(path)).catch(() => undefined);
    return this.#writing;
  }

  #path({ compressionId, sessionId }: Preview): string | undefined {
    const folder = this.storage === undefined ? undefined : previewsOf(join(this.storage, "drafts"), sessionId);
    return folder === undefined || !isFileName(compressionId) ? undefined : join(folder, `${compressionId}.md`);
  }
}
