import type { ContextReport, Stats, Verdict } from "../../src/protocol.gen.js";
import type { MeterView } from "../../src/panel/contract.js";
import { backgroundText } from "../../src/panel/sentences.js";
import { t } from "../strings.js";
import { compress } from "./actions.js";
import { DialogTitle } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { contextParts, partLabels, slices } from "./meterParts.js";
import { formatCount, formatShare } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";
import { hindranceOfCompression } from "./standing.js";
import { statisticsSentence } from "./statistics.js";

/** What fills the context, part by part, and where compression starts. Opening it changes nothing. */
export function MeterDialog({ locale }: { readonly locale: string }) {
  return (
    <Popup name="meter" label={t("Context")} class="popup-header">
      <MeterBody locale={locale} />
    </Popup>
  );
}

function MeterBody({ locale }: { readonly locale: string }) {
  const shell = useShell();
  const { used } = shell.panel.value?.meter ?? { used: 0 };
  // Asked anew when the meter moves while it is open.
  const report = useAsked(String(used), 0, () => shell.line.call({ do: "context" }));
  const stats = useAsked(String(used), 0, () => shell.line.call({ do: "stats" }));
  const verdict = useAsked(String(used), 0, () => shell.line.call({ do: "verdict" }));
  const mode = shell.panel.value?.meter?.mode ?? "auto";
  const hindered = shell.panel.value === undefined ? undefined : hindranceOfCompression(shell.panel.value);
  const run = (preview: boolean, guided: boolean) => () => {
    if (hindered !== undefined) return;
    shell.closePopup("meter");
    compress(shell, preview, guided);
  };
  const off = hindered === undefined ? {} : { "aria-disabled": true, title: hindered };
  return (
    <>
      <DialogTitle>{t("Context")}</DialogTitle>
      {report.value === undefined ? null : <Report report={report.value} mode={mode} locale={locale} />}
      {report.value === undefined && report.error === undefined ? <p class="quiet">{t("Counting…")}</p> : null}
      {report.error === undefined ? null : <FaultLine error={report.error} />}
      <BackgroundLine locale={locale} />
      {verdict.value === undefined || verdict.value === null ? null : (
        <VerdictLines verdict={verdict.value} locale={locale} />
      )}
      {stats.value === undefined ? null : <StatisticsLine stats={stats.value} locale={locale} />}
      <RulesLine />
      <div class="button-row">
        <button type="button" class="button secondary" {...off} onClick={run(true, false)}>
          {t("Preview…")}
        </button>
        <button type="button" class="button secondary" {...off} onClick={run(false, false)}>
          {t("Compress…")}
        </button>
        <button type="button" class="button secondary" {...off} onClick={run(false, true)}>
          {t("Compress with Guidance…")}
        </button>
      </div>
    </>
  );
}

interface ReportProps {
  readonly report: ContextReport;
  readonly mode: MeterView["mode"];
  readonly locale: string;
}

function Report({ report, mode, locale }: ReportProps) {
  const parts = contextParts(report);
  const start = report.compressionAt;
  const whole = Math.max(report.tokenLimit, report.tokenCount);
  return (
    <>
      <p class="meter-sum">
        {t("{0} of {1} tokens", formatCount(report.tokenCount, locale), formatCount(report.tokenLimit, locale))}
        {report.tokenCountSource === "estimate" ? <span class="quiet"> · {t("estimated")}</span> : null}
      </p>
      <svg class="parts-bar" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
        {slices(parts).map(({ name, x, width }) => (
          <rect key={name} class={`part part-${name}`} x={x * 100} width={width * 100} y="2" height="10" />
        ))}
        {start === undefined ? null : (
          <rect class="parts-mark" x={Math.min(99.4, (start / whole) * 100)} width="0.6" height="14" />
        )}
      </svg>
      <p class="quiet">
        {start === undefined || mode === "off"
          ? t("Compression starts only when you ask.")
          : mode === "remind"
            ? t("You are reminded to compress at {0} tokens.", formatCount(start, locale))
            : t("Compression starts at {0} tokens.", formatCount(start, locale))}
      </p>
      <table class="parts">
        <thead>
          <tr>
            <th scope="col">{t("Part")}</th>
            <th scope="col">{t("Tokens")}</th>
            <th scope="col">{t("Share")}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ name, tokens }) => (
            <tr key={name} class={tokens === 0 ? "quiet" : ""}>
              <th scope="row">
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                  <rect class={`part part-${name}`} width="10" height="10" rx="2" />
                </svg>
                {t(partLabels[name])}
              </th>
              <td>{formatCount(tokens, locale)}</td>
              <td>{formatShare(tokens, whole, locale)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function StatisticsLine({ stats, locale }: { readonly stats: Stats; readonly locale: string }) {
  return <p class="quiet">{statisticsSentence(stats, locale)}</p>;
}

/** What is prepared, so that nobody waits for it. */
function BackgroundLine({ locale }: { readonly locale: string }) {
  const meter = useShell().panel.value?.meter;
  const text = meter === undefined ? "" : backgroundText(meter, t, (count) => formatCount(count, locale));
  return text === "" ? null : <p class="quiet">{text}</p>;
}

/** Whether a compression would be worth it now, and the numbers that say so. */
function VerdictLines({ verdict, locale }: { readonly verdict: Verdict; readonly locale: string }) {
  const { savedPerTurn, summaryTokens, lostCacheTokens, expectedTurns = 0, netTokens, message = "" } = verdict;
  if (message === "") return null;
  const tokens = (count = 0) => t("{0} tokens", formatCount(count, locale));
  const rows = [
    [t("Saved with each turn"), tokens(savedPerTurn)],
    [t("Turns to be expected"), formatCount(expectedTurns, locale)],
    [t("Cost of the summary"), tokens(summaryTokens)],
    [t("Cached tokens lost"), tokens(lostCacheTokens)],
    [t("Gain over the rest of the chat"), tokens(netTokens)],
  ] as const;
  return (
    <details class="verdict">
      <summary dir="auto">{message}</summary>
      <table class="parts">
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** How many rules hold, and the way to them. */
function RulesLine() {
  const shell = useShell();
  const { inForce, proposed } = shell.panel.value?.rules ?? { inForce: 0, proposed: 0 };
  if (inForce + proposed === 0) return null;
  const rules = inForce === 1 ? t("1 rule in force") : t("{0} rules in force", inForce);
  return (
    <p class="quiet rules-line">
      {proposed === 0 ? rules : t("{0}, {1} to be decided", rules, proposed)}{" "}
      <button type="button" class="text-action" onClick={() => shell.openPopup("rules")}>
        {t("Show Rules")}
      </button>
    </p>
  );
}
