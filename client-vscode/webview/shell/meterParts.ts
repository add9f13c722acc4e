/** What fills the context, as rows of a table and slices of a bar. */
import type { ContextReport, RequestParts } from "../../src/protocol.gen.js";

export type PartName = keyof RequestParts | "free";

export interface Part {
  readonly name: PartName;
  readonly tokens: number;
}

/** In the order of a request; texts are English and translated where they are shown. */
export const partLabels: Readonly<Record<PartName, string>> = {
  systemInstruction: "Instructions",
  tools: "Tools",
  environment: "Environment",
  memory: "Memory files",
  ideContext: "Editor context",
  snapshot: "Snapshot",
  constraints: "Rules and pins",
  messages: "Messages",
  toolOutputs: "Tool outputs",
  free: "Free",
};

const order: readonly PartName[] = [
  "systemInstruction",
  "tools",
  "environment",
  "memory",
  "ideContext",
  "snapshot",
  "constraints",
  "messages",
  "toolOutputs",
  "free",
];

/** Every part with its tokens, `free` last; a negative number counts as 0. */
export function contextParts(report: Pick<ContextReport, "byPart" | "free">): readonly Part[] {
  return order.map((name) => ({ name, tokens: Math.max(0, name === "free" ? report.free : report.byPart[name]) }));
}

export interface Slice {
  readonly name: PartName;
  /** Both as shares of the bar, 0 to 1. */
  readonly x: number;
  readonly width: number;
}

/** The slices of the bar, side by side, without those that have no width; they fill it from 0 to 1. */
export function slices(parts: readonly Part[]): readonly Slice[] {
  const sum = parts.reduce((total, part) => total + part.tokens, 0);
  if (sum <= 0) return [];
  let before = 0;
  const all: Slice[] = [];
  for (const { name, tokens } of parts) {
    if (tokens > 0) all.push({ name, x: before / sum, width: tokens / sum });
    before += tokens;
  }
  return all;
}
