// Plays scenes one after the other, each in a page of its own. Words on the command line choose those whose names have them.
/* global requestAnimationFrame, setTimeout */
import assert from "node:assert/strict";
import { openPage } from "./page.mjs";

/** `entry` and `options` are those of `openPage`. A scene is given its page, what calls `window.tests`, and what waits for frames. */
export async function play(scenes, entry, options) {
  const wanted = process.argv.slice(2).join(" ");
  for (const [name, scene] of Object.entries(scenes)) {
    if (!name.includes(wanted)) continue;
    const { page, seen, close } = await openPage(entry, options);
    const at = (what, ...args) => page.evaluate(([one, given]) => window.tests[one](...given), [what, args]);
    const frames = (count) =>
      page.evaluate(async (left) => {
        for (; left > 0; left--) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      }, count);
    try {
      await frames(2);
      await scene({ page, at, frames });
      assert.deepEqual(seen.errors, []);
      console.log(`ok    ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAIL  ${name}\n      ${error.message}`);
    } finally {
      await close();
    }
  }
}
