/** Finding in a chat. The page shows a few rows of many, so the host, which has all of them, searches. */
import type { Row } from "../../panel/contract.js";

export interface Match {
  readonly row: number;
  readonly rowId: string;
  readonly start: number;
  readonly length: number;
}

/** Most matches that are reported. */
const MOST_MATCHES = 1_000;

/** Where `query` stands in prompts and answers, oldest first; offsets in UTF-16 units of the row's text. */
export function findIn(rows: readonly Row[], query: string, caseSensitive: boolean): Match[] {
  if (query === "") return [];
  const matches: Match[] = [];
  // A regular expression folds case without changing lengths, which lower-casing does (İ).
  const pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), caseSensitive ? "gu" : "giu");
  for (const [index, row] of rows.entries()) {
    if (row.kind !== "prompt" && row.kind !== "answer") continue;
    for (const match of row.text.matchAll(pattern)) {
      matches.push({ row: index, rowId: row.id, start: match.index, length: match[0].length });
      if (matches.length >= MOST_MATCHES) return matches;
    }
  }
  return matches;
}
