// What only the whole panel shows in a real layout, at the width of a side bar. `node test/browser/panel.mjs [words of a name]`.
/* global CSS */
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

  "stops with Esc in the moment after Enter, before the host has said that anything runs": async ({
    page,
    at,
    frames,
  }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(1, 100)));
    await frames(4);
    await page.locator("textarea.prompt").fill("On and on.");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    const kinds = () =>
      page.evaluate(() => window.tests.sent.map(({ type }) => type).filter((type) => /send|stop/.test(type)));
    assert.deepEqual(await kinds(), ["send", "stop"]);
    await at("change", { job: { kind: "turn", id: "t9" } });
    await at("change", { job: { kind: "idle" } });
    await frames(2);
    await page.keyboard.press("Escape");
    assert.deepEqual(await kinds(), ["send", "stop"], "nothing is stopped where nothing runs");
  },

  "has in the find bar what was typed, though the key reaches it twice": async ({ page, at, frames }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 400)));
    await frames(4);
    // Where an editor listens for keys: on this one it would move the focus while somebody types.
    await page.evaluate(() => {
      window.pressed = [];
      window.addEventListener("keydown", (event) => window.pressed.push(event.key));
    });
    await page.locator("textarea.prompt").focus();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("fl");
    assert.deepEqual(
      await page.evaluate(() => window.pressed),
      ["Control", "f", "l"],
      "the key for find is not passed on",
    );
    await at("command", { do: "find" });
    await frames(3);
    await page.keyboard.type("ush");
    assert.equal(await page.getByRole("searchbox", { name: "Find in chat" }).inputValue(), "flush");
    assert.equal(await page.locator("textarea.prompt").inputValue(), "");
  },

  "keeps the composer and the answer in sight however many prompts wait, and however long": async ({
    page,
    at,
    frames,
  }) => {
    await answering({ page, at, frames });
    const long = "a line of a log\n".repeat(11_000);
    await at("change", { queue: Array.from({ length: 16 }, (_, at) => ({ id: `q${at}`, text: `${at} ${long}` })) });
    await frames(4);
    const queue = await page.getByRole("region", { name: "Queued prompts" }).boundingBox();
    assert.ok(queue.height <= 140, `the queue is ${queue.height} px tall`);
    assert.ok((await page.getByRole("feed").boundingBox()).height > 300, "the answer is in sight");
    assert.ok((await page.content()).length < 1_000_000, "what cannot be seen is not in the page");
    await page.getByRole("textbox", { name: "Prompt", exact: true }).fill("one more");
    await page.keyboard.press("Enter");
    await frames(2);
    assert.deepEqual(await page.evaluate(() => window.tests.sent.filter(({ type }) => type === "send")), []);
    assert.equal(await page.locator(".banner", { hasText: "16 prompts are waiting" }).count(), 1);
  },

  "folds a long prompt, and shows all of it without losing what was pressed": async ({ page, at, frames }) => {
    await answering({ page, at, frames });
    const text = Array.from({ length: 5_000 }, (_, line) => `line ${line} of a log that was pasted`).join("\n");
    await page.evaluate((log) => {
      const [prompt] = window.tests.conversation(1, 10);
      window.tests.add({ ...prompt, id: "p:log", turnId: "log", text: log });
    }, text);
    await frames(4);
    const article = page.getByRole("article", { name: "You" }).last();
    assert.ok((await article.boundingBox()).height < 600, "it is folded");
    const button = page.getByRole("button", { name: /Show all [\d,]+ characters/ });
    await button.click();
    await frames(4);
    assert.ok((await article.boundingBox()).height > 50_000, "it is unfolded");
    await page.getByRole("button", { name: "Show less" }).click();
    await frames(4);
    const { y, height } = await article.boundingBox();
    assert.ok(y < 700 && y + height > 0, `it is at ${y} px`);
  },

  "finds what stands deep in a folded prompt": async ({ page, at, frames }) => {
    const text = Array.from({ length: 5_000 }, (_, line) => `line ${line} of a log that was pasted`).join("\n");
    await page.evaluate((log) => {
      const rows = window.tests.conversation(10, 600);
      window.tests.show(rows.map((row, at) => (at === 4 ? { ...row, text: log } : row)));
    }, text);
    await frames(4);
    await at("command", { do: "find" });
    await page.getByRole("searchbox", { name: "Find in chat" }).fill("line 4321 of");
    await page.getByText("1 of 1").waitFor();
    await frames(4);
    const box = await page.evaluate(() => {
      const [range] = [...CSS.highlights.get("transcript-match-current")];
      const { top, bottom } = range.getBoundingClientRect();
      return { text: range.toString(), top, bottom };
    });
    assert.equal(box.text, "line 4321 of");
    assert.ok(box.top > 0 && box.bottom < 700, `it is at ${box.top} px`);
  },
};

await play(scenes, "panelPage.ts", { width: 300, height: 700, styles: "styles/panel.css" });
