/** Settings in words: the value in force, and where it comes from. */
import type { Requests } from "../../protocol.gen.js";
import type { Translate } from "../../chat/pure/words.js";
import { DAEMON_SETTINGS } from "./settings.js";

export type SettingList = Requests["gemini/settings"]["result"];
export type SettingInForce = SettingList["settings"][number];

const SETTING_LAYERS = {
  default: { label: "the default" },
  experiment: { label: "an experiment" },
  systemDefaults: { label: "this machine’s defaults" },
  user: { label: "your settings file" },
  workspace: { label: "this workspace’s settings file" },
  system: { label: "this machine’s settings" },
  editor: { label: "VS Code’s settings" },
  environment: { label: "the environment" },
  commandLine: { label: "the daemon’s command line" },
} as const satisfies Readonly<Record<SettingInForce["layer"], { readonly label: string }>>;

/** Longest value on a row, in characters. */
const LONGEST = 80;

export interface SettingRow {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** `path:line`, or VS Code's own key: where the value can be changed. */
  readonly place?: string;
  readonly editorKey?: string;
}

/** What somebody has set first, then the defaults; both in the daemon's order. */
export function settingRows(list: SettingList, t: Translate): SettingRow[] {
  const isSet = (setting: SettingInForce): boolean => setting.layer !== "default";
  return [...list.settings.filter(isSet), ...list.settings.filter((one) => !isSet(one))].map((one) => row(one, t));
}

function row(setting: SettingInForce, t: Translate): SettingRow {
  const own = Object.entries(DAEMON_SETTINGS).find(([, key]) => key === setting.key)?.[0];
  const place = setting.file === undefined ? undefined : `${setting.file}:${String(setting.line ?? 1)}`;
  const isEditors = setting.layer === "editor" || setting.layer === "default";
  return {
    label: setting.key,
    description: shown(setting.value),
    detail: `${from(setting, t)}${setting.description === undefined ? "" : ` · ${setting.description}`}`,
    ...(place === undefined ? {} : { place }),
    ...(isEditors && own !== undefined ? { editorKey: `geminiCompanion.${own}` } : {}),
  };
}

function from(setting: SettingInForce, t: Translate): string {
  const where = t(SETTING_LAYERS[setting.layer].label);
  const place = setting.file === undefined ? undefined : `${setting.file}:${String(setting.line ?? 1)}`;
  const exactly = [setting.variable, place].filter((part) => part !== undefined).join(", ");
  const also = (setting.also ?? []).map((layer) => t(SETTING_LAYERS[layer].label));
  const told = exactly === "" ? t("From {0}", where) : t("From {0}: {1}", where, exactly);
  return also.length === 0 ? told : `${told} (${t("also in {0}", also.join(", "))})`;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "–";
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/gu, " ");
  const letters = Array.from(text);
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST).join("")}…` : text;
}
