import { describe, expect, it } from "vitest";
import { formatCost, formatDuration } from "../../../webview/shell/numbers.js";
import { bands, HEIGHT, marks, WIDTH } from "../../../webview/shell/statisticsParts.js";
import { answers } from "../../panel/answers.js";

const requests = answers.stats.requests ?? [];
const compressions = answers.stats.compressionList ?? [];

const numbers = (path: string) => [...path.matchAll(/-?[\d.]+/g)].map(([number]) => Number(number));

describe("the chart of the statistics", () => {
  it("has a band for each part that some request has, and none for those without", () => {
    const names = bands(requests).map(({ name }) => name);
    expect(names).toContain("messages");
    expect(names).toContain("snapshot");
    expect(names).not.toContain("memory");
  });

  it("stays within its frame, and its largest request reaches the top", () => {
    const all = bands(requests).flatMap(({ path }) => numbers(path));
    expect(Math.min(...all)).toBe(0);
    expect(Math.max(...all)).toBeLessThanOrEqual(Math.max(WIDTH, HEIGHT));
  });

  it("is not drawn of less than two requests", () => {
    expect(bands(requests.slice(0, 1))).toEqual([]);
    expect(marks([], compressions)).toEqual([]);
  });

  it("marks a compression between the requests that it stands between, and no attempt", () => {
    const [mark] = marks(requests, compressions);
    expect(mark).toBeCloseTo((5.5 / 11) * WIDTH);
    expect(
      marks(
        requests,
        compressions.map(({ compressionId: _, ...attempt }) => attempt),
      ),
    ).toEqual([]);
  });
});

describe("sums and durations", () => {
  it("are written so that a little is not nothing", () => {
    expect(formatCost(0, "en")).toBe("$0.00");
    expect(formatCost(0.00001, "en")).toBe("<$0.0001");
    expect(formatCost(0.0312, "en")).toBe("$0.0312");
    expect(formatCost(12.345, "en")).toBe("$12.35");
    expect(formatDuration(840, "en")).toBe("840 ms");
    expect(formatDuration(12_440, "en")).toBe("12.4 sec");
  });
});
