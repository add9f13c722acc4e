/** What the rest of the extension knows of the daemon. `Daemon` in `daemon.ts` is the real one; tests bring their own. */
import type { CancellationToken, Disposable, Event } from "vscode";
import type { DaemonView } from "../panel/contract.js";
import type {
  CompressionStatusReport,
  EventParams,
  FaultData,
  Notifications,
  Requests,
  ServerNotifications,
  ServerRequests,
} from "../protocol.gen.js";

export interface DaemonPort {
  readonly view: DaemonView;
  readonly onDidChangeView: Event<DaemonView>;
  /** After every handshake, the first one and those after a restart: sessions have to be opened anew. */
  readonly onDidConnect: Event<void>;
  readonly onEvent: Event<EventParams>;
  readonly onCompressionStatus: Event<CompressionStatusReport>;
  /** Another process took a session: it says so whether anything is done here or not. */
  readonly onSessionTaken: Event<ServerNotifications["gemini/session/taken"]>;
  /** Starts the daemon if it does not run yet. Rejects with `DaemonFault`. */
  request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: CancellationToken,
  ): Promise<Requests[M]["result"]>;
  /** Dropped while the daemon does not run: the state of the editor is reported anew at every handshake. */
  notify<M extends keyof Notifications>(method: M, params: Notifications[M]): Promise<void>;
  handle<M extends keyof ServerRequests>(
    method: M,
    handler: (params: ServerRequests[M]["params"], token: CancellationToken) => Promise<ServerRequests[M]["result"]>,
  ): Disposable;
  /** Idempotent; resolves when it is ready, rejects with `DaemonFault` when it cannot be started. */
  start(): Promise<void>;
  restart(): Promise<void>;
}

/** A request that the daemon refused, or that could not be made. `data.kind` is one of the protocol's, or `daemon` if there is none to ask. */
export class DaemonFault extends Error {
  constructor(
    readonly code: number,
    readonly data: FaultData,
  ) {
    super(data.message);
    this.name = "DaemonFault";
  }
}

/** Knows it by its name, for where the class may be another bundle's copy. */
export function isDaemonFault(error: unknown): error is DaemonFault {
  return error instanceof Error && error.name === "DaemonFault";
}
