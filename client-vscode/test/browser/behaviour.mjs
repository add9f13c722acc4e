// What only a real layout shows: following, the reader's place, keys, selection, find. `node test/browser/behaviour.mjs [words of a name]`.
/* global document, requestAnimationFrame, setTimeout */
import assert from "node:assert/strict";
import { openPage } from "./page.mjs";

const scenes = {
  "opens at the end": async ({ at }) => {
    assert.ok((await at("fromEnd")) < 1);
    assert.ok((await at("inSight")).posinset > 990);
  },

  "follows what streams in, until the wheel turns up": async ({ at, page, frames }) => {
    for (let piece = 0; piece < 20; piece++) {
      await at("stream", `A paragraph of the answer, number ${piece}.\n\n`);
      await frames(2);
    }
    assert.ok((await at("fromEnd")) < 1, "it follows");
    await page.mouse.move(200, 300);
    await page.mouse.wheel(0, -200);
    await frames(4);
    const before = await at("inSight");
    for (let piece = 0; piece < 20; piece++) {
      await at("stream", `More that nobody asked for, number ${piece}.\n\n`);
      await frames(1);
    }
    const after = await at("inSight");
    assert.equal(after.posinset, before.posinset);
    assert.ok(Math.abs(after.top - before.top) < 1, `moved by ${after.top - before.top} px`);
    await page.getByRole("button", { name: /Latest/ }).click();
    await frames(3);
    assert.ok((await at("fromEnd")) < 1, "the button leads to the end");
    await at("stream", "And on.\n\n");
    await frames(3);
    assert.ok((await at("fromEnd")) < 1, "it follows again");
    assert.equal(await page.getByRole("button", { name: /Latest/ }).isVisible(), false);
  },

  "stops following when the scrollbar is dragged up, however little": async ({ at, page, frames }) => {
    await at("stream", "The answer begins.\n\n");
    await frames(3);
    await page.evaluate(() => (document.querySelector("[role=feed]").scrollTop -= 20));
    await frames(2);
    const before = await at("inSight");
    for (let piece = 0; piece < 5; piece++) await at("stream", `It goes on, number ${piece}.\n\n`);
    await frames(4);
    assert.deepEqual(await at("inSight"), before);
    await page.evaluate(() => (document.querySelector("[role=feed]").scrollTop = 1e9));
    await frames(2);
    await at("stream", "And on.\n\n");
    await frames(3);
    assert.ok((await at("fromEnd")) < 1, "at the end it follows again");
  },

  "says how many messages are new": async ({ at, page, frames }) => {
    await page.mouse.move(200, 300);
    await page.mouse.wheel(0, -600);
    await frames(4);
    await at("stream", "One new answer.");
    await frames(3);
    await page.getByRole("button", { name: "↓ Latest (1 new)" }).waitFor();
  },

  "puts a prompt that was sent near the top, and the answer below it": async ({ at, frames }) => {
    await at("scrollTo", 0.5);
    await frames(4);
    await at("send", "A short question");
    await frames(3);
    const prompt = await at("box", 1_001);
    assert.ok(prompt.top >= 0 && prompt.top < 24, `the prompt is at ${prompt.top} px`);
    await at("stream", "A short answer.\n\n");
    await frames(3);
    assert.equal((await at("box", 1_001)).top, prompt.top, "a short answer does not move it");
    for (let piece = 0; piece < 60; piece++) await at("stream", `A longer one, number ${piece}.\n\n`);
    await frames(40);
    assert.ok(((await at("box", 1_001))?.bottom ?? -1) < 0, "a long one pushes it out");
    assert.ok((await at("fromEnd")) < 1);
    await at("finish");
    await frames(3);
    assert.ok((await at("fromEnd")) < 1, "the end of the answer does not move the reader");
  },

  "keeps the reader's place while rows come and heights are found out": async ({ at, page, frames }) => {
    await at("scrollTo", 0.3);
    await frames(2);
    const before = await at("inSight");
    await page.waitForFunction(() => document.querySelector("article.placeholder") === null);
    await frames(4);
    const after = await at("inSight");
    assert.equal(after.posinset, before.posinset);
    assert.ok(Math.abs(after.top - before.top) < 2, `moved by ${after.top - before.top} px`);
    assert.ok((await page.evaluate(() => window.tests.loads)).length > 0);
  },

  "keeps the reader's place when the panel becomes narrower": async ({ at, page, frames }) => {
    await at("scrollTo", 0.95);
    await frames(4);
    const before = await at("inSight");
    for (const width of [380, 340, 300, 260, 220]) {
      await page.setViewportSize({ width, height: 800 });
      await frames(2);
    }
    assert.equal((await at("inSight")).posinset, before.posinset);
    assert.ok(
      await page.evaluate(
        () => document.querySelector("[role=feed]").scrollWidth <= document.querySelector("[role=feed]").clientWidth,
      ),
    );
  },

  "opens where a reader left": async ({ at, frames }) => {
    await at("scrollTo", 0.9);
    await frames(4);
    const [anchor, before] = [await at("anchor"), await at("inSight")];
    await at("dispose");
    await at("open", anchor);
    await frames(4);
    const after = await at("inSight");
    assert.equal(after.posinset, before.posinset);
    assert.ok(Math.abs(after.top - before.top) < 2, `moved by ${after.top - before.top} px`);
  },

  "walks with the keys, the message with the focus always in sight": async ({ at, page, frames }) => {
    await at("focusNewest");
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press("k");
      await frames(1);
    }
    const focused = await page.evaluate(() => document.activeElement.getAttribute("aria-posinset"));
    assert.equal(focused, "960");
    const box = await at("box", 960);
    assert.ok(box.bottom > 0 && box.top < 800, `it is at ${box.top} px`);
    await page.keyboard.press("Home");
    await page.waitForFunction(
      () =>
        document.activeElement.getAttribute("aria-posinset") === "1" && !document.activeElement.matches(".placeholder"),
    );
    await page.keyboard.press("End");
    await frames(3);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-posinset")), "1000");
    assert.ok((await at("fromEnd")) < 1);
  },

  "keeps focus and selection far out of sight": async ({ at, page, frames }) => {
    await at("focusNewest");
    await page.evaluate(() => {
      const text = document.querySelector('article[aria-posinset="999"] .prompt-text');
      document.getSelection().selectAllChildren(text);
    });
    const selected = await page.evaluate(() => document.getSelection().toString());
    await at("scrollTo", 0.2);
    await frames(6);
    assert.equal(await page.evaluate(() => document.getSelection().toString()), selected);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-posinset")), "1000");
  },

  "brings a match into sight and marks it": async ({ at, frames }) => {
    assert.equal(await at("find", 851, "buffer"), true);
    await frames(4);
    const marked = await at("markedBox");
    assert.equal(marked.text.toLowerCase(), "buffer");
    assert.ok(marked.top > 0 && marked.bottom < 800, `it is at ${marked.top} px`);
  },

  "has one message in the order of the Tab key, wherever the reader is": async ({ at, page, frames }) => {
    for (const share of [0.9, 0.5, 0.1]) {
      await at("scrollTo", share);
      await frames(4);
      assert.equal(await page.evaluate(() => document.querySelectorAll('article[tabindex="0"]').length), 1);
    }
  },
};

const wanted = process.argv.slice(2).join(" ");
let failed = 0;
for (const [name, scene] of Object.entries(scenes)) {
  if (!name.includes(wanted)) continue;
  const { page, seen, close } = await openPage("behaviourPage.ts");
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
    failed++;
    console.log(`FAIL  ${name}\n      ${error.message}`);
  } finally {
    await close();
  }
}
if (failed > 0) process.exitCode = 1;
