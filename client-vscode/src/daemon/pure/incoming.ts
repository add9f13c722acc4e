/** What comes from the daemon, checked against the schemas that are generated with the protocol's types. */
import * as v from "valibot";
import type { Translate } from "../../chat/pure/words.js";
import { ErrorCode, type Requests, type ServerNotifications, type ServerRequests } from "../../protocol.gen.js";
import { notifications, results, serverRequests } from "../../protocol.schemas.gen.js";
import { DaemonFault } from "../port.js";

type ResultSchemas = { readonly [M in keyof Requests]: v.GenericSchema<unknown, Requests[M]["result"]> };
type NotificationSchemas = {
  readonly [M in keyof ServerNotifications]: v.GenericSchema<unknown, ServerNotifications[M]>;
};
type RequestSchemas = { readonly [M in keyof ServerRequests]: v.GenericSchema<unknown, ServerRequests[M]["params"]> };

const RESULTS: ResultSchemas = results;
const NOTIFICATIONS: NotificationSchemas = notifications;
const SERVER_REQUESTS: RequestSchemas = serverRequests;

/** The daemon's answer to a request. @throws DaemonFault `defect` that names the field, never its value */
export function readResult<M extends keyof Requests>(method: M, value: unknown, t: Translate): Requests[M]["result"] {
  const parsed = v.safeParse(RESULTS[method], value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw new DaemonFault(ErrorCode.failed, {
    kind: "defect",
    message: t("The daemon's answer to {0} could not be read ({1}).", method, pathOf(parsed.issues)),
    hint: t("The log says more."),
    retryable: false,
  });
}

/** Whether a method is one of the daemon's own notifications. */
export function isNotification(method: string): method is keyof ServerNotifications {
  return Object.hasOwn(NOTIFICATIONS, method);
}

/** The params of a notification. For others than the protocol's, of unknown event types too, the path of what is wrong, for the log. */
export function readNotification<M extends keyof ServerNotifications>(
  method: M,
  params: unknown,
): { readonly params: ServerNotifications[M] } | { readonly wrong: string } {
  const schema: v.GenericSchema<unknown, ServerNotifications[M]> = NOTIFICATIONS[method];
  const parsed = v.safeParse(schema, params, { abortEarly: true });
  return parsed.success ? { params: parsed.output } : { wrong: pathOf(parsed.issues) };
}

/** Most characters of a text that is shown to somebody. */
const MAX_SHOWN = 8 << 20;

/** The params of a request of the daemon. @throws DaemonFault `invalidParams` that names the field */
export function readRequest<M extends keyof ServerRequests>(
  method: M,
  params: unknown,
  t: Translate,
): ServerRequests[M]["params"] {
  const parsed = v.safeParse(SERVER_REQUESTS[method], withoutNulls(params), { abortEarly: true });
  if (!parsed.success) throw invalid(pathOf(parsed.issues), t);
  for (const [name, value] of Object.entries(parsed.output)) {
    if (typeof value === "string" && value.length > MAX_SHOWN) throw invalid(`$.${name}`, t);
  }
  return parsed.output;
}

/** An optional field may come as `null`. */
function withoutNulls(params: unknown): unknown {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return params;
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

function invalid(path: string, t: Translate): DaemonFault {
  const message = t("The field {0} is missing or of the wrong kind.", path);
  return new DaemonFault(ErrorCode.invalidParams, { kind: "invalidParams", message, hint: "", retryable: false, path });
}

function pathOf(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  const path = v.getDotPath(issues[0]);
  return path === null ? "$" : `$.${path}`;
}
