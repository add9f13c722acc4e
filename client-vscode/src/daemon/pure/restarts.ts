/** When a daemon that ended by itself is started again. */

/** Crashes that count together, ms. */
const WINDOW = 3 * 60_000;
/** That many within the window are answered with a restart; one more ends it. */
const LIMIT = 5;
const FIRST_DELAY = 1_000;

export interface AfterCrash {
  /** The crashes that still count, Unix milliseconds, oldest first; to be passed in the next time. */
  readonly crashes: readonly number[];
  /** The number of the restart to come, from 1. */
  readonly attempt: number;
  /** How long to wait before it, ms: 1, 2, 4, 8, 16 s. Absent: enough. */
  readonly delay?: number;
}

/** @param now Unix milliseconds of the crash */
export function afterCrash(earlier: readonly number[], now: number): AfterCrash {
  const crashes = [...earlier.filter((time) => now - time < WINDOW), now];
  const attempt = crashes.length;
  return attempt > LIMIT ? { crashes, attempt } : { crashes, attempt, delay: FIRST_DELAY * 2 ** (attempt - 1) };
}
