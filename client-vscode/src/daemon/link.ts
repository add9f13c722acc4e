/** A connection to one running daemon process: what `languageClient.ts` makes and `daemon.ts` uses. */
import type { CancellationToken } from "vscode";
import type { ServerFacts } from "./pure/versions.js";

/** What is started. */
export interface Launch {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder of ours: a program must not find its modules in a workspace. */
  readonly cwd: string;
  readonly from: "setting" | "path" | "environment";
}

/** How a process ended. */
export interface Exit {
  /** Absent if a signal ended it, or if it could not be started. */
  readonly code?: number;
  /** The last line that it wrote to stderr, cut to 300 characters; empty if it was silent. */
  readonly lastLine: string;
}

/** What a link emits of what comes from the daemon. */
export interface LinkEvents {
  notification(method: string, params: unknown): void;
  /** A rejection with a `DaemonFault` answers with its code and data. */
  request(method: string, params: unknown, token: CancellationToken): Promise<unknown>;
  /** The process is gone, asked or not. Called once. */
  ended(exit: Exit): void;
}

export interface Link {
  readonly server: ServerFacts;
  /** Resolves when the process has ended, after `LinkEvents.ended` was called. */
  readonly gone: Promise<void>;
  /** Rejects with whatever the wire says. */
  request(method: string, params: unknown, token?: CancellationToken): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
  /** Resolves once the process is gone, by its own will or not. Never rejects. */
  stop(): Promise<void>;
}

/** Rejected by `connect` when the process ended, or kept silent, before it answered `initialize`. */
export class NoHandshake extends Error {
  constructor(
    message: string,
    readonly exit?: Exit,
  ) {
    super(message);
    this.name = "NoHandshake";
  }
}

/** Knows it by its name: the language client is a bundle of its own, and so is its copy of the class. */
export function isNoHandshake(error: unknown): error is NoHandshake {
  return error instanceof Error && error.name === "NoHandshake";
}
