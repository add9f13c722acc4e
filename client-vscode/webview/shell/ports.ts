/** What the shell needs from the two things beside it: the line to the host, and the transcript. Tests bring their own. */
import type { Picture } from "../../src/panel/pictures.js";
import type {
  FromPage,
  PageRequest,
  PageResults,
  PanelState,
  PastedRange,
  Row,
  ScrollAnchor,
} from "../../src/panel/contract.js";

export interface HostLine {
  send(message: FromPage): void;
  /** Rejects with `CallError`. */
  call<R extends PageRequest>(request: R): Promise<PageResults[R["do"]]>;
  /** Asks for a sync, because what is known has a hole. */
  resync(): void;
}

export interface TextDelta {
  readonly rowId: string;
  readonly version: number;
  readonly field: "text" | "thoughts";
  readonly at: number;
  readonly text: string;
}

export interface ToolOutput {
  readonly rowId: string;
  readonly version: number;
  readonly callId: string;
  readonly output: string;
}

export type FindMatch = PageResults["find"]["matches"][number];

/** The part of `Transcript` that the shell uses. */
export interface TranscriptPort {
  reset(total: number, from: number, rows: readonly Row[], anchor?: ScrollAnchor): void;
  setRows(total: number, from: number, rows: readonly Row[]): void;
  /** False if the text does not fit what is there. */
  appendDelta(delta: TextDelta): boolean;
  /** More output of a tool that runs. */
  setOutput(output: ToolOutput): void;
  /** Gives the focus to the question of a call. False if it is not there. */
  focusQuestion(row: number, callId: string): boolean;
  setState(state: PanelState): void;
  anchor(): ScrollAnchor;
  highlightMatches(matches: readonly FindMatch[]): void;
  revealMatch(match: FindMatch): void;
  clearMatches(): void;
  /** Shows a place that was asked for from elsewhere; a row that is not here is asked for, and shown when it comes. */
  showPlace(place: FindMatch): void;
  /** Brings a row that is here into sight; the focus stays where it is. */
  showRow(row: number, rowId: string): void;
  /** False if there is no message. */
  focusNewest(): boolean;
  /** A prompt was sent: its row goes near the top when it comes. */
  promptSent(): void;
}

export interface PageDraft {
  readonly sessionId: string | undefined;
  readonly draft: string;
  readonly pasted: readonly PastedRange[];
  readonly pictures: readonly Picture[];
}

/** What the page keeps over a reload besides what the host keeps: VS Code's `setState`, which may lose the last seconds. */
export interface PageMemory {
  /** Nothing if nothing was kept, or not by a page like this. */
  read(): PageDraft | undefined;
  write(state: PageDraft): void;
}
