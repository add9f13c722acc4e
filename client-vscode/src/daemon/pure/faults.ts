/** Errors of the wire, decoded. */
import * as v from "valibot";
import type { Translate } from "../../chat/pure/words.js";
import { ErrorCode, type FaultData } from "../../protocol.gen.js";
import { faultData } from "../../protocol.schemas.gen.js";
import { DaemonFault } from "../port.js";

/** The `kind` of a fault that is not the daemon's own: there is none to ask, or it ended before it answered. */
export const NO_DAEMON = "daemon";

/** The connection was gone before the request could be sent. */
const NEVER_SENT = -32_096;
/** Codes by which the connection itself says that it is gone: a pending answer was given up, a message could not be read or written. */
const GONE: ReadonlySet<number> = new Set([NEVER_SENT, -32_097, -32_098, -32_099]);

/** Whether a request may be made again without being made twice. */
export function wasNeverSent(error: unknown): boolean {
  return readError(error).code === NEVER_SENT;
}

/** The fault for whatever a request was rejected with. Never quotes what it does not know. */
export function toFault(error: unknown, t: Translate): DaemonFault {
  if (error instanceof DaemonFault) return error;
  const { code, data } = readError(error);
  const own = readFaultData(data);
  if (own !== undefined) return new DaemonFault(code ?? ErrorCode.failed, own);
  if (code === ErrorCode.cancelled) return cancelledFault(t);
  if (code === undefined || GONE.has(code)) return goneFault(t);
  return new DaemonFault(code, {
    kind: code === ErrorCode.methodNotFound ? "methodNotFound" : "defect",
    message: t("The daemon refused the request (error {0}).", code),
    hint: t("The log says more."),
    retryable: false,
  });
}

export function cancelledFault(t: Translate): DaemonFault {
  return new DaemonFault(ErrorCode.cancelled, {
    kind: "cancelled",
    message: t("The request was cancelled."),
    hint: "",
    retryable: false,
  });
}

export function goneFault(t: Translate): DaemonFault {
  return new DaemonFault(ErrorCode.failed, {
    kind: NO_DAEMON,
    message: t("The daemon ended before it answered."),
    hint: t("It is started again by itself. Then try again."),
    retryable: true,
  });
}

function readError(error: unknown): { readonly code?: number; readonly data?: unknown } {
  if (typeof error !== "object" || error === null) return {};
  const code = "code" in error && typeof error.code === "number" ? error.code : undefined;
  return { ...(code === undefined ? {} : { code }), ...("data" in error ? { data: error.data } : {}) };
}

/** As the protocol says, but what is not needed to show it may be missing or odd. */
const faultSchema = v.object({
  ...faultData.entries,
  hint: v.fallback(v.string(), ""),
  retryable: v.fallback(v.boolean(), false),
  retryAfterMs: v.fallback(v.optional(v.pipe(v.number(), v.minValue(0))), undefined),
  path: v.fallback(v.optional(v.string()), undefined),
});

/** The protocol's error data, or nothing if it is something else. */
function readFaultData(data: unknown): FaultData | undefined {
  const parsed = v.safeParse(faultSchema, data);
  if (!parsed.success) return undefined;
  const { retryAfterMs, path, ...rest } = parsed.output;
  return { ...rest, ...(retryAfterMs === undefined ? {} : { retryAfterMs }), ...(path === undefined ? {} : { path }) };
}
