/** What a compression's row says. */
import type { DividerRow } from "../../../src/panel/contract.js";
import { dividerLook, phaseLook } from "../../../src/panel/statuses.js";
import { countText, durationText, plural, shareText, type Language } from "../texts.js";

/** The heading. */
export function dividerTitle(row: DividerRow, { t }: Language): string {
  const look = dividerLook(row.state);
  const byTrigger = { manual: undefined, auto: look.titleIfAuto, background: look.titleIfBackground };
  const title = byTrigger[row.trigger] ?? look.title;
  return t(title);
}

/** The lines under the heading. `now` in Unix milliseconds. */
export function dividerLines(row: DividerRow, now: number, language: Language): readonly string[] {
  const { t } = language;
  const look = dividerLook(row.state);
  switch (look.lines) {
    case "progress":
      return [progressText(row, now, language)];
    case "sizes":
      return [
        sizeText(row, language),
        row.result?.builtIn === true
          ? t("The model wrote no usable snapshot, so the built-in summariser wrote it.")
          : "",
        row.undoWaits === true ? t("Undone when the answer is complete.") : "",
      ].filter((line) => line !== "");
    case "reason":
      // An error has a place of its own, with what mends it.
      return [row.error === undefined && row.result?.message ? row.result.message : t("Nothing was changed.")];
    case "sentence":
      return look.sentence === undefined ? [] : [t(look.sentence)];
  }
}

function progressText(row: DividerRow, now: number, language: Language): string {
  const { t } = language;
  const parts = [
    row.phase !== undefined && t(phaseLook(row.phase).short),
    row.block !== undefined &&
      row.blocks !== undefined &&
      row.blocks > 1 &&
      t("block {0} of {1}", row.block, row.blocks),
    row.startedAt !== undefined && durationText(Math.max(0, now - row.startedAt), language),
  ];
  return parts.filter((part) => part !== false && part !== "").join(" · ");
}

/** "812,340 → 96,120 tokens, 88% less". */
function sizeText({ result }: DividerRow, language: Language): string {
  if (result === undefined) return "";
  const { t, locale } = language;
  const { originalTokenCount: before, newTokenCount: after } = result;
  const [from, to] = [countText(before, locale), countText(after, locale)];
  const isEstimate = result.tokenCountSource === "estimate";
  const sizes = isEstimate ? t("about {0} → {1} tokens", from, to) : t("{0} → {1} tokens", from, to);
  return before > 0 && after < before ? t("{0}, {1} less", sizes, shareText(1 - after / before, locale)) : sizes;
}

/** "38 turns folded". */
export function foldedText(turns: number, language: Language): string {
  return plural(turns, "{0} turn folded", "{0} turns folded", language);
}
