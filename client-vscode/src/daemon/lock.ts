/** A lock between windows: a file that its holder keeps touching. */
import { mkdir, rm, stat, utimes } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

const TOUCHED_EVERY_MS = 5_000;
/** Not touched for so long: its holder is gone. */
const STALE_MS = 30_000;
const ASKED_EVERY_MS = 500;

/**
 * Waits for the lock and takes it.
 *
 * Two windows that find the same stale lock at the same moment may both get it; what it guards must bear that.
 *
 * @param path a folder that does not exist while nobody holds the lock
 * @param onWait called if somebody else holds it
 * @returns what gives it back
 * @throws the signal's reason when aborted while waiting
 */
export async function holdLock(path: string, abort: AbortSignal, onWait: () => void): Promise<() => Promise<void>> {
  for (let round = 0; !(await taken(path)); round++) {
    abort.throwIfAborted();
    if (round === 0) onWait();
    const age = await ageOf(path);
    if (age !== undefined && age > STALE_MS) await rm(path, { recursive: true, force: true });
    else await pause(ASKED_EVERY_MS, undefined, { signal: abort });
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, TOUCHED_EVERY_MS);
  heartbeat.unref();
  return async () => {
    clearInterval(heartbeat);
    await rm(path, { recursive: true, force: true });
  };
}

async function taken(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

async function ageOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : Date.now() - found.mtimeMs;
}
