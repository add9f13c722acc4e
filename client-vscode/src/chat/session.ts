/** Reading a session from the daemon: who holds it, everything ever said in it, its compressions, rules and pins. */
import type { DaemonPort } from "../daemon/port.js";
import { DaemonFault } from "../daemon/port.js";
import type { CompressionInfo, Constraint, HistoryItem, SessionInfo } from "../protocol.gen.js";

/** Contents in one request; a long session comes in several, so that the daemon stays free for others between them. */
const CONTENTS_PER_PAGE = 1_000;

export interface Transcript {
  readonly items: readonly HistoryItem[];
  readonly compressions: readonly CompressionInfo[];
  readonly constraints: readonly Constraint[];
}

/** Rejects with `DaemonFault`. */
export async function readTranscript(daemon: DaemonPort, sessionId: string): Promise<Transcript> {
  const [items, compressions, constraints] = await Promise.all([
    readItems(daemon, sessionId),
    daemon.request("gemini/compression/list", { sessionId }),
    daemon.request("gemini/constraints", { sessionId }),
  ]);
  return { items, compressions: compressions.compressions, constraints: constraints.constraints };
}

async function readItems(daemon: DaemonPort, sessionId: string): Promise<HistoryItem[]> {
  const items: HistoryItem[] = [];
  let cursor: string | undefined;
  do {
    const page = await daemon.request("gemini/session/history", {
      sessionId,
      view: "transcript",
      limit: CONTENTS_PER_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    items.push(...page.contents);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

/** The session, made the current one; `undefined` if it is gone. Rejects with `DaemonFault` for anything else. */
export async function openSession(
  daemon: DaemonPort,
  sessionId: string,
  takeOver = false,
): Promise<SessionInfo | undefined> {
  try {
    return await daemon.request("gemini/session/open", { sessionId, takeOver });
  } catch (error) {
    if (error instanceof DaemonFault && error.data.kind === "sessionNotFound") return undefined;
    throw error;
  }
}
