import type { Stats } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { formatCount, formatTurns } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";

/** The sums of a session in one line: `12 turns · 18 calls · 402,118 tokens in, 9,870 out · 2 compressions saved 716,220`. */
export function statisticsSentence(stats: Stats, locale: string): string {
  const count = (value: number) => formatCount(value, locale);
  const parts = [
    formatTurns(stats.turns, locale),
    t("{0} tokens in, {1} out", count(stats.promptTokens), count(stats.outputTokens + stats.thoughtTokens)),
    ...(stats.compressions > 0 ? [t("compression saved {0} tokens", count(stats.tokensSaved))] : []),
  ];
  return parts.join(" · ");
}

export function StatisticsDialog({ locale }: { readonly locale: string }) {
  return (
    <Popup name="statistics" label={t("Statistics")} class="popup-header">
      <StatisticsBody locale={locale} />
    </Popup>
  );
}

function StatisticsBody({ locale }: { readonly locale: string }) {
  const shell = useShell();
  const { value, error } = useAsked("", 0, () => shell.line.call({ do: "stats" }));
  return (
    <>
      <h2 class="popup-title" tabIndex={-1} data-first>
        {t("Statistics")}
      </h2>
      {error === undefined ? null : <FaultLine error={error} />}
      {value === undefined ? null : (
        <table class="parts">
          <tbody>
            {statisticsRows(value).map(([label, count]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{formatCount(count, locale)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function statisticsRows(stats: Stats): readonly (readonly [string, number])[] {
  return [
    [t("Turns"), stats.turns],
    [t("Calls of the model"), stats.calls],
    [t("Tokens sent"), stats.promptTokens],
    [t("Of these from the cache"), stats.cachedTokens],
    [t("Tokens of answers"), stats.outputTokens],
    [t("Tokens of thoughts"), stats.thoughtTokens],
    [t("Compressions"), stats.compressions],
    [t("Tokens saved by compression"), stats.tokensSaved],
  ];
}
