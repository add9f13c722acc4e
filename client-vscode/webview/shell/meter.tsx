import type { MeterView } from "../../src/panel/contract.js";
import { backgroundText } from "../../src/panel/sentences.js";
import { t } from "../strings.js";
import { formatCount, formatShare } from "./numbers.js";
import { opens } from "./popup.js";
import { useShell } from "./shell.js";

const width = 40;
const height = 8;

/** How full the context is, always in sight. It opens a pop-up and never compresses by itself. */
export function Meter({ meter, locale }: { readonly meter: MeterView; readonly locale: string }) {
  const shell = useShell();
  const share = formatShare(meter.used, meter.limit, locale);
  return (
    <button
      type="button"
      class="meter"
      aria-label={meterName(meter, locale)}
      title={meterName(meter, locale)}
      {...opens(shell, "meter")}
    >
      <MeterBar meter={meter} />
      <span class="meter-share">{share}</span>
    </button>
  );
}

/** `39% of the context used, 412,310 of 1,048,576 tokens, compression starts at 524,288`, and what is prepared for it. */
function meterName(meter: MeterView, locale: string): string {
  const ahead = backgroundText(meter, t, (count) => formatCount(count, locale));
  return ahead === "" ? usedName(meter, locale) : `${usedName(meter, locale)}. ${ahead}`;
}

function usedName(meter: MeterView, locale: string): string {
  const share = formatShare(meter.used, meter.limit, locale);
  const counted = formatCount(meter.used, locale);
  const used = meter.source === "estimate" ? t("about {0}", counted) : counted;
  const limit = formatCount(meter.limit, locale);
  const at = meter.compressionAt;
  if (at === undefined || meter.mode === "off")
    return t("{0} of the context used, {1} of {2} tokens, compression starts only when you ask", share, used, limit);
  const start = formatCount(at, locale);
  return meter.mode === "remind"
    ? t("{0} of the context used, {1} of {2} tokens, a reminder to compress at {3}", share, used, limit, start)
    : t("{0} of the context used, {1} of {2} tokens, compression starts at {3}", share, used, limit, start);
}

function MeterBar({ meter }: { readonly meter: MeterView }) {
  const at = (tokens: number) => (meter.limit > 0 ? Math.min(1, tokens / meter.limit) * width : 0);
  return (
    <svg class="meter-bar" viewBox={`-0.5 -2.5 ${width + 1} ${height + 5}`} aria-hidden="true">
      <rect class="meter-track" width={width} height={height} rx="2" />
      <rect class="meter-used" width={meter.used > 0 ? Math.max(1, at(meter.used)) : 0} height={height} rx="2" />
      {meter.compressionAt === undefined ? null : (
        <path class="meter-mark" d={`M${at(meter.compressionAt).toFixed(1)} -2v${height + 4}`} />
      )}
      {meter.compressionAt === undefined || meter.background !== "prepared" ? null : (
        <circle class="meter-ready" cx={at(meter.compressionAt).toFixed(1)} cy={height / 2} r="2.5" />
      )}
    </svg>
  );
}
