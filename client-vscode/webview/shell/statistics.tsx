import { useState } from "preact/hooks";
import type { ModelSums, Stats } from "../../src/protocol.gen.js";
import { t } from "../strings.js";
import { DialogTitle } from "./dialog.js";
import { FaultLine } from "./faultLine.js";
import { useAsked } from "./hooks.js";
import { partLabels } from "./meterParts.js";
import { formatCost, formatCount, formatDuration, formatShare, formatTurns } from "./numbers.js";
import { Popup } from "./popup.js";
import { useShell } from "./shell.js";
import { bands, HEIGHT, marks, WIDTH } from "./statisticsParts.js";

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
  const [all, setAll] = useState(false);
  const { value, error } = useAsked(String(all), 0, () => shell.line.call({ do: "stats", all }));
  return (
    <>
      <DialogTitle>{t("Statistics")}</DialogTitle>
      <label class="statistics-all">
        <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> {t("All chats of this project")}
      </label>
      {error === undefined ? null : <FaultLine error={error} />}
      {value === undefined ? null : <Figures stats={value} locale={locale} />}
    </>
  );
}

interface Props {
  readonly stats: Stats;
  readonly locale: string;
}

function Figures({ stats, locale }: Props) {
  return (
    <>
      <Chart stats={stats} locale={locale} />
      <table class="parts">
        <tbody>
          {statisticsRows(stats, locale).map(([label, value]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Models stats={stats} locale={locale} />
      <Tools stats={stats} locale={locale} />
    </>
  );
}

/** The tokens of each request, part by part; the numbers stand in the table of the meter and in the report. */
function Chart({ stats, locale }: Props) {
  const requests = stats.requests ?? [];
  const drawn = bands(requests);
  if (drawn.length === 0) return null;
  const most = Math.max(...requests.map(({ tokens }) => tokens));
  const told = t(
    "Tokens of {0} requests, at most {1}; compressions: {2}",
    formatCount(requests.length, locale),
    formatCount(most, locale),
    formatCount(stats.compressions, locale),
  );
  return (
    <figure class="statistics-chart">
      <figcaption class="quiet">{t("Tokens of each request, up to {0}", formatCount(most, locale))}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={told}>
        {drawn.map(({ name, path }) => (
          <path key={name} class={`part part-${name}`} d={path} />
        ))}
        {marks(requests, stats.compressionList ?? []).map((x) => (
          <path key={x} class="statistics-mark" d={`M${x.toFixed(2)} 0V${HEIGHT}`} />
        ))}
      </svg>
      <ul class="statistics-legend">
        {drawn.map(({ name }) => (
          <li key={name}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`part part-${name}`} width="10" height="10" rx="2" />
            </svg>
            {t(partLabels[name])}
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** What requests are for; texts are English and translated where they are shown. */
const PURPOSES = {
  answer: "Answers",
  compression: "Compression",
  preparing: "Prepared compressions",
  title: "Title",
  condensing: "Condensed outputs",
  grounding: "Web",
  loopCheck: "Progress check",
  routing: "Choice of a model",
} as const;

function purposeOf({ purpose }: ModelSums): string {
  const label = PURPOSES[purpose];
  return t(label);
}

function Models({ stats, locale }: Props) {
  const rows = (stats.models ?? []).map((row) => ({
    key: `${row.model} ${row.purpose}`,
    name: row.model,
    cells: [
      purposeOf(row),
      formatCount(row.calls, locale),
      formatCount(row.promptTokens, locale),
      formatCount(row.outputTokens + row.thoughtTokens, locale),
      row.first == null ? "–" : formatDuration(row.first.median, locale),
      row.cost == null ? "–" : formatCost(row.cost, locale),
    ],
  }));
  const columns = [t("For"), t("Calls"), t("In"), t("Out"), t("First word"), t("Cost")];
  return <More title={t("Models")} first={t("Model")} columns={columns} rows={rows} isOpen />;
}

function Tools({ stats, locale }: Props) {
  const rows = (stats.tools ?? []).map((row) => ({
    key: row.name,
    name: row.name,
    cells: [
      formatCount(row.calls, locale),
      formatCount(row.declined, locale),
      formatCount(row.failed, locale),
      formatDuration(row.durationMs, locale),
      row.tokens == null ? "–" : formatCount(row.tokens, locale),
    ],
  }));
  const columns = [t("Calls"), t("Declined"), t("Failed"), t("Time"), t("Tokens now")];
  return <More title={t("Tools")} first={t("Tool")} columns={columns} rows={rows} />;
}

interface MoreProps {
  readonly title: string;
  /** What the rows' names are. */
  readonly first: string;
  /** What stands in the cells behind them. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly key: string; readonly name: string; readonly cells: readonly string[] }[];
  readonly isOpen?: boolean;
}

/** A table with more columns than the panel has room for: each row is seen as a small list, whose cells say what they are. */
function More({ title, first, columns, rows, isOpen = false }: MoreProps) {
  if (rows.length === 0) return null;
  return (
    <details class="statistics-more" open={isOpen}>
      <summary>{title}</summary>
      <table class="parts statistics-table" aria-label={title}>
        <thead>
          <tr>
            {[first, ...columns].map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells }) => (
            <tr key={key}>
              <th scope="row" dir="auto">
                {name}
              </th>
              {cells.map((cell, index) => (
                <td key={columns[index]} data-label={columns[index]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function statisticsRows(stats: Stats, locale: string): readonly (readonly [string, string])[] {
  const count = (value: number) => formatCount(value, locale);
  const cost = formatCost(stats.cost, locale);
  return [
    ...(stats.sessionId == null ? [[t("Chats"), count(stats.sessions ?? 1)] as const] : []),
    [t("Turns"), count(stats.turns)],
    ...((stats.loops ?? 0) > 0 ? [[t("Went round in circles"), count(stats.loops ?? 0)] as const] : []),
    [t("Calls of the model"), count(stats.calls)],
    ...(stats.failures > 0 ? [[t("Of these failed or stopped"), count(stats.failures)] as const] : []),
    [t("Tokens sent"), count(stats.promptTokens)],
    [
      t("Of these from the cache"),
      `${count(stats.cachedTokens)} (${formatShare(stats.cachedTokens, stats.promptTokens, locale)})`,
    ],
    [t("Tokens of answers"), count(stats.outputTokens)],
    [t("Tokens of thoughts"), count(stats.thoughtTokens)],
    [t("Compressions"), count(stats.compressions)],
    [t("Tokens saved by compression"), count(stats.tokensSaved)],
    [t("Cost by list prices"), stats.isCostComplete ? cost : t("{0} or more", cost)],
  ];
}
