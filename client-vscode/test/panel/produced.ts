/** What the product itself makes of sources: the staged states say what it says, for its own code says it. */
import type { PanelState } from "../../src/panel/contract.js";
import { panelState, type PanelSources } from "../../src/chat/pure/panelState.js";
import daemonTexts from "./daemonTexts.json" with { type: "json" };

export { daemonTexts };

/** English as it is written in the source. */
export function english(text: string, ...args: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)]));
}

/** A daemon without a key. */
export const OFFLINE: NonNullable<PanelSources["models"]> = {
  current: "offline",
  default: "offline",
  provider: "offline",
  isLocal: true,
  reason: "",
  hint: "",
  models: [{ name: "offline", tokenLimit: 32_768, description: "Answers from your files, without a network" }],
};

/** Nothing is open, and nothing goes on. */
const IDLE: PanelSources = {
  chat: 1,
  daemon: { kind: "ready", version: "1.0.0" },
  trusted: true,
  job: { kind: "idle" },
  files: [],
  outlook: new Map(),
  relative: (uri) => uri.replace("file:///ws/", ""),
  constraints: [],
  reminds: false,
  queue: [],
  work: {
    mode: "ask",
    tasks: [],
    changes: { files: [], added: 0, removed: 0, note: "" },
    questions: 0,
    canSteer: false,
  },
  hidden: [],
  knowsOffline: false,
  settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
};

/** What of these sources the page is told that has words in it. */
export function produced(
  sources: Partial<PanelSources>,
): Pick<PanelState, "examples" | "isLocal" | "providerHint" | "trusted"> & Pick<Partial<PanelState>, "banner"> {
  const { examples, isLocal, providerHint, trusted, banner } = panelState({ ...IDLE, ...sources }, english);
  return { examples, isLocal, providerHint, trusted, ...(banner === undefined ? {} : { banner }) };
}

/** One open file, which goes along whole. */
export function outlookedAt(path: string): Pick<PanelSources, "files" | "outlook"> {
  const uri = `file:///ws/${path}`;
  return {
    files: [{ uri, isActive: true, included: true }],
    outlook: new Map([[uri, { uri, name: path.split("/").at(-1) ?? "", extent: "whole" }]]),
  };
}
