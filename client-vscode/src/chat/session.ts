/** Reading a session from the daemon: who holds it, everything ever said in it, its compressions, rules and pins. */
import type { DaemonPort } from "../daemon/port.js";
import { DaemonFault } from "../daemon/port.js";
import type { CompressionInfo, Constraint, HistoryItem, HistoryPage, SessionInfo } from "../protocol.gen.js";

/** Contents in one request; a long session comes in several, so that the daemon stays free for others between them. */
const CONTENTS_PER_PAGE = 1_000;
/** Contents in the first request: about as many as the panel's page gets. */
const NEWEST_CONTENTS = 200;

export interface Transcript {
  readonly items: readonly HistoryItem[];
  readonly compressions: readonly CompressionInfo[];
  readonly constraints: readonly Constraint[];
}

/**
 * Everything of a session. Of a long one the newest messages come first, `showNewest` takes them while the others are on their way.
 * Rejects with `DaemonFault`.
 */
export async function readTranscript(
  daemon: DaemonPort,
  sessionId: string,
  showNewest: (newest: Transcript) => void = () => undefined,
): Promise<Transcript> {
  const [newest, { compressions }, { constraints }] = await Promise.all([
    readPage(daemon, sessionId, NEWEST_CONTENTS),
    daemon.request("gemini/compression/list", { sessionId }),
    daemon.request("gemini/constraints", { sessionId }),
  ]);
  const pages = [newest.contents];
  let cursor = newest.nextCursor;
  if (cursor !== undefined) {
    const begun = wholeTurns({ items: newest.contents, compressions, constraints });
    if (begun.items.length > 0) showNewest(begun);
  }
  while (cursor !== undefined) {
    const page = await readPage(daemon, sessionId, CONTENTS_PER_PAGE, cursor);
    pages.unshift(page.contents);
    cursor = page.nextCursor;
  }
  return { items: pages.flat(), compressions, constraints };
}

/** A page of the transcript, oldest first; its cursor leads to the page before it. */
function readPage(daemon: DaemonPort, sessionId: string, limit: number, cursor?: string): Promise<HistoryPage> {
  return daemon.request("gemini/session/history", {
    sessionId,
    view: "transcript",
    limit,
    newestFirst: true,
    ...(cursor === undefined ? {} : { cursor }),
  });
}

/** What there is from the first turn on that is there from its beginning; nothing if all is of one turn. */
function wholeTurns({ items, compressions, constraints }: Transcript): Transcript {
  const first = items.findIndex(({ turnId }) => turnId !== items[0]?.turnId);
  const seq = first === -1 ? Infinity : (items[first]?.seq ?? Infinity);
  return {
    items: first === -1 ? [] : items.slice(first),
    compressions: compressions.filter((compression) => (compression.seq ?? 0) >= seq),
    constraints,
  };
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
