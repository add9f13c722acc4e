/** Hooks in words: what they wait for, where they come from, whether they run, and how they last did. */
import type { Translate } from "../../chat/pure/words.js";
import type { Requests } from "../../protocol.gen.js";

export type HookList = Requests["gemini/hooks"]["result"];
export type ListedHook = HookList["hooks"][number];

const HOOK_STATES = {
  on: { icon: "check", label: "runs" },
  off: { icon: "circle-slash", label: "turned off" },
  withheld: { icon: "lock", label: "not in a folder that is not trusted" },
} as const satisfies Readonly<Record<ListedHook["state"], { readonly icon: string; readonly label: string }>>;

const HOOK_LAYERS = {
  systemDefaults: { label: "this machine’s defaults" },
  user: { label: "your settings file" },
  workspace: { label: "this workspace’s settings file" },
  system: { label: "this machine’s settings" },
  editor: { label: "VS Code’s settings" },
  commandLine: { label: "the daemon’s command line" },
} as const satisfies Readonly<Record<string, { readonly label: string }>>;

const HOOK_OUTCOMES = {
  ok: { label: "raised no objection" },
  changed: { label: "changed what Gemini gets" },
  asked: { label: "wanted you to be asked" },
  denied: { label: "refused" },
  stopped: { label: "ended the turn" },
  failed: { label: "failed" },
  timedOut: { label: "took too long" },
} as const satisfies Readonly<Record<NonNullable<ListedHook["lastRun"]>["outcome"], { readonly label: string }>>;

/** Longest command and message on a row, in characters. */
const LONGEST = 100;

export interface HookRow {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** By which it is turned on and off. */
  readonly name: string;
  readonly isOn: boolean;
  /** `path:line` of the settings file that has it. */
  readonly place?: string;
}

/** The daemon's order, which is that in which they run. `now` is in ms since 1970. */
export function hookRows(list: HookList, t: Translate, now: number): HookRow[] {
  return list.hooks.map((hook) => row(hook, t, now));
}

function row(hook: ListedHook, t: Translate, now: number): HookRow {
  const waits = hook.matcher === "" || hook.matcher === "*" ? hook.event : `${hook.event} · ${hook.matcher}`;
  const { source } = hook;
  const layer = isLayer(source) ? t(HOOK_LAYERS[source].label) : source;
  const place = hook.file === undefined ? undefined : `${hook.file}:${String(hook.line ?? 1)}`;
  const from = place === undefined ? t("From {0}", layer) : t("From {0}: {1}", layer, place);
  return {
    label: `$(${HOOK_STATES[hook.state].icon}) ${short(hook.name)}`,
    description: hook.state === "on" ? waits : `${waits} · ${t(HOOK_STATES[hook.state].label)}`,
    detail: `${lastRun(hook, t, now)} · ${from}${hook.name === hook.command ? "" : ` · ${short(hook.command)}`}`,
    name: hook.name,
    isOn: hook.state !== "off",
    ...(place === undefined ? {} : { place }),
  };
}

function lastRun({ lastRun: run }: ListedHook, t: Translate, now: number): string {
  if (run === undefined) return t("Has not run yet");
  const outcome = t(HOOK_OUTCOMES[run.outcome].label);
  const took = t("{0} s", (run.durationMs / 1000).toFixed(run.durationMs < 9_950 ? 2 : 0));
  const told = t("Last run {0}: {1} ({2})", since(now - run.at, t), outcome, took);
  return run.message === undefined || run.message === "" ? told : `${told}: ${short(run.message)}`;
}

function since(ms: number, t: Translate): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return t("just now");
  return minutes < 60 ? t("{0} min ago", minutes) : t("{0} h ago", Math.floor(minutes / 60));
}

function isLayer(source: string): source is keyof typeof HOOK_LAYERS {
  return Object.hasOwn(HOOK_LAYERS, source);
}

function short(text: string): string {
  const letters = Array.from(text.replace(/\s+/gu, " ").trim());
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST).join("")}…` : letters.join("");
}
