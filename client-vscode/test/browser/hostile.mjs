// Shows every hostile answer in Chromium, streamed in random pieces and at once: `node test/browser/hostile.mjs [name…]`. Ends with 1 if
// anything was loaded or run, if the panel changed its shape or holds too many nodes, or if the streamed answer ended otherwise than the
// whole one. Times are printed to be looked at; none of them decides.
import { openPage } from "./page.mjs";

const wanted = process.argv.slice(2);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));

const { page, self, seen, close } = await openPage("hostilePage.ts", { width: 300 });
const ours = (url) =>
  url === `${self}/` || new RegExp(`^${self}/[\\w.-]+\\.(?:js|css)$`).test(url) || url === `${self}/favicon.ico`;
const table = [];
const faults = [];
try {
  const names = (await page.evaluate(() => window.tests.names)).filter(
    (name) => wanted.length === 0 || wanted.includes(name),
  );
  for (const name of names) {
    const whole = await page.evaluate((one) => window.tests.show(one), name);
    const streamed = await page.evaluate(([one, cuts]) => window.tests.show(one, cuts), [name, seed]);
    const found = [...whole.faults, ...streamed.faults.map((fault) => `streamed: ${fault}`)];
    if (whole.markup !== streamed.markup) found.push("streamed, it ends otherwise than at once");
    if (whole.markup === "") found.push("nothing is shown");
    const worstMs = Math.max(whole.ms, streamed.worstMs);
    const loaded = seen.requests.splice(0).filter((url) => !ours(url));
    found.push(...loaded.map((url) => `request to ${url}`), ...seen.errors.splice(0).map((error) => `error: ${error}`));
    table.push({
      name,
      wholeMs: Math.round(whole.ms),
      streamedMs: Math.round(streamed.ms),
      worstMs: Math.round(worstMs),
      ok: found.length === 0,
    });
    faults.push(...found.map((fault) => `${name}: ${fault}`));
  }
} finally {
  await close();
}
console.table(table);
console.log(JSON.stringify({ seed, answers: table.length, faults }));
if (faults.length > 0 || table.length === 0) process.exitCode = 1;
