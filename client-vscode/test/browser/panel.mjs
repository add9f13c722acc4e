// What only the whole panel shows in a real layout, at the width of a side bar. `node test/browser/panel.mjs [words of a name]`.
/* global CSS, document */
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

  "goes from a message deep in the chat to the preview that was asked for there": async ({ page, frames, at }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(10, 600)));
    await frames(6);
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, 0));
    await frames(4);
    const first = page.getByRole("article", { name: "You" }).first();
    await first.getByText("⋯").click();
    await frames(3);
    await first.getByRole("button", { name: "Compress up to here" }).click();
    await frames(4);
    assert.ok((await at("fromEnd")) < 1, "the end is in sight, where the preview comes");
    assert.deepEqual(await page.evaluate(() => window.tests.sent.filter(({ type }) => type === "compress")), [
      { type: "compress", chat: 1, preview: true, guided: false, upTo: "t0" },
    ]);
  },

  "opens what a compression kept without moving what was pressed, though the end is followed": async ({
    page,
    frames,
  }) => {
    await page.evaluate(() => {
      const facts = Array.from({ length: 40 }, (_, at) => ({
        kind: at % 2 ? "path" : "directive",
        text: `fact ${at}`,
      }));
      const result = {
        status: "COMPRESSED",
        trigger: "manual",
        originalTokenCount: 900,
        newTokenCount: 100,
        tokenCountSource: "api",
        modelCalls: 1,
        durationMs: 1,
        message: "",
        retention: { score: 0.5, facts: 80, kept: 40, repaired: 0, missing: facts, appended: 3, unsupported: [] },
      };
      const divider = {
        kind: "divider",
        id: "c:1",
        version: 1,
        compressionId: "1",
        state: "compressed",
        trigger: "manual",
        result,
      };
      window.tests.show([...window.tests.conversation(10, 600), divider]);
    });
    await frames(6);
    const summary = page.getByText(/^Kept 40 of 80 facts/);
    const before = await summary.boundingBox();
    await summary.click();
    await page.getByText("fact 39").waitFor();
    await frames(4);
    const after = await summary.boundingBox();
    assert.ok(Math.abs(after.y - before.y) < 2, `it moved from ${before.y} to ${after.y}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 300);
  },

  "shows a place far above that is folded, with its words marked, and keeps it though the chat goes on": async ({
    page,
    at,
    frames,
  }) => {
    await page.evaluate(() => {
      const rows = window.tests.conversation(40, 600);
      const hidden = rows.map((row, at) => (at < 60 ? { ...row, hiddenBy: "1" } : row));
      hidden[21] = { ...hidden[21], text: "Some words before. The buffer is flushed at the end. Some behind." };
      window.tests.show(hidden, { hidden: [{ from: 0, to: 59, compressionId: "1", turns: 30 }] });
    });
    await frames(6);
    assert.equal(await page.getByText("The buffer is flushed").count(), 0, "it is folded");
    await at("command", { do: "showPlace", row: 21, rowId: "a:t10", start: 19, length: 32 });
    await frames(6);
    const marked = () =>
      page.evaluate(() => {
        const [range] = [...(CSS.highlights.get("transcript-match-current") ?? [])];
        const box = range?.getBoundingClientRect();
        return range && { text: range.toString(), top: box.top };
      });
    const shown = await marked();
    assert.equal(shown.text, "The buffer is flushed at the end");
    assert.ok(shown.top > 0 && shown.top < 700, `it is at ${shown.top} px`);
    assert.match(await page.evaluate(() => document.activeElement.textContent), /The buffer is flushed/);
    await at("stream", "More of it.\n\n");
    await frames(4);
    assert.ok(Math.abs((await marked()).top - shown.top) < 2, "the reader stays there");
    await page.locator("textarea.prompt").focus();
    await frames(2);
    assert.equal(await marked(), undefined, "who goes on has no mark left behind");
  },

  "names the model and the mode beside Stop, in a narrow side bar and with long words": async ({
    page,
    at,
    frames,
  }) => {
    await page.setViewportSize({ width: 290, height: 700 });
    await answering({ page, at, frames });
    const work = { tasks: [], changes: { files: [], added: 0, removed: 0, note: "" }, questions: 0, canSteer: true };
    await at("change", {
      models: { current: "gemini-3.5-flash", list: [] },
      work: { ...work, mode: "acceptEdits" },
    });
    await frames(4);
    const texts = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".composer-bar .model-name")]
          .filter(({ offsetParent }) => offsetParent !== null)
          .map(({ innerText, scrollWidth, clientWidth }) => ({
            innerText,
            isWhole: scrollWidth <= clientWidth,
            clientWidth,
          })),
      );
    const [model, mode] = await texts();
    assert.deepEqual([model.innerText, model.isWhole], ["3.5-flash", true]);
    assert.deepEqual([mode.innerText, mode.isWhole], ["Edits", true]);
    await page.getByRole("button", { name: "gemini-3.5-flash", exact: true }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    // Another language, and wider than what is hidden here.
    for (const width of [290, 390]) {
      await page.setViewportSize({ width, height: 700 });
      await page.evaluate(() => {
        for (const one of document.querySelectorAll(".mode-short, .mode-label, .stop-label"))
          one.textContent = "Bearbeitungsmodus";
      });
      await frames(4);
      const [first] = await texts();
      assert.ok(first.clientWidth > 40, `${width}: ${first.clientWidth} px are left for the model`);
      for (const button of await page.locator(".composer-bar > button").all()) {
        const { x, width: wide } = await button.boundingBox();
        assert.ok(x >= 0 && x + wide <= width, `${width}: ${x} to ${x + wide}`);
      }
    }
  },

  "keeps a rule's buttons in reach at the width of a side bar": async ({ page, frames }) => {
    await page.evaluate(() => {
      const [prompt, answer] = window.tests.conversation(1, 100);
      const rule = (id, text, state) => ({
        constraintId: id,
        text,
        scope: "session",
        state,
        createdAt: 0,
        source: "prompt",
      });
      const rules = [
        rule("1", "never touch generated/", "inForce"),
        rule("2", `always say ${"a very long word ".repeat(12)}`, "proposed"),
        rule("3", "x".repeat(300), "released"),
      ];
      window.tests.show([{ ...prompt, rules }, answer]);
    });
    await frames(4);
    for (const name of [/^Release: /, /^Keep: always/, /^Not Now: /, /^Keep: xxx/]) {
      const { x, width } = await page.getByRole("button", { name }).boundingBox();
      assert.ok(x >= 0 && x + width <= 300, `${name}: ${x} to ${x + width}`);
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 300);
    await page.getByRole("button", { name: /^Release: / }).click();
    assert.deepEqual(await page.evaluate(() => window.tests.sent.at(-1)), {
      type: "rule",
      constraintId: "1",
      state: "released",
      chat: 1,
    });
  },
};

await play(scenes, "panelPage.ts", { width: 300, height: 700, styles: "styles/panel.css" });
