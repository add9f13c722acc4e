/** Notifications of the daemon, checked as far as their frame goes: who reads an event's own fields checks those. */
import type { CompressionStatusReport, EventParams } from "../../protocol.gen.js";

/** The params of `gemini/event`, or nothing if they are none. */
export function readEvent(params: unknown): EventParams | undefined {
  if (!isObject(params)) return undefined;
  const { sessionId, seq, time, event, turnId } = params;
  const isFramed = typeof sessionId === "string" && Number.isSafeInteger(seq) && typeof time === "number" && (turnId === undefined || typeof turnId === "string");
  // The frame is checked; an event type that is not known here is passed on all the same, for whoever knows it.
  return isFramed && isObject(event) && typeof event["type"] === "string" ? (params as unknown as EventParams) : undefined;
}

const STATES: ReadonlySet<unknown> = new Set(["idle", "prepared", "running"]);

/** The params of `gemini/compressionStatus/didChange`, or nothing if they are none. */
export function readStatus(params: unknown): CompressionStatusReport | undefined {
  if (!isObject(params)) return undefined;
  const { sessionId, state, tokenCount, tokenLimit, threshold, tokensUntilCompression, compressions, canUndo } = params;
  const numbers = [tokenCount, tokenLimit, threshold, compressions];
  const isReport =
    typeof sessionId === "string" &&
    STATES.has(state) &&
    typeof canUndo === "boolean" &&
    numbers.every((value) => typeof value === "number") &&
    (tokensUntilCompression === null || typeof tokensUntilCompression === "number");
  return isReport ? (params as unknown as CompressionStatusReport) : undefined; // the fields that are read without a check are checked above
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
