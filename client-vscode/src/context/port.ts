/** What the chat knows of the reporter of the editor's state. */
import type { Event } from "vscode";

/** An open file, as the next notice to the daemon names it. */
export interface ReportedFile {
  readonly uri: string;
  readonly isActive: boolean;
  /** 0-based lines of a selection that is not empty, both included. */
  readonly selectedLines?: readonly [number, number];
  /** False if the person took it out: the daemon is notified, and sends nothing of it. */
  readonly included: boolean;
}

export interface ContextReporterPort {
  /** Newest first. */
  readonly files: readonly ReportedFile[];
  readonly onDidChange: Event<void>;
  /** The daemon was sent something new of the editor. */
  readonly onDidSend: Event<void>;
  /** Take a file out of what goes along, or back in. */
  setIncluded(uri: string, included: boolean): void;
  /** The files taken out, to be kept with the draft. */
  readonly excluded: readonly string[];
  restoreExcluded(uris: readonly string[]): void;
  /** Send what is pending now; resolves when it is on the wire. Called before every chat. */
  flush(): Promise<void>;
}
