/** What a compression's row says. */
import type { DividerRow } from "../../../src/panel/contract.js";
import { countText, durationText, plural, shareText, type Language } from "../texts.js";

/** The heading. */
export function dividerTitle(row: DividerRow, { t }: Language): string {
  switch (row.state) {
    case "running":
      return t("Compressing");
    case "compressed":
      if (row.trigger === "manual") return t("Chat compressed");
      return row.trigger === "auto" ? t("Chat compressed by itself") : t("Chat compressed in the background");
    case "truncated":
      return t("Tool outputs shortened");
    case "unchanged":
      return t("Not compressed");
    case "cancelled":
      return t("Compression cancelled");
    case "preview":
      return t("Preview of a compression");
    case "undone":
      return t("Compression undone");
    case "failed":
      return t("Compression failed");
  }
}

/** The lines under the heading. `now` in Unix milliseconds. */
export function dividerLines(row: DividerRow, now: number, language: Language): readonly string[] {
  const { t } = language;
  switch (row.state) {
    case "running":
      return [progressText(row, now, language)];
    case "compressed":
    case "truncated":
    case "preview":
      return [sizeText(row, language), factsText(row, language)].filter((line) => line !== "");
    case "unchanged":
    case "failed":
      // An error has a place of its own, with what mends it.
      return [row.error === undefined && row.result?.message ? row.result.message : t("Nothing was changed.")];
    case "cancelled":
      return [t("Nothing was changed.")];
    case "undone":
      return [t("The whole conversation is sent to Gemini again.")];
  }
}

function progressText(row: DividerRow, now: number, language: Language): string {
  const { t } = language;
  const parts = [
    phaseText(row.phase, language),
    row.block !== undefined && row.blocks !== undefined && row.blocks > 1 && t("block {0} of {1}", row.block, row.blocks),
    row.startedAt !== undefined && durationText(Math.max(0, now - row.startedAt), language),
  ];
  return parts.filter((part) => part !== false && part !== "").join(" · ");
}

function phaseText(phase: string | undefined, { t }: Language): string {
  switch (phase) {
    case "counting":
      return t("counting tokens");
    case "truncating":
      return t("shortening tool outputs");
    case "hook":
      return t("running hooks");
    case "summarising":
      return t("summarising");
    case "verifying":
      return t("verifying");
    case "repairing":
      return t("repairing");
    case "installing":
      return t("installing");
    default:
      return phase ?? "";
  }
}

/** "812,340 → 96,120 tokens, 88% less". */
function sizeText({ result }: DividerRow, language: Language): string {
  if (result === undefined) return "";
  const { t, locale } = language;
  const { originalTokenCount: before, newTokenCount: after } = result;
  const sizes = t("{0} → {1} tokens", countText(before, locale), countText(after, locale));
  return before > 0 && after < before ? t("{0}, {1} less", sizes, shareText(1 - after / before, locale)) : sizes;
}

/** "Kept 94% of facts", if that was measured. */
function factsText({ result }: DividerRow, { t, locale }: Language): string {
  const score: unknown = result?.retention?.["score"];
  if (result?.retention?.["facts"] === 0) return "";
  return typeof score === "number" && score >= 0 && score <= 1 ? t("Kept {0} of facts", shareText(score, locale)) : "";
}

/** "38 turns folded". */
export function foldedText(turns: number, language: Language): string {
  return plural(turns, "{0} turn folded", "{0} turns folded", language);
}
