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

/** What a session shows while it is opened. */
export interface Newest {
  /** As a listing has it: what is known of a session that is not loaded. */
  readonly session: SessionInfo;
  readonly transcript: Transcript;
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

/**
 * The session, made the current one. Rejects with `DaemonFault`, also if it is gone.
 * `showAhead` takes its newest turns if they are read before it is open.
 */
export async function openSession(
  daemon: DaemonPort,
  sessionId: string,
  takeOver = false,
  showAhead?: (newest: Newest) => Promise<void>,
): Promise<SessionInfo> {
  const reading = showAhead && readNewest(daemon, sessionId); // asked for first, and so answered first
  const opening = daemon.request("gemini/session/open", { sessionId, takeOver });
  if (showAhead) {
    const isOpen = opening.then(
      () => undefined,
      () => undefined,
    );
    const newest = await Promise.race([reading, isOpen]);
    if (newest && newest.transcript.items.length > 0) await showAhead(newest);
  }
  return opening;
}

/** What is done with a session, or `undefined` if that is gone and `isFine` says that it may be. */
export async function unlessGone<T>(work: Promise<T>, isFine = (): boolean => true): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DaemonFault && error.data.kind === "sessionNotFound" && isFine()) return undefined;
    throw error;
  }
}

/** `undefined` if they cannot be had: an older daemon does not know them, and of any other fault the opening tells. */
async function readNewest(daemon: DaemonPort, sessionId: string): Promise<Newest | undefined> {
  try {
    const { session, contents } = await daemon.request("gemini/session/newest", { sessionId, limit: NEWEST_CONTENTS });
    return { session, transcript: { items: contents, compressions: [], constraints: [] } };
  } catch {
    return undefined;
  }
}
