/** Numbers and times as the rows say them. */
import type { Translate } from "./host.js";

/** What the rows need to speak a person's language. */
export interface Language {
  readonly t: Translate;
  /** BCP 47. */
  readonly locale: string;
}

/** A whole number with separators: `812,340`. */
export function countText(count: number, locale: string): string {
  return format(locale, (used) => new Intl.NumberFormat(used, { maximumFractionDigits: 0 }).format(count));
}

/** The time of a day: `14:02`, with the date if that is another day than `now`'s. Both are Unix milliseconds. */
export function timeText(time: number, locale: string, now: number): string {
  const sameDay = new Date(time).toDateString() === new Date(now).toDateString();
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  return format(locale, (used) =>
    new Intl.DateTimeFormat(used, sameDay ? clock : { day: "numeric", month: "short", ...clock }).format(time),
  );
}

/** A duration: `6 s`, `2 min 5 s`, `1 h 3 min`. Under a second it is one: nobody reads milliseconds. */
export function durationText(ms: number, { t, locale }: Language): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return t("{0} s", countText(seconds, locale));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("{0} min {1} s", countText(minutes, locale), seconds % 60);
  return t("{0} h {1} min", countText(Math.floor(minutes / 60), locale), minutes % 60);
}

/** A share of 1 in whole percent: `94 %` or `94%`, as the locale writes it. Never 100 % for less than all of it. */
export function shareText(share: number, locale: string): string {
  const shown = share < 1 ? Math.min(share, 0.99) : share;
  return format(locale, (used) =>
    new Intl.NumberFormat(used, { style: "percent", maximumFractionDigits: 0 }).format(shown),
  );
}

/** A size: `34.5 kB`, `1.2 MB`. */
export function bytesText(bytes: number, locale: string): string {
  const [value, unit] = bytes < 999_500 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  const maximumFractionDigits = value < 100 ? 1 : 0;
  return format(locale, (used) =>
    new Intl.NumberFormat(used, { style: "unit", unit, maximumFractionDigits }).format(value),
  );
}

/** One of two texts by a number; the number is the first placeholder. */
export function plural(count: number, one: string, other: string, { t, locale }: Language): string {
  return count === 1 ? t(one, 1) : t(other, countText(count, locale));
}

/** A locale comes from outside; one that `Intl` refuses is replaced by the page's. */
function format(locale: string, how: (locale: string | undefined) => string): string {
  try {
    return how(locale);
  } catch {
    return how(undefined);
  }
}
