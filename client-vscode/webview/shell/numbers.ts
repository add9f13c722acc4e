/** Numbers and times as people read them, in the person's locale. */
import { t } from "../strings.js";

/** A count with grouping: `524,288`. */
export function formatCount(value: number, locale: string): string {
  return new Intl.NumberFormat(safeLocale(locale), { maximumFractionDigits: 0 }).format(value);
}

/** A count where room is short: `1M`, `96.1K`. */
export function formatShort(value: number, locale: string): string {
  return new Intl.NumberFormat(safeLocale(locale), { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

/**
 * A share of a whole: `39%`. What is there is never `0%` and what is not full never `100%`, since both would say something that is not so.
 */
export function formatShare(part: number, whole: number, locale: string): string {
  const percent = new Intl.NumberFormat(safeLocale(locale), { style: "percent", maximumFractionDigits: 0 });
  if (!(whole > 0) || part <= 0) return percent.format(0);
  const share = part / whole;
  if (share < 0.01) return `<${percent.format(0.01)}`;
  return percent.format(share < 1 ? Math.min(share, 0.99) : share);
}

/** A sum in US dollars: `$1.24`, with four digits behind the point where it is less than one. */
export function formatCost(value: number, locale: string): string {
  const digits = value > 0 && value < 1 ? 4 : 2;
  const format = new Intl.NumberFormat(safeLocale(locale), {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return value > 0 && value < 0.0001 ? `<${format.format(0.0001)}` : format.format(value);
}

/** A duration: `840 ms`, `12.4 s`, `200 s`. */
export function formatDuration(ms: number, locale: string): string {
  const unit = ms < 1_000 ? "millisecond" : "second";
  return new Intl.NumberFormat(safeLocale(locale), {
    style: "unit",
    unit,
    maximumFractionDigits: ms < 1_000 || ms >= 100_000 ? 0 : 1,
  }).format(ms < 1_000 ? ms : ms / 1_000);
}

/** When a chat was last used: the time today, the weekday within a week, else the date. Both times are Unix milliseconds. */
export function formatWhen(time: number, now: number, locale: string): string {
  const date = new Date(time);
  const today = new Date(now);
  const midnight = new Date(today.getFullYear(), today.getMonth(), today.getDate()).getTime();
  const options: Intl.DateTimeFormatOptions =
    time >= midnight
      ? { hour: "2-digit", minute: "2-digit" }
      : time >= midnight - 6 * 86_400_000
        ? { weekday: "short", hour: "2-digit", minute: "2-digit" }
        : {
            day: "numeric",
            month: "short",
            ...(date.getFullYear() === today.getFullYear() ? {} : { year: "numeric" }),
          };
  return new Intl.DateTimeFormat(safeLocale(locale), options).format(date);
}

/** A day to come or past: `12 Dec`, with the year where it is another one than today's. */
export function formatDay(time: number, locale: string): string {
  const date = new Date(time);
  const year = date.getFullYear() === new Date().getFullYear() ? {} : ({ year: "numeric" } as const);
  return new Intl.DateTimeFormat(safeLocale(locale), { day: "numeric", month: "short", ...year }).format(date);
}

/** Whole seconds until `time`, at least 0; rounded up, so that `1` is shown until the moment has come. */
export function secondsUntil(time: number, now: number): number {
  return Math.max(0, Math.ceil((time - now) / 1_000));
}

/** Room on a disk: `840 kB`, `12.4 MB`. */
export function formatBytes(bytes: number, locale: string): string {
  const [value, unit] = bytes < 999_500 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  const maximumFractionDigits = value < 100 ? 1 : 0;
  return new Intl.NumberFormat(safeLocale(locale), { style: "unit", unit, maximumFractionDigits }).format(value);
}

/** `1 turn`, `38 turns`. English has two forms; a translation may give both the same text. */
export function formatTurns(turns: number, locale: string): string {
  return turns === 1 ? t("1 turn") : t("{0} turns", formatCount(turns, locale));
}

/** A locale that `Intl` takes: a host's setting may be anything. */
function safeLocale(locale: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale)[0];
  } catch {
    return undefined;
  }
}
