/** The editor as the chat knows it. `Edits` in `src/editor` is the real one. */
import type { CancellationToken } from "vscode";

/** How a look at a proposed text ended; `closed` is no answer. */
export type ReviewEnd =
  { readonly outcome: "accepted"; readonly content: string } | { readonly outcome: "rejected" | "closed" };

/** A proposed text while somebody looks at it. */
export interface OpenReview {
  readonly end: Promise<ReviewEnd>;
  /** The text as it stands there now. */
  read(): string;
}

/** What the editor does for the chat. */
export interface EditorPort {
  /** Insert at the cursor of the active editor. */
  insertCode(text: string): Promise<void>;
  /** Show the change that a code block proposes in the diff editor, and write it if it is accepted. */
  applyCode(text: string, language: string): Promise<void>;
  /** Open a link of an answer, if it may be opened. */
  openHref(href: string): Promise<void>;
  /** Show a file that the daemon has named, wherever it is. */
  openFile(path: string): Promise<void>;
  /** `@` mentions for dropped URIs: paths inside the workspace; others are left out. */
  mentionsOf(uris: readonly string[]): string[];
  /**
   * Show what a tool would make of a file in the diff editor, where it may be corrected, until it is decided, closed, or the token says so.
   */
  reviewText(path: string, content: string, token: CancellationToken): Promise<OpenReview>;
  /** Show what a file was beside what it is. `before` is its text then. */
  showChange(path: string, before: string, title: string): Promise<void>;
  /** Show a text that can only be read. */
  showText(name: string, text: string): Promise<void>;
  /** The text of a file as it is, unsaved changes included; empty if there is none. */
  textOf(path: string): Promise<string>;
}
