// What only the whole panel shows in a real layout, at the width of a side bar. `node test/browser/panel.mjs [words of a name]`.
import assert from "node:assert/strict";
import { play } from "./scenes.mjs";

/** Shows a chat of ten questions whose last answer streams. */
async function answering({ page, at, frames }) {
  await page.evaluate(() => window.tests.show(window.tests.conversation(10, 600)));
  await frames(6);
  await at("stream", "The answer begins.\n\n");
  await frames(3);
  assert.ok((await at("fromEnd")) < 1, "it follows");
}

const scenes = {
  "follows an answer while a prompt is typed and others are queued": async ({ page, at, frames }) => {
    await answering({ page, at, frames });
    await page.locator("textarea.prompt").focus();
    for (const key of ["x", "Backspace", "y", "Backspace"]) {
      await at("stream", "More of it.\n\n");
      await page.keyboard.press(key);
      await frames(2);
      await page.locator("textarea.prompt").boundingBox();
      assert.ok((await at("fromEnd")) < 1, `${key}: ${await at("fromEnd")} px from the end`);
    }
    for (const count of [1, 2, 1, 0]) {
      await at("change", { queue: Array.from({ length: count }, (_, at) => ({ id: `q${at}`, text: `prompt ${at}` })) });
      await at("stream", "And more.\n\n");
      await frames(4);
      assert.ok((await at("fromEnd")) < 1, `${count} queued: ${await at("fromEnd")} px from the end`);
    }
  },
};

await play(scenes, "panelPage.ts", { width: 300, height: 700, styles: "styles/panel.css" });
