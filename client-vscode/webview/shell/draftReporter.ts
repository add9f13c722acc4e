/** The unsent text and the reading place: sent to the host, and kept with the page besides. */
import type { Picture } from "../../src/panel/pictures.js";
import { enclosedIn } from "../../src/panel/written.js";
import type { PanelState, PastedRange, Row, ScrollAnchor } from "../../src/panel/contract.js";
import type { PageDraft, PageMemory } from "./ports.js";
import type { Shell } from "./shell.js";

/** How long typing or scrolling may pause before it is posted, ms. */
export const draftDelayMs = 50;

/** What of a sync decides about the draft. */
export interface DraftSource {
  readonly state: PanelState;
  readonly rows: readonly Row[];
  readonly draft?: HostDraft & { readonly scroll: ScrollAnchor };
}

/** A text of the host's for the composer, with the number of the draft that it is. */
export interface HostDraft {
  readonly draft: number;
  readonly text: string;
  readonly pasted?: readonly PastedRange[];
  readonly pictures?: readonly Picture[];
}

export class DraftReporter {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastSent = "";
  #restored = false;
  /** Another chat was asked for: what is written until its draft comes is written for that one. */
  #isLeaving = false;

  constructor(
    private readonly shell: Shell,
    private readonly saved: PageMemory,
  ) {
    shell.leaveDraft = () => this.#leave();
  }

  #leave(): void {
    if (!this.#restored || this.#isLeaving || this.shell.panel.peek()?.session === undefined) return;
    this.flush();
    this.#isLeaving = true;
    this.shell.setDraft("");
  }

  /** The text or the reading place changed. */
  changed(): void {
    if (!this.#restored) return;
    this.#timer ??= setTimeout(() => this.flush(), draftDelayMs);
  }

  /** Posts at once: the panel loses the focus, is hidden, or ends. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#restored || this.#isLeaving) return;
    const { prompt } = this.shell;
    const text = this.shell.written(prompt);
    const pasted = text === prompt ? this.shell.pastes.ranges(this.shell.draft.peek()) : [];
    const scroll = this.shell.transcript?.anchor() ?? "end";
    const sessionId = this.shell.panel.peek()?.session?.sessionId;
    const draft = this.shell.draftNumber; // not the chat: between the state of another one and its draft, this text is none of that chat's
    const pictures = this.shell.pictures.peek();
    const key = `${JSON.stringify([draft, scroll, pasted, pictures])} ${text}`;
    if (key === this.#lastSent) return;
    this.#lastSent = key;
    this.shell.line.send({ type: "draft", draft, text, scroll, ...enclosedIn({ pasted, pictures }) });
    this.saved.write({ sessionId, draft: text, pasted, pictures });
  }

  /**
   * Puts the draft of a sync into the composer and returns where to scroll to. Without one the page keeps its own. The host's text
   * goes first; the one that the page kept stands in for it if the host has none and it was not sent since.
   */
  restore(source: DraftSource): ScrollAnchor | undefined {
    const first = !this.#restored;
    this.#restored = true;
    if (source.draft === undefined) return undefined;
    const { draft, text, scroll, pictures } = source.draft;
    if (draft === this.shell.draftNumber) return undefined; // told twice: it may have been written on since
    this.shell.draftNumber = draft;
    const own = text === "" && pictures === undefined && first ? this.#own(source) : undefined;
    const [typed, attached] = first ? [this.shell.draft.peek(), this.shell.pictures.peek()] : ["", []]; // while the page was waiting for this
    this.shell.setDraft(own?.draft ?? text, own ?? source.draft);
    this.shell.rescue(typed, attached);
    return scroll;
  }

  /**
   * Puts a text of the host's into the composer. What stands there is told first, as the draft that it is; it goes only where another draft
   * takes its place, or where the text has it, too.
   */
  take({ draft, text, ...enclosed }: HostDraft): void {
    const { shell } = this;
    if (this.#isLeaving && draft !== shell.draftNumber) {
      const [typed, attached] = [shell.draft.peek(), shell.pictures.peek()];
      shell.setDraft(text, enclosed);
      shell.rescue(typed, attached);
      this.#isLeaving = false;
      shell.draftNumber = draft;
      this.changed();
      return;
    }
    this.flush();
    const [written, typed, attached] = [shell.prompt.trim(), shell.draft.peek(), shell.pictures.peek()];
    shell.setDraft(text, enclosed);
    if (draft === shell.draftNumber) shell.rescue(text.startsWith(written) ? "" : typed, attached);
    shell.draftNumber = draft;
  }

  #own({ state, rows }: DraftSource): PageDraft | undefined {
    const own = this.saved.read();
    if (own === undefined || own.sessionId !== state.session?.sessionId) return undefined;
    const text = own.draft;
    const wasSent =
      rows.some((row) => row.kind === "prompt" && row.text.trim() === text.trim()) ||
      state.queue.some((prompt) => prompt.text.trim() === text.trim());
    return wasSent ? undefined : own;
  }
}
