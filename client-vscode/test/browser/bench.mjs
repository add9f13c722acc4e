// Measures the transcript in Chromium: `node test/browser/bench.mjs`. Prints a table and JSON; ends with 1 beyond a limit.
/* global document, performance */
import { leastOf, LIMITS, medians, report } from "./figures.mjs";
import { tracedFrames } from "./frames.mjs";
import { openPage } from "./page.mjs";

async function measure(call) {
  const { page, close, seen } = await openPage("benchPage.ts");
  try {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const metrics = async () =>
      Object.fromEntries(
        (await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]),
      );
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

/** The longest frame of each step of a heavy message, in a page of its own. */
async function heavy(scene) {
  const { page, close, seen } = await openPage("benchPage.ts");
  try {
    const longest = await tracedFrames(page, () => page.evaluate((name) => window.tests.heavy(name, 0), scene));
    if (seen.errors.length > 0) throw new Error(seen.errors.join("\n"));
    return longest;
  } finally {
    await close();
  }
}

/** The longest frame while a log of 174 kB is pasted into the composer, and while it is pasted into a bare text area: that is the browser's part. */
async function paste() {
  const { page, close, seen } = await openPage("panelPage.ts", { styles: "styles/panel.css" });
  try {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => window.tests.show(window.tests.conversation(10, 600)));
    await page.evaluate(() => window.tests.copyLongPrompt());
    const put = async (name, selector) => {
      await page.locator(selector).focus();
      await page.evaluate((step) => performance.mark(`begin:${step}`), name);
      await page.keyboard.press("Control+v");
      await page.waitForFunction((area) => document.querySelector(area).value !== "", selector);
      await page.evaluate(() => window.tests.idle());
      await page.evaluate((step) => performance.mark(`end:${step}`), name);
    };
    const longest = await tracedFrames(page, async () => {
      await put("paste", "textarea.prompt");
      await page.evaluate(() => window.tests.bareArea());
      await put("bare", "textarea#bare");
    });
    if (seen.errors.length > 0) throw new Error(seen.errors.join("\n"));
    return longest;
  } finally {
    await close();
  }
}

const results = {
  stream: await leastOf(() => measure(() => window.tests.stream(2_000, 60_000)), LIMITS.stream),
  list: await leastOf(() => measure(() => window.tests.list(5_000)), LIMITS.list),
  ...(await medians({
    prompt: () => heavy("prompt"),
    table: () => heavy("table"),
    code: () => heavy("code"),
    composer: paste,
  })),
};
if (!report(results)) process.exitCode = 1;
