/** The states of the panel that are about the daemon, its key and the workspace's trust. */
import type { ToPage } from "../../src/panel/contract.js";
import { failure, show, withoutSession } from "./staging.js";

export const daemonStates = {
  starting: withoutSession({
    daemon: { kind: "starting", detail: "Setting up the private Python environment. This happens once." },
    chips: [],
  }),
  noPython: withoutSession({
    chips: [],
    daemon: {
      kind: "failed",
      reason: "noPython",
      error: failure(
        "daemon",
        "No Python 3.11 or newer was found on this machine.",
        "Install Python, or choose one that is not on the path.",
        [
          { id: "choosePython", label: "Choose Python…" },
          { id: "restartDaemon", label: "Try Again" },
          { id: "showLog", label: "Show Log" },
        ],
      ),
    },
  }),
  versionMismatch: withoutSession({
    chips: [],
    daemon: {
      kind: "failed",
      reason: "versionMismatch",
      error: failure(
        "daemon",
        "The daemon speaks protocol 2, this extension speaks 1.",
        "Update the extension, or point the setting at a daemon that fits.",
        [
          { id: "installUpdate", label: "Update" },
          { id: "openSettings", label: "Open Settings" },
        ],
      ),
    },
  }),
  crashed: show({
    daemon: {
      kind: "failed",
      reason: "crashed",
      error: failure(
        "daemon",
        "The daemon ended five times within three minutes.",
        "The log says why. Your chat is kept.",
        [
          { id: "restartDaemon", label: "Restart" },
          { id: "showLog", label: "Show Log" },
        ],
      ),
    },
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
