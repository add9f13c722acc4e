/** The editor's settings that are the daemon's, in the daemon's own form. */
import { chosen, type SettingLevels } from "./locate.js";

/** A JSON object as the daemon reads it from a settings file. */
export interface SettingsSection {
  [key: string]: string | number | boolean | readonly string[] | SettingsSection;
}

/** Our keys, below `geminiCompanion`, and the daemon's. */
export const DAEMON_SETTINGS = {
  model: "model.name",
  "compression.threshold": "model.compressionThreshold",
  "compression.tokenCap": "model.compressionTokenCap",
  "compression.model": "companion.compression.model",
  "compression.mode": "companion.compression.mode",
  "compression.background": "companion.compression.background",
  "compression.strategy": "companion.compression.strategy",
  "compression.adaptive": "companion.compression.adaptive",
  "compression.constraints": "companion.compression.constraints",
  "compression.gate": "companion.compression.gate",
  "compression.retentionFloor": "companion.compression.retentionFloor",
  "compression.ownWords": "companion.compression.ownWords",
  "compression.compare": "companion.compression.compare",
  maxSessionTurns: "model.maxSessionTurns",
  "context.maxOpenFiles": "companion.ide.maxOpenFiles",
  "context.activeFileCharacters": "companion.ide.activeFileCharacters",
  "context.fileName": "context.fileName",
  "tools.enabled": "companion.tools.enabled",
  "tools.mode": "companion.tools.mode",
  "tools.sandbox": "companion.tools.sandbox",
  "tools.network": "companion.tools.network",
  "tools.commandSeconds": "companion.tools.commandSeconds",
  "tools.questionSeconds": "companion.tools.questionSeconds",
  "tools.maxRounds": "companion.tools.maxRounds",
  "tools.truncateOutputThreshold": "tools.truncateToolOutputThreshold",
  "sessions.retentionDays": "companion.sessions.retentionDays",
  "sessions.maxSessions": "companion.sessions.maxSessions",
  "sessions.maxBytes": "companion.sessions.maxBytes",
} as const;

export type DaemonSetting = keyof typeof DAEMON_SETTINGS;

/**
 * The section to send. Only what somebody set is in it: a default of ours would override the person's `settings.json`, which the editor's
 * section goes before.
 */
export function sectionOf(read: (key: DaemonSetting) => SettingLevels, isTrusted: boolean): SettingsSection {
  const section: SettingsSection = {};
  for (const [key, target] of Object.entries(DAEMON_SETTINGS)) {
    const value = chosen(read(key as DaemonSetting), isTrusted); // Object.entries forgets the keys' type
    if (isSendable(value)) put(section, target.split("."), value);
  }
  return section;
}

function isSendable(value: unknown): value is string | number | boolean | readonly string[] {
  if (typeof value === "string") return value.trim() !== "";
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === "string");
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

function put(
  section: SettingsSection,
  path: readonly string[],
  value: string | number | boolean | readonly string[],
): void {
  const [head, ...rest] = path;
  if (head === undefined) return;
  if (rest.length === 0) {
    section[head] = value;
    return;
  }
  const below = section[head];
  const next: SettingsSection = typeof below === "object" && !isList(below) ? below : {};
  section[head] = next;
  put(next, rest, value);
}

function isList(value: readonly string[] | SettingsSection): value is readonly string[] {
  return Array.isArray(value);
}
