/** Errors as the panel shows them: by the kind that the daemon gives, never by their text. */
import { fileLocationIn } from "../../daemon/pure/fileLocation.js";
import type { Action, ActionId, ErrorView } from "../../panel/contract.js";
import type { Translate } from "./words.js";

/** What is read of a fault: the daemon's `FaultData` or the `error` of a failed turn. Everything is optional, for it comes from outside. */
export interface RawFault {
  readonly kind?: unknown;
  readonly message?: unknown;
  readonly hint?: unknown;
  readonly retryable?: unknown;
  readonly retryAfterMs?: unknown;
}

/** The daemon's variable for the key that the button "Set API Key" asks for. */
const KEY_VARIABLE = "GEMINI_API_KEY";

/** Longest wait that a countdown shows, ms; a service that asks for more is asked again by hand. */
const LONGEST_COUNTDOWN = 10 * 60_000;

/**
 * The fault with the buttons that mend it.
 *
 * @param turnId the turn that failed, so that it can be tried again
 * @param now Unix milliseconds
 */
export function errorView(fault: RawFault, t: Translate, now: number, turnId?: string): ErrorView {
  const kind = typeof fault.kind === "string" ? fault.kind : "failed";
  if (kind === "sessionBusy") return takenView(t, turnId !== undefined);
  const message = typeof fault.message === "string" && fault.message ? fault.message : t("Something went wrong.");
  const hint = hintOf(kind, typeof fault.hint === "string" ? fault.hint : "", t);
  const retryable = fault.retryable === true;
  const wait =
    typeof fault.retryAfterMs === "number" && fault.retryAfterMs > 0
      ? Math.min(fault.retryAfterMs, LONGEST_COUNTDOWN)
      : undefined;
  const actions = actionsFor(kind, t, message);
  if (turnId !== undefined && (retryable || RETRIED.has(kind)))
    actions.push({ id: "retry", label: t("Retry"), argument: turnId });
  return {
    kind,
    message,
    hint,
    retryable,
    actions,
    ...(retryable && wait !== undefined ? { retryAt: now + wait } : {}),
  };
}

/** The daemon names a process: here it is a window. What of a turn is not kept says so, and leaves the rest to the notice of the chat. */
function takenView(t: Translate, isOfTurn: boolean): ErrorView {
  const taken = { kind: "sessionBusy", retryable: false };
  if (isOfTurn)
    return {
      ...taken,
      message: t("Another window took the chat over before this was answered."),
      hint: "",
      actions: [],
    };
  const hint = t("Go on in a copy, or take it over: the other window can then only read it.");
  return {
    ...taken,
    message: t("Another window is using this chat."),
    hint,
    actions: actionsFor("sessionBusy", t, ""),
  };
}

/** Kinds that a second try can cure once the person has done what the other button says, or once the service is back. */
const RETRIED: ReadonlySet<string> = new Set([
  "unauthenticated",
  "contextOverflow",
  "modelUnavailable",
  "overloaded",
  "failed",
  "storage",
  "daemon",
  "defect",
]);

const LABELS: Readonly<Record<string, readonly [ActionId, string][]>> = {
  unauthenticated: [["setApiKey", "Set API Key"]],
  sessionBusy: [
    ["forkSession", "Go On in a Fork"],
    ["takeOver", "Take Over"],
  ],
  contextOverflow: [
    ["compress", "Compress"],
    ["newSession", "New Chat"],
  ],
  untrustedWorkspace: [["manageTrust", "Manage Trust"]],
  invalidSettings: [["openSettingsFile", "Open Settings File"]],
  sessionNotFound: [["newSession", "New Chat"]],
  daemon: [
    ["restartDaemon", "Restart"],
    ["showLog", "Show Log"],
  ],
  defect: [["showLog", "Show Log"]],
};

/** A method of the protocol, which nobody can call here; `~/.gemini/settings.json` is none. */
const METHOD = /(?<![\w./])gemini\/\w/;

/** The daemon names its environment and its methods, for which there are buttons here: only what else it says is shown in its words. */
function hintOf(kind: string, hint: string, t: Translate): string {
  if (kind === "unauthenticated" && (hint === "" || hint.includes(KEY_VARIABLE)))
    return t("Set a key from Google AI Studio, then try again.");
  if (!METHOD.test(hint)) return hint;
  return kind === "contextOverflow"
    ? t("Compress the chat, go on in a new chat, or choose a model with a larger window.")
    : "";
}

function actionsFor(kind: string, t: Translate, message: string): Action[] {
  const place = kind === "invalidSettings" ? fileLocationIn(message) : undefined;
  const labels = Object.hasOwn(LABELS, kind) ? LABELS[kind] : undefined; // a kind comes from outside
  return (labels ?? []).map(([id, label]) => ({
    id,
    label: t(label),
    ...(place === undefined ? {} : { argument: place }),
  }));
}
