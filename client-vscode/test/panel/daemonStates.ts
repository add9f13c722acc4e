/** The states of the panel that are about the daemon, its key and the workspace's trust. */
import type { Action, DaemonView, ToPage } from "../../src/panel/contract.js";
import { failure, show, withoutSession } from "./staging.js";

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
    daemon: { kind: "starting", detail: "Setting up the private Python environment. This happens once." },
    chips: [],
  }),
  noPython: withoutSession({
    chips: [],
    daemon: failed(
      "noPython",
      "No Python 3.11 or newer was found on this machine.",
      "Install Python, or choose one that is not on the path.",
      { choosePython: "Choose Python…", restartDaemon: "Try Again", showLog: "Show Log" },
    ),
  }),
  versionMismatch: withoutSession({
    chips: [],
    daemon: failed(
      "versionMismatch",
      "The daemon speaks protocol 2, this extension speaks 1.",
      "Update the extension, or point the setting at a daemon that fits.",
      { installUpdate: "Update", openSettings: "Open Settings" },
    ),
  }),
  crashed: show({
    daemon: failed(
      "crashed",
      "The daemon ended five times within three minutes.",
      "The log says why. Your chat is kept.",
      { restartDaemon: "Restart", showLog: "Show Log" },
    ),
  }),
  noKey: withoutSession({
    isLocal: true,
    providerHint: "No API key is set, so the offline model answers: from your files, without a network.",
    banner: {
      ...failure("unauthenticated", "The offline model answers.", "Set an API key to ask Gemini.", [
        { id: "setApiKey", label: "Set API Key" },
      ]),
      level: "info",
    },
  }),
  keyRefused: show({
    banner: {
      ...failure("unauthenticated", "The API key was refused.", "Check the key, or make a new one.", [
        { id: "setApiKey", label: "Set API Key" },
        { id: "useOffline", label: "Use the Offline Model" },
      ]),
      level: "error",
    },
  }),
  untrusted: withoutSession({ trusted: false, chips: [] }),
} satisfies Record<string, ToPage[]>;
