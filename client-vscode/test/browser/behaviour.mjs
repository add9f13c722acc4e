// What only a real layout shows: following, the reader's place, keys, selection, find. `node test/browser/behaviour.mjs [words of a name]`.
/* global document, Event */
import assert from "node:assert/strict";
import { play } from "./scenes.mjs";

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

  "goes on following whatever changes the layout: what is around it, its width, the size of the text": async ({
    at,
    page,
    frames,
  }) => {
    const follows = async (when) => {
      assert.ok((await at("fromEnd")) < 1, `${when}: ${await at("fromEnd")} px from the end`);
      await at("stream", `A paragraph after ${when}.\n\n`);
      await frames(3);
      assert.ok((await at("fromEnd")) < 1, `${when}, then text: ${await at("fromEnd")} px from the end`);
    };
    await at("stream", "The answer begins.\n\n");
    await frames(3);
    for (const height of [780, 800, 640, 800, 780]) {
      await page.setViewportSize({ width: 400, height });
      await frames(3);
      await follows(`a height of ${height} px`);
    }
    for (const width of [300, 400, 500]) {
      await page.setViewportSize({ width, height: 780 });
      await frames(3);
      await follows(`a width of ${width} px`);
    }
    for (const size of ["16px", "11px", "13px"]) {
      await page.evaluate((value) => (document.body.style.fontSize = value), size);
      await frames(4);
      await follows(`text of ${size}`);
    }
    // As when a letter is typed while an answer streams: the browser moves the window to the new end, and its event may come first.
    for (const height of [760, 781, 760, 781]) {
      await page.evaluate((value) => {
        const [root, feed] = [document.querySelector("#root"), document.querySelector("[role=feed]")];
        root.style.height = `${value}px`;
        root.getBoundingClientRect();
        feed.dispatchEvent(new Event("scroll"));
        window.tests.stream("A little more.\n\n");
      }, height);
      await frames(3);
    }
    await follows("a letter");
  },

  "keeps the place of a reader close to the end when the window grows and shrinks again": async ({
    at,
    page,
    frames,
  }) => {
    await page.mouse.move(200, 300);
    await page.mouse.wheel(0, -60);
    await frames(4);
    const before = await at("inSight");
    await page.setViewportSize({ width: 400, height: 900 });
    await frames(3);
    await page.setViewportSize({ width: 400, height: 800 });
    await frames(3);
    assert.deepEqual(await at("inSight"), before);
  },

  "stops following when the scrollbar is dragged while text streams in": async ({ at, page, frames }) => {
    await at("stream", "The answer begins.\n\n");
    await frames(3);
    const handle = await page.evaluate(() => {
      const { right, bottom } = document.querySelector("[role=feed]").getBoundingClientRect();
      return { x: right - 7, y: bottom - 24 };
    });
    await page.mouse.move(handle.x, handle.y);
    await page.mouse.down();
    for (let step = 1; step <= 5; step++) {
      await at("stream", `More, number ${step}.\n\n`);
      await page.mouse.move(handle.x, handle.y - 30 * step);
      await frames(2);
    }
    await page.mouse.up();
    await frames(2);
    assert.ok((await at("fromEnd")) > 1_000, `it is ${await at("fromEnd")} px from the end`);
    const before = await at("inSight");
    await at("stream", "And on.\n\n");
    await frames(3);
    assert.deepEqual(await at("inSight"), before);
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

  "lays a long block of code out as it comes into sight, and nothing of it is cut, lost or moved by that": async ({
    at,
    page,
    frames,
  }) => {
    const lines = Array.from({ length: 4_000 }, (_, line) => `line ${line} of it`);
    lines[3_600] = `the widest ${"word ".repeat(60)}ends`;
    const row = await at("total");
    await at("stream", `\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`);
    await at("finish");
    await frames(4);
    assert.equal(await at("find", row, "line 3210 of"), true);
    await frames(8);
    const { text, top, bottom } = await at("markedBox");
    assert.equal(text, "line 3210 of");
    assert.ok(top >= 0 && bottom <= 800, `it is at ${top} px`);
    const size = () =>
      page.evaluate(() => {
        const pre = [...document.querySelectorAll("figure.code pre")].at(-1);
        return { height: pre.getBoundingClientRect().height, width: pre.scrollWidth };
      });
    const before = await size();
    const place = await at("inSight");
    await frames(8);
    assert.deepEqual(await at("inSight"), place);
    for (let share = 0; share <= 1; share += 0.02) {
      await page.evaluate((share) => {
        const feed = document.querySelector("[role=feed]");
        const article = feed.querySelector("article:last-of-type");
        feed.scrollTop = feed.scrollHeight - article.getBoundingClientRect().height * (1 - share);
      }, share);
      await frames(1);
    }
    const after = await size();
    assert.ok(Math.abs(after.height - before.height) < 2, `it grew by ${after.height - before.height} px`);
    assert.ok(Math.abs(after.width - before.width) < 2, `it became wider by ${after.width - before.width} px`);
    const read = await page.evaluate(() => {
      const pre = [...document.querySelectorAll("figure.code pre")].at(-1);
      const selection = document.getSelection();
      selection.selectAllChildren(pre);
      const [slice] = [...pre.querySelectorAll(".code-slice")].slice(-2);
      return { copied: String(selection), isCut: slice.scrollWidth > slice.clientWidth };
    });
    assert.equal(read.copied.trimEnd(), lines.join("\n"));
    assert.equal(read.isCut, false, "its longest line can be read to the end");
  },

  "has one message in the order of the Tab key, wherever the reader is": async ({ at, page, frames }) => {
    for (const share of [0.9, 0.5, 0.1]) {
      await at("scrollTo", share);
      await frames(4);
      assert.equal(await page.evaluate(() => document.querySelectorAll('article[tabindex="0"]').length), 1);
    }
  },
};

await play(scenes, "behaviourPage.ts");
