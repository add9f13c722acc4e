// What the panel may take, and how figures are held against it: for the bench in Chromium and the one in VS Code.

import { loadavg } from "node:os";

/** No frame of a heavy message may take longer, ms of its thread's processor. */
const FRAME = 100;

/** A figure has to stay below its limit; one without a limit is for reading. */
export const LIMITS = {
  stream: { busyMs: 2_500, dropped: 20, lateP95Ms: 50, gone: 500, endLost: 2 },
  list: { openMs: 400, nodes: 1_500, mostNodes: 1_500, resizeP95Ms: 40, blankAfterJump: 1 },
  prompt: { putMs: FRAME, unfoldMs: FRAME, scrollMs: FRAME, findMs: FRAME, foldMs: FRAME },
  table: { streamMs: FRAME, putMs: FRAME, unfoldMs: FRAME, scrollMs: FRAME, findMs: FRAME },
  code: { streamMs: FRAME, putMs: FRAME, unfoldMs: FRAME, scrollMs: FRAME, findMs: FRAME },
  composer: { pasteMs: FRAME },
  activation: { ms: 60 },
  page: { firstPaintMs: 100, percentOfBare: 125 },
  session: { openMs: 200, nodes: 1_500 },
};

/** How often a bench is run at most. */
export const ATTEMPTS = 3;

const isWithin = (values, limits) => Object.entries(limits).every(([what, limit]) => values[what] < limit);

/**
 * Measures until every figure has been within its limit, `attempts` times at most. What else the machine does only ever adds to a figure, so
 * the least that was seen of each counts.
 */
export async function leastOf(measure, limits = {}, attempts = ATTEMPTS) {
  let values = {};
  let made = 0;
  while (made < attempts && (made === 0 || !isWithin(values, limits))) {
    const measured = await measure(made);
    made += 1;
    values = Object.fromEntries(
      Object.entries(measured).map(([what, value]) => [what, Math.min(value, values[what] ?? Infinity)]),
    );
  }
  return { values, attempts: made };
}

/** The median of each figure, after `times` rounds in which everything had its turn. */
export async function medians(measures, times = 5) {
  const rounds = [];
  for (let round = 0; round < times; round++) {
    const values = {};
    for (const [name, measure] of Object.entries(measures)) values[name] = await measure(round);
    rounds.push(values);
  }
  const [first] = rounds;
  return Object.fromEntries(
    Object.keys(first).map((name) => [
      name,
      {
        values: Object.fromEntries(
          Object.keys(first[name]).map((what) => [what, median(rounds.map((round) => round[name][what]))]),
        ),
        attempts: times,
        isMedian: true,
      },
    ]),
  );
}

function median(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1];
}

/** Prints a table and JSON. True if every figure is within its limit. */
export function report(results, limits = LIMITS) {
  const rows = Object.entries(results).flatMap(([bench, { values, attempts, isMedian }]) =>
    Object.entries(values).map(([what, value]) => {
      const limit = limits[bench]?.[what];
      return {
        bench,
        what,
        value: Math.round(value * 10) / 10,
        limit: limit ?? "",
        ok: limit === undefined || value < limit,
        of: attempts === 1 ? "" : `${isMedian ? "median" : "least"} of ${attempts}`,
      };
    }),
  );
  console.table(rows);
  console.log(
    `Load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(", ")}`,
  );
  console.log(JSON.stringify(results));
  return rows.every(({ ok }) => ok);
}
