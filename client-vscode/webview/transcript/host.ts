import type { FromPage } from "../../src/panel/contract.js";

/** Translates an English text of the interface; `{0}` and so on stand for the arguments. */
export type Translate = (text: string, ...args: readonly (string | number)[]) => string;

/** What the transcript needs from the page around it. */
export interface TranscriptHost {
  /** To the extension host. */
  send(message: FromPage): void;
  /** Asks for rows by index, both ends included, at most 200. They come back through `Transcript.setRows`, or never. */
  loadRows(from: number, to: number): void;
  /** Has a screen reader read out something short that happened. */
  announce(text: string, assertive?: boolean): void;
  readonly t: Translate;
  /** The address of a small version of a picture, if it can be shown. */
  thumbnail(digest: string): Promise<string | undefined>;
  /** Asks in a dialog of the page. */
  confirm(question: string): Promise<boolean>;
}

/** A match of the find bar: `start` and `length` count characters of the row's text, as the host has it. */
export interface Match {
  readonly row: number;
  readonly rowId: string;
  readonly start: number;
  readonly length: number;
}
