/** What survives a reload, an update, a crash: one small file per chat. */
import type { QueuedPrompt, ScrollAnchor } from "../../panel/contract.js";

export interface Kept {
  readonly draft: string;
  readonly scroll: ScrollAnchor;
  readonly queue: readonly QueuedPrompt[];
  /** URIs of files taken out of what goes along. */
  readonly excluded: readonly string[];
  /** Previews put away. */
  readonly discarded: readonly string[];
}

export const NOTHING_KEPT: Kept = { draft: "", scroll: "end", queue: [], excluded: [], discarded: [] };

/** The file's text. */
export function encodeKept(kept: Kept): string {
  return `${JSON.stringify({ version: 1, ...kept })}\n`;
}

/** What a file says; whatever in it is not as it should be is left out. Never throws. */
export function decodeKept(text: string): Kept {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return NOTHING_KEPT;
  }
  if (typeof raw !== "object" || raw === null) return NOTHING_KEPT;
  const fields = raw as Readonly<Record<string, unknown>>; // an object; every field is tested below
  return {
    draft: typeof fields["draft"] === "string" ? fields["draft"] : "",
    scroll: anchorOf(fields["scroll"]),
    queue: list(fields["queue"]).flatMap((item, index) =>
      typeof item === "object" && item !== null && "text" in item && typeof item.text === "string" ? [{ id: `q${index}`, text: item.text }] : [],
    ),
    excluded: list(fields["excluded"]).filter((item): item is string => typeof item === "string"),
    discarded: list(fields["discarded"]).filter((item): item is string => typeof item === "string"),
  };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 1_000) : [];
}

function anchorOf(value: unknown): ScrollAnchor {
  if (typeof value !== "object" || value === null || !("rowId" in value) || !("offset" in value)) return "end";
  return typeof value.rowId === "string" && typeof value.offset === "number" && Number.isFinite(value.offset) ? { rowId: value.rowId, offset: value.offset } : "end";
}
