/** Whether a daemon and this extension understand each other. */

import { PROTOCOL_VERSION } from "../../protocol.gen.js";

/** What the daemon said of itself in its answer to `initialize`; empty where it said nothing. */
export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
}

export type Verdict =
  | { readonly fits: true }
  /** Which of the two has to be renewed. `mayContinue`: the protocol is the same, so it is likely to work all the same. */
  | { readonly fits: false; readonly renew: "daemon" | "extension"; readonly mayContinue: boolean }
  /** It is no Gemini Companion. */
  | { readonly fits: false; readonly renew: "stranger"; readonly mayContinue: false };

/**
 * The protocol's number decides; with the same one, releases fit if they are of one series (`1.x`, or `0.3.x` before 1.0).
 *
 * @param own the extension's version
 */
export function judgeVersions(server: ServerFacts, own: string): Verdict {
  if (!/^\d{1,9}$/.test(server.protocolVersion)) return { fits: false, renew: "stranger", mayContinue: false };
  const protocol = Number(server.protocolVersion);
  if (protocol !== PROTOCOL_VERSION)
    return { fits: false, renew: protocol < PROTOCOL_VERSION ? "daemon" : "extension", mayContinue: false };
  const theirs = series(server.version);
  const ours = series(own);
  if (theirs === undefined || ours === undefined || theirs === ours) return { fits: true };
  return { fits: false, renew: theirs < ours ? "daemon" : "extension", mayContinue: true };
}

/** A number that is equal for releases of one series and rises with it; absent for what is no version. */
function series(version: string): number | undefined {
  const match = /^(\d{1,6})\.(\d{1,6})(?:\D|$)/.exec(version);
  if (match === null) return undefined;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major * 1_000_000 + (major === 0 ? minor : 0);
}

/** Reads what came as the answer to `initialize`. */
export function readServerFacts(answer: unknown): ServerFacts {
  const info = member(answer, "serverInfo");
  const own = member(member(member(answer, "capabilities"), "experimental"), "geminiCompanion");
  return {
    name: text(member(info, "name")),
    version: text(member(info, "version")),
    protocolVersion: text(member(own, "protocolVersion")),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? new Map<string, unknown>(Object.entries(value)).get(name)
    : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 100) : "";
}
