/** Waiting for what has no event: bounded, and with words for what did not come. */
import { setTimeout as delay } from "node:timers/promises";

const STEP_MS = 50;

/** The first value of `find` that is not `undefined`. Throws after `limitMs`, with the last error of `find` as the cause. */
export async function patiently<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  limitMs = 60_000,
): Promise<T> {
  const giveUpAt = Date.now() + limitMs;
  let cause: unknown;
  for (;;) {
    try {
      const found = await find();
      if (found !== undefined) return found;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > giveUpAt) throw new Error(`Waited ${limitMs} ms in vain: ${what}`, { cause });
    await delay(STEP_MS);
  }
}
