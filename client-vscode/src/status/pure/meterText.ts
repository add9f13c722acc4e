/** The status bar's meter in words. */
import type { Translate } from "../../chat/pure/words.js";
import { backgroundText } from "../../panel/sentences.js";
import type { MeterView } from "../../panel/contract.js";

export interface MeterText {
  readonly text: string;
  /** Markdown; nothing in it comes from outside. */
  readonly tooltip: string;
  /** For a screen reader: begins with what is seen. */
  readonly label: string;
}

/** Share of the limit in whole percent, as the panel writes it: what is there is never `0%`, what is not full never `100%`. */
export function percent(meter: MeterView): string {
  if (meter.limit <= 0 || meter.used <= 0) return "0%";
  const share = (100 * meter.used) / meter.limit;
  if (share < 1) return "<1%";
  return `${Math.round(share < 100 ? Math.min(share, 99) : share)}%`;
}

export function meterText(
  meter: MeterView,
  isCompressing: boolean,
  t: Translate,
  number: (value: number) => string,
): MeterText {
  const share = percent(meter);
  const used = meter.source === "estimate" ? t("about {0}", number(meter.used)) : number(meter.used);
  const lines = [t("{0} of {1} tokens of the context are used.", used, number(meter.limit))];
  if (meter.compressionAt === undefined || meter.mode === "off") lines.push(t("Automatic compression is off."));
  else if (meter.mode === "remind") lines.push(t("You are reminded to compress at {0}.", number(meter.compressionAt)));
  else lines.push(t("Compression starts at {0}.", number(meter.compressionAt)));
  const ahead = backgroundText(meter, t, number);
  if (ahead !== "") lines.push(ahead);
  const icon = isCompressing ? "$(sync~spin)" : "$(sparkle)";
  return {
    text: meter.background === "prepared" ? `${icon} ${share} $(check)` : `${icon} ${share}`,
    tooltip: [...lines, t("Click to see what it is made of.")].join("\n\n"),
    label: [t("{0} of Gemini's context used", share), ...lines].join(". "),
  };
}
