/** What survives of a chat beside its log: draft, reading place, queue, files taken out. Held here, written a moment later. */
import type { DraftFiles } from "./draftFiles.js";
import { EMPTY_DRAFT, type SavedDraft } from "./pure/savedDraft.js";

/** How long a change waits before it is written, ms. The page has folded its keystrokes already. */
const WRITE_MS = 50;

export class DraftStore {
  #saved: SavedDraft = EMPTY_DRAFT;
  #sessionId: string | undefined;
  /** Before the first file is read nothing is written: it would take the place of what stands there. */
  #isLoaded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly drafts: DraftFiles) {}

  get saved(): SavedDraft {
    return this.#saved;
  }

  /** The session that it is kept for; `undefined` for a chat that is not begun. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Take over what a session left. Until its file is read, changes still go to the one before. */
  async load(sessionId: string | undefined): Promise<SavedDraft> {
    const kept = await this.drafts.read(sessionId);
    if (this.#isLoaded) await this.flush();
    this.#sessionId = sessionId;
    this.#saved = kept;
    this.#isLoaded = true;
    return kept;
  }

  change(change: Partial<SavedDraft>): void {
    this.#saved = { ...this.#saved, ...change };
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_MS);
  }

  /** Write it now; resolves when it is on the disk. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#isLoaded ? this.drafts.write(this.#sessionId, this.#saved) : Promise.resolve();
  }

  /** The chat that was not begun has its session now: what is kept goes along. */
  async begun(sessionId: string): Promise<void> {
    const before = this.#sessionId;
    this.#sessionId = sessionId;
    if (before === undefined) await this.drafts.forget(undefined);
  }

  /** The chat of a session is deleted. */
  forget(sessionId: string): Promise<void> {
    return this.drafts.forget(sessionId);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}
