/** What survives of a chat beside its log: draft, reading place, queue, files taken out. Held here, written a moment later. */
import type { ScrollAnchor } from "../panel/contract.js";
import type { DraftFiles } from "./draftFiles.js";
import { EMPTY_DRAFT, type SavedDraft } from "./pure/savedDraft.js";

/** How long a change waits before it is written, ms. The page has folded its keystrokes already. */
const WRITE_MS = 50;
/** Drafts that are known by their numbers after they were left. */
const EARLIER = 8;

export class DraftStore {
  #saved: SavedDraft = EMPTY_DRAFT;
  #sessionId: string | undefined;
  /** Before the first file is read nothing is written: it would take the place of what stands there. */
  #isLoaded = false;
  /** What the chat that is not begun was left with. At hand, for that chat is shown at once. */
  #unbegun: SavedDraft = EMPTY_DRAFT;
  /** Rises with every chat whose draft is taken over. */
  #number = 0;
  /** The sessions of the numbers before. */
  readonly #earlier = new Map<number, string | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly drafts: DraftFiles) {}

  get saved(): SavedDraft {
    return this.#saved;
  }

  /** The session that it is kept for; `undefined` for a chat that is not begun. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The number of the draft that is held: what is typed into another one comes too late for it. */
  get number(): number {
    return this.#number;
  }

  /**
   * Take over what a session left. Until its file is read, changes still go to the one before; none gets lost in between. Nothing is
   * taken over of a session that is not wanted any more by then.
   */
  async load(sessionId: string | undefined, isWanted: () => boolean): Promise<SavedDraft | undefined> {
    if (!this.#isLoaded) this.#unbegun = await this.drafts.read(undefined);
    const kept = sessionId === undefined ? this.#unbegun : await this.drafts.read(sessionId);
    if (!isWanted()) return undefined;
    await this.#turnTo(sessionId, kept);
    return kept;
  }

  /** The chat that is not begun is shown, with what was written for it. Nothing is waited for: what is typed next is typed there. */
  renew(): SavedDraft {
    void this.#turnTo(undefined, this.#unbegun);
    return this.#saved;
  }

  /** The chat that is not begun goes its own way, with what is kept of it; the next one starts with nothing. */
  release(): SavedDraft {
    const kept = this.#saved;
    this.#saved = this.#unbegun = EMPTY_DRAFT;
    return kept;
  }

  #turnTo(sessionId: string | undefined, kept: SavedDraft): Promise<void> {
    const written = this.flush();
    if (this.#isLoaded && this.#sessionId === undefined) this.#unbegun = this.#saved;
    this.#earlier.set(this.#number, this.#sessionId);
    this.#earlier.delete(this.#number - EARLIER);
    this.#number += 1;
    this.#sessionId = sessionId;
    this.#saved = kept;
    this.#isLoaded = true;
    return written;
  }

  /** Text that was typed into the draft of a number. Whether it belongs to the one that is held, though it came late. */
  typed(number: number, scroll: ScrollAnchor, text: Pick<SavedDraft, "draft" | "pasted" | "pictures">): boolean {
    if (number === this.#number) this.change({ ...text, scroll });
    else if (this.#earlier.has(number)) {
      const sessionId = this.#earlier.get(number);
      if (sessionId !== this.#sessionId) {
        if (sessionId === undefined) this.#unbegun = { ...this.#unbegun, ...text };
        void this.drafts.amend(sessionId, text);
      } else {
        this.change(text);
        return true;
      }
    }
    return false;
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
    if (before !== undefined) return;
    this.#unbegun = EMPTY_DRAFT;
    await this.drafts.forget(undefined);
  }

  /** A chat that was left before it was begun has its session now, and what was kept of it goes there. */
  begunElsewhere(sessionId: string, kept: SavedDraft): Promise<void> {
    return this.drafts.write(sessionId, kept);
  }

  /** The chat of a session is deleted. */
  forget(sessionId: string): Promise<void> {
    return this.drafts.forget(sessionId);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}
