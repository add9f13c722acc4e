/** The states of the panel that are about the daemon, its key and the workspace's trust. */
import type { Action, DaemonView, ToPage } from "../../src/panel/contract.js";
import { daemonTexts, OFFLINE, produced } from "./produced.js";
import { failure, faultView, show, withoutSession } from "./staging.js";

type Failed = Extract<DaemonView, { kind: "failed" }>;

/** A daemon that does not run; the labels of what can be done, by what each does. */
function failed(
  reason: Failed["reason"],
  message: string,
  hint: string,
  labels: Partial<Record<Action["id"], string>>,
): Failed {
  const actions = Object.entries(labels).map(([id, label]) => ({ id: id as Action["id"], label }));
  return { kind: "failed", reason, error: failure("daemon", message, hint, actions) };
}

export const daemonStates = {
  starting: withoutSession({
    daemon: { kind: "starting", detail: "Making an environment…" },
    chips: [],
  }),
  noPython: withoutSession({
    chips: [],
    daemon: failed(
      "noPython",
      "No Python 3.11 or newer was found.",
      "Install it with your package manager, for example: apt install python3 python3-venv.",
      { choosePython: "Choose Python…", restartDaemon: "Try Again" },
    ),
  }),
  versionMismatch: withoutSession({
    chips: [],
    daemon: failed(
      "versionMismatch",
      "The daemon (version 2.0.0) and this extension (version 1.0.0) do not fit together.",
      "Update this extension.",
      { installUpdate: "Update", continueAnyway: "Go On Anyway", openSettings: "Open Settings" },
    ),
  }),
  crashed: show({
    daemon: failed("crashed", "The daemon does not stay up (exit code 1).", "The log may say why.", {
      restartDaemon: "Restart",
      showLog: "Show Log",
    }),
  }),
  noKey: withoutSession({
    ...produced({ models: { ...OFFLINE, hint: daemonTexts.noKey } }),
  }),
  keyRefused: show({
    banner: {
      ...faultView("unauthenticated", daemonTexts.keyRefused, ""),
      level: "error",
    },
  }),
  untrusted: withoutSession({ ...produced({ trusted: false }), chips: [] }),
} satisfies Record<string, ToPage[]>;
