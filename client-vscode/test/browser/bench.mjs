// Measures the transcript in Chromium: `node test/browser/bench.mjs`. Prints a table and JSON; ends with 1 beyond a limit.
import { openPage } from "./page.mjs";

const LIMITS = {
  stream: { busyMs: 2_500, dropped: 20, lateP95Ms: 50, gone: 500 },
  list: { openMs: 400, nodes: 1_500, mostNodes: 1_500, resizeP95Ms: 40, blankAfterJump: 1 },
};

async function measure(call) {
  const { page, close, seen } = await openPage("benchPage.ts");
  try {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const metrics = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    const before = await metrics();
    const result = await page.evaluate(call);
    const after = await metrics();
    if (seen.errors.length > 0) throw new Error(seen.errors.join("\n"));
    const spent = (name) => (after[name] - before[name]) * 1000;
    return { busyMs: spent("ScriptDuration"), taskMs: spent("TaskDuration"), ...result };
  } finally {
    await close();
  }
}

const results = {
  stream: await measure(() => window.tests.stream(2_000, 60_000)),
  list: await measure(() => window.tests.list(5_000)),
};
const table = Object.entries(results).flatMap(([bench, values]) =>
  Object.entries(values).map(([what, value]) => {
    const limit = LIMITS[bench][what];
    return { bench, what, value: Math.round(value * 10) / 10, limit: limit ?? "", ok: limit === undefined || value < limit };
  }),
);
console.table(table);
console.log(JSON.stringify(results));
if (table.some(({ ok }) => !ok)) process.exitCode = 1;
