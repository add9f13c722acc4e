import { useEffect, useRef, useState } from "preact/hooks";
import { secondsUntil } from "./numbers.js";

/** Whole seconds until a moment (Unix milliseconds), counted down; undefined without a moment or once it has passed. */
export function useCountdown(until: number | undefined): number | undefined {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (until === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [until]);
  const seconds = until === undefined ? 0 : secondsUntil(until, now);
  return seconds > 0 ? seconds : undefined;
}

export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly pending: boolean;
}

/**
 * Asks whenever `key` changes, `delayMs` after its last change, and keeps the last answer meanwhile. An answer to an older question is
 * dropped: it may come in after a newer one.
 */
export function useAsked<T>(key: string | undefined, delayMs: number, ask: () => Promise<T>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ value: undefined, error: undefined, pending: false });
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === undefined) {
      setAsked({ value: undefined, error: undefined, pending: false });
      return;
    }
    let stale = false;
    setAsked((before) => ({ ...before, pending: true }));
    const timer = setTimeout(() => {
      latest.current().then(
        (value) => {
          if (!stale) setAsked({ value, error: undefined, pending: false });
        },
        (error: unknown) => {
          if (!stale) setAsked({ value: undefined, error, pending: false });
        },
      );
    }, delayMs);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [key, delayMs]);
  return asked;
}
