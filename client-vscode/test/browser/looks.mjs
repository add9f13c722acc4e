// What is cut, broken or cannot be read, in a real layout. `node test/browser/looks.mjs [words of a name]`.
/* global document, getComputedStyle */
import assert from "node:assert/strict";
import { play } from "./scenes.mjs";

const scenes = {
  "has all of the button behind which files are folded in sight, and the short words beside long names": async ({
    page,
    at,
    frames,
  }) => {
    const chips = Array.from({ length: 60 }, (_, at) => ({
      uri: `file:///ws/${at}.py`,
      label: `a_file_with_a_name_that_is_rather_long_${at}.py`,
      detail: `src/${at}.py`,
      isActive: at === 0,
      included: true,
      sends: at === 0 ? "whole" : "path only",
    }));
    await page.setViewportSize({ width: 280, height: 800 });
    await at("change", { chips });
    await frames(4);
    const row = await page.locator(".chips-row").boundingBox();
    const folded = await page.getByRole("button", { name: "+57 more files" }).boundingBox();
    assert.ok(folded.y + folded.height <= row.y + row.height, "it is not cut");
    const cut = await page
      .locator(".chip-reason")
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    assert.deepEqual(cut, []);
  },

  "shows what is folded with one word in one line": async ({ page, frames }) => {
    await page.setViewportSize({ width: 280, height: 800 });
    await page.evaluate(() => {
      const rows = window.tests.conversation(10, 600).map((row, at) => (at < 12 ? { ...row, hiddenBy: "c1" } : row));
      window.tests.show(rows, { hidden: [{ from: 0, to: 11, compressionId: "c1", turns: 38 }] });
    });
    await frames(6);
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, 0));
    await frames(4);
    const button = page.getByRole("article", { name: /no longer sent/ }).getByRole("button", { name: "Show" });
    assert.equal(await button.evaluate((one) => one.getClientRects().length), 1);
    const { height } = await button.boundingBox();
    assert.ok(height < 32, `it is broken: ${height} px tall`);
  },

  "colours matches in high contrast by pairs of the system's": async ({ page, frames }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(2, 100)));
    await frames(4);
    const colours = (match) =>
      page.evaluate((name) => {
        document.body.classList.add("vscode-high-contrast");
        const { color, backgroundColor } = getComputedStyle(
          document.querySelector(".markdown p"),
          `::highlight(${name})`,
        );
        const probe = document.body.appendChild(document.createElement("p"));
        const [words, ground] = name.endsWith("current") ? ["HighlightText", "Highlight"] : ["MarkText", "Mark"];
        probe.style.color = words;
        probe.style.backgroundColor = ground;
        const wanted = getComputedStyle(probe);
        return [color, backgroundColor, wanted.color, wanted.backgroundColor];
      }, match);
    for (const match of ["transcript-match", "transcript-match-current"]) {
      const [color, ground, wantedColor, wantedGround] = await colours(match);
      assert.deepEqual([color, ground], [wantedColor, wantedGround], match);
    }
  },
};

await play(scenes, "panelPage.ts", { width: 300, height: 700, styles: "styles/panel.css" });
