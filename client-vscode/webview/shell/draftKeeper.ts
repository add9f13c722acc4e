/** The unsent text and the reading place: told to the host, and kept with the page besides. */
import type { PanelState, Row, ScrollAnchor } from "../../src/panel/contract.js";
import { isRecord } from "../shapes.js";
import type { KeptState } from "./ports.js";
import type { Shell } from "./shell.js";

/** How long typing or scrolling may pause before it is told, ms. */
export const draftDelayMs = 50;

/** What of a snapshot decides about the draft. */
export interface DraftSource {
  readonly state: PanelState;
  readonly rows: readonly Row[];
  readonly draft?: { readonly text: string; readonly scroll: ScrollAnchor };
}

export class DraftKeeper {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #told = "";
  #restored = false;

  constructor(
    private readonly shell: Shell,
    private readonly kept: KeptState,
  ) {}

  /** The text or the reading place changed. */
  changed(): void {
    if (!this.#restored) return;
    this.#timer ??= setTimeout(() => this.flush(), draftDelayMs);
  }

  /** Tells at once: the panel loses the focus, is hidden, or ends. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#restored) return;
    const text = this.shell.draft.peek();
    const scroll = this.shell.transcript?.anchor() ?? "end";
    const sessionId = this.shell.panel.peek()?.session?.sessionId;
    // Not the chat: between the state of another one and its draft, this text is not to be told as that chat's.
    const key = JSON.stringify([text, scroll]);
    if (key === this.#told) return;
    this.#told = key;
    this.shell.line.send({ type: "draft", text, scroll });
    this.kept.write({ sessionId, draft: text });
  }

  /**
   * Puts the draft of a snapshot into the composer and returns where to scroll to. Without one the page keeps its own. The host's text
   * goes first; the one that the page kept stands in for it if the host has none and it was not sent since.
   */
  restore(source: DraftSource): ScrollAnchor | undefined {
    const first = !this.#restored;
    this.#restored = true;
    if (source.draft === undefined) return undefined;
    const { text, scroll } = source.draft;
    this.shell.draft.value = text === "" && first ? this.#own(source) : text;
    return scroll;
  }

  #own({ state, rows }: DraftSource): string {
    const own = this.kept.read();
    if (!isRecord(own) || typeof own["draft"] !== "string" || own["sessionId"] !== state.session?.sessionId) return "";
    const text = own["draft"];
    const wasSent = rows.some((row) => row.kind === "prompt" && row.text.trim() === text.trim()) || state.queue.some((prompt) => prompt.text.trim() === text.trim());
    return wasSent ? "" : text;
  }
}
