import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatCount,
  formatShare,
  formatShort,
  formatTurns,
  formatWhen,
  secondsUntil,
} from "../../../webview/shell/numbers.js";

describe("numbers", () => {
  it("are grouped as the locale does it", () => {
    expect(formatCount(524_288, "en")).toBe("524,288");
    expect(formatCount(524_288, "de")).toBe("524.288");
    expect(formatShort(1_048_576, "en")).toBe("1.05M");
  });

  it("do not fail for a locale that is none", () => {
    expect(formatCount(12, "not a locale")).toBe("12");
  });

  it("name shares without saying nothing or all where it is not so", () => {
    expect(formatShare(412_310, 1_048_576, "en")).toBe("39%");
    expect(formatShare(1, 1_048_576, "en")).toBe("<1%");
    expect(formatShare(0, 100, "en")).toBe("0%");
    expect(formatShare(999, 1_000, "en")).toBe("99%");
    expect(formatShare(1_000, 1_000, "en")).toBe("100%");
    expect(formatShare(1_200, 1_000, "en")).toBe("120%");
    expect(formatShare(5, 0, "en")).toBe("0%");
  });

  it("count turns in the singular and the plural", () => {
    expect([formatTurns(1, "en"), formatTurns(0, "en"), formatTurns(1_200, "en")]).toEqual([
      "1 turn",
      "0 turns",
      "1,200 turns",
    ]);
  });
});

describe("times", () => {
  const now = new Date(2026, 2, 11, 15, 0).getTime();

  it("are a time today, a weekday within the week, a date before, with the year of another year", () => {
    expect(formatWhen(new Date(2026, 2, 11, 9, 5).getTime(), now, "en-GB")).toBe("09:05");
    expect(formatWhen(new Date(2026, 2, 9, 9, 5).getTime(), now, "en-GB")).toMatch(/^Mon.*09:05$/);
    expect(formatWhen(new Date(2026, 1, 1, 9, 5).getTime(), now, "en-GB")).toBe("1 Feb");
    expect(formatWhen(new Date(2025, 1, 1, 9, 5).getTime(), now, "en-GB")).toBe("1 Feb 2025");
  });

  it("count down in whole seconds and never below 0", () => {
    expect([
      secondsUntil(10_000, 0),
      secondsUntil(10_001, 0),
      secondsUntil(1, 0),
      secondsUntil(0, 0),
      secondsUntil(0, 5_000),
    ]).toEqual([10, 11, 1, 0, 0]);
    fc.assert(fc.property(fc.integer(), fc.integer(), (time, at) => secondsUntil(time, at) >= 0));
  });
});
