// Tools in the whole panel, in a real layout at the width of a side bar. `node test/browser/tools.mjs [words of a name]`.
/* global document, getComputedStyle */
import assert from "node:assert/strict";
import { play } from "./scenes.mjs";

/** A chat whose last answer is being made. */
async function working({ page, at, frames }, ...names) {
  await page.evaluate(() => window.tests.show(window.tests.conversation(6, 400)));
  await frames(4);
  await at("stream", "I look at it.");
  await frames(2);
  await page.evaluate((wanted) => {
    const { tools } = window.tests;
    window.tests.callTools(...wanted.flatMap((name) => tools[name]));
  }, names);
  await frames(4);
}

const answers = (page) => page.evaluate(() => window.tests.sent.filter(({ type }) => /^answer|^tool$/.test(type)));

const WIDTH = 300;
/** How often random keys are typed while a question comes, and how many. */
const TIMES = Number(process.env["COMPANION_RANDOM_TIMES"] ?? 5);
const KEYS = 200;

/** Numbers from 0 to 1 that are the same in every run. */
function randoms(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Longer than a question stays deaf, ms. */
const PATIENTLY = { delay: 700 };

/** What VS Code's own themes say of buttons. */
const THEMES = {
  "vscode-dark": {
    foreground: "#cccccc",
    "sideBar-background": "#181818",
    "editor-background": "#1f1f1f",
    "button-background": "#0078d4",
    "button-foreground": "#ffffff",
    "button-border": "#ffffff12",
    "button-secondaryBackground": "#313131",
    "button-secondaryForeground": "#cccccc",
  },
  "vscode-light": {
    foreground: "#3b3b3b",
    "sideBar-background": "#f8f8f8",
    "editor-background": "#ffffff",
    "button-background": "#005fb8",
    "button-foreground": "#ffffff",
    "button-border": "#0000001a",
    "button-secondaryBackground": "#e5e5e5",
    "button-secondaryForeground": "#3b3b3b",
  },
  "vscode-high-contrast": {
    foreground: "#ffffff",
    "sideBar-background": "#000000",
    "editor-background": "#000000",
    "button-foreground": "#ffffff",
    "button-border": "#6fc3df",
    contrastBorder: "#6fc3df",
  },
  "vscode-high-contrast vscode-high-contrast-light": {
    foreground: "#292929",
    "sideBar-background": "#ffffff",
    "editor-background": "#ffffff",
    "button-background": "#0f4a85",
    "button-foreground": "#ffffff",
    "button-secondaryBackground": "#ffffff",
    "button-secondaryForeground": "#292929",
    contrastBorder: "#0f4a85",
  },
};

const scenes = {
  "shows the statistics within a narrow side bar": async ({ page, frames }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 200)));
    await frames(4);
    await page.getByRole("button", { name: "More", exact: true }).first().click();
    await frames(2);
    await page.getByRole("menuitem", { name: "Statistics" }).click();
    await page.locator(".statistics-chart").waitFor();
    const [wide, fits, right] = await page.evaluate(() => {
      const shown = document.querySelector(".statistics-chart")?.closest("[role=dialog]");
      const ends = [...document.querySelectorAll(".statistics-more td")].map(
        (cell) => cell.getBoundingClientRect().right,
      );
      return [document.documentElement.scrollWidth, shown.scrollWidth <= shown.clientWidth, Math.max(...ends)];
    });
    assert.equal(wide, WIDTH);
    assert.ok(fits, "nothing of it is wider than the panel");
    assert.ok(right > 0 && right <= WIDTH, `the last cell of its tables ends at ${right} px`);
    const models = page.getByRole("table", { name: "Models" });
    assert.equal(await models.getByRole("columnheader").count(), 7, "who hears it has its headings");
    assert.deepEqual(
      await models
        .getByRole("row", { name: /^gemini-2.5-pro/ })
        .getByRole("cell")
        .allInnerTexts(),
      ["Answers", "51", "3,980,118", "112,000", "1.2 sec", "$2.11"],
    );
  },

  "asks without taking the keys of who writes, and answers nothing by them": async ({ page, at, frames }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(6, 400)));
    await frames(4);
    await at("stream", "I look at it.");
    await page.locator("textarea.prompt").focus();
    await page.keyboard.type("yes ");
    await page.evaluate(() => window.tests.callTools(window.tests.tools.commandAsked));
    await frames(4);
    await page.keyboard.type("any day");
    assert.equal(await page.locator("textarea.prompt").inputValue(), "yes any day");
    assert.deepEqual(await answers(page), []);
  },

  "is answered by none of 200 keys that somebody types on and on, though Tab is among them": async ({
    page,
    at,
    frames,
  }) => {
    await working({ page, at, frames });
    const keys = ["y", "Y", "a", "e", "1", "2", "9", "n", "d", "x", "Enter", "Space", "Tab", "Shift+Tab"];
    const random = randoms(26);
    for (let time = 0; time < TIMES; time += 1) {
      await page.locator("textarea.prompt").focus();
      await page.evaluate((id) => {
        const { commandAsked } = window.tests.tools;
        window.tests.callTools({ ...commandAsked, id });
      }, `c${time}`);
      for (let key = 0; key < KEYS; key += 1) await page.keyboard.press(keys[Math.floor(random() * keys.length)]);
      assert.deepEqual(await answers(page), [], `the ${time + 1}. time`);
      await page.keyboard.press("Escape");
    }
  },

  "has all of a question within the panel, the whole of its line too": async ({ page, frames, at }) => {
    await working({ page, at, frames }, "commandAsked");
    const group = page.getByRole("group", { name: /^Gemini asks/ });
    for (const button of await group.getByRole("button").all()) {
      if (!(await button.isVisible())) continue;
      const { x, width } = await button.boundingBox();
      assert.ok(x >= 0 && x + width <= WIDTH, `${await button.textContent()}: ${x} to ${x + width}`);
    }
    const line = group.getByRole("group", { name: "Command" });
    await line.evaluate((pre) => pre.append("x".repeat(400))); // how wide a letter is depends on the machine
    assert.ok(await line.evaluate((pre) => pre.scrollWidth <= pre.clientWidth), "nothing of it is out of sight");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), WIDTH);
  },

  "is reached by its key from far above, and answered by a second one": async ({ page, at, frames }) => {
    await working({ page, at, frames }, "lookedAt", "commandAsked");
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, 0));
    await frames(4);
    const row = await page.evaluate(() => window.tests.conversation(6, 1).length);
    await at("command", { do: "toQuestion", row, callId: "c3" });
    await frames(4);
    const group = page.getByRole("group", { name: /^Gemini asks/ });
    const { y, height } = await group.boundingBox();
    assert.ok(y + height > 0 && y < 700, `it is at ${y} px`);
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    assert.equal(await focused(), "NoN", "one comes to what allows nothing");
    await page.keyboard.press("y");
    assert.deepEqual(await answers(page), [], "it is deaf in the first moment");
    await page.keyboard.press("Shift", PATIENTLY);
    await page.keyboard.press("y");
    assert.deepEqual(await answers(page), [{ type: "answerTool", chat: 1, callId: "c3", outcome: "once" }]);
  },

  "is walked through with Tab, from No onwards and back to its line": async ({ page, at, frames }) => {
    await working({ page, at, frames }, "editAsked");
    await at("command", { do: "toQuestion", row: 12, callId: "c2" });
    await frames(4);
    const walk = async (key, steps) => {
      const names = [];
      for (let step = 0; step < steps; step += 1) {
        await page.keyboard.press(key);
        names.push(
          await page.evaluate(
            () => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent,
          ),
        );
      }
      return names;
    };
    assert.deepEqual(await walk("Tab", 2), ["No, Because…", "Open DiffD"]);
    assert.deepEqual(await walk("Shift+Tab", 6), [
      "No, Because…",
      "NoN",
      "Always…A",
      "Yes for This Chat",
      "YesY",
      "Changes",
    ]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "NoN", "and comes in by No again");
  },

  "leaves who reads a question where they are when another one comes": async ({ page, at, frames }) => {
    await working({ page, at, frames });
    const ask = (...more) =>
      page.evaluate((names) => {
        const { tools } = window.tests;
        const diff = `@@ -1 +1 @@\n${Array.from({ length: 300 }, (_, line) => `+line ${line}`).join("\n")}`;
        const long = { ...tools.editAsked, question: { ...tools.editAsked.question, diff } };
        window.tests.callTools(long, ...names.map((name) => tools[name]));
      }, more);
    await ask();
    await frames(4);
    const diff = page.locator(".question-diff");
    const read = async () => [await diff.evaluate((box) => box.scrollTop), (await diff.boundingBox()).y];
    await diff.hover();
    await page.mouse.wheel(0, 1500);
    await frames(6);
    const before = await read();
    assert.ok(before[0] > 1000, `it is scrolled to ${before[0]} px`);
    await ask("commandAsked");
    await frames(6);
    assert.equal(await page.getByRole("group", { name: /^Gemini asks: Run/ }).count(), 1);
    assert.deepEqual(await read(), before);
    await page.getByRole("button", { name: /^No\b/ }).first().click(PATIENTLY);
    await page.evaluate(() => {
      const { commandAsked, editAsked } = window.tests.tools;
      const answered = { ...editAsked, state: "ok" };
      delete answered.question;
      window.tests.callTools(answered, commandAsked);
    });
    await frames(6);
    const { y, height } = await page.getByRole("group", { name: /^Gemini asks: Run/ }).boundingBox();
    assert.ok(y + height <= 700, "behind the answer the end is followed again");
  },

  "shows No as what a question stays at, in every theme": async ({ page, at, frames }) => {
    await working({ page, at, frames }, "commandAsked");
    const looks = (theme) =>
      page.evaluate((name) => {
        document.body.className = name;
        document.documentElement.style.setProperty("--vscode-contrastBorder", "rgb(111, 195, 223)");
        if (name === "vscode-high-contrast")
          document.documentElement.style.removeProperty("--vscode-button-background");
        else document.documentElement.style.setProperty("--vscode-button-background", "rgb(0, 120, 212)");
        return [...document.querySelectorAll(".question-answers > button")]
          .filter((button) => button.checkVisibility())
          .map((button) => {
            const { backgroundColor, boxShadow } = getComputedStyle(button);
            return [button.firstChild.textContent, backgroundColor, boxShadow.includes("111, 195, 223")];
          });
      }, theme);
    for (const theme of ["vscode-dark", "vscode-light", "vscode-high-contrast vscode-high-contrast-light"])
      for (const [name, ground] of await looks(theme))
        assert.equal(ground === "rgb(0, 120, 212)", name === "No", `${theme}: ${name} is ${ground}`);
    for (const [name, , hasEdge] of await looks("vscode-high-contrast"))
      assert.equal(hasEdge, name === "No", `the edge of ${name}`);
  },

  "has the keys on its answers to be read in every theme, and Yes to be told from what stands beside it": async ({
    page,
    at,
    frames,
  }) => {
    await working({ page, at, frames }, "commandAsked");
    // What VS Code itself says of a key in every page of an extension.
    await page.evaluate(() => {
      const theirs = new window.CSSStyleSheet();
      theirs.replaceSync(
        "kbd { background-color: rgba(128, 128, 128, 0.17); color: #ccc; box-shadow: inset 0 -1px 0 #444; }",
      );
      document.adoptedStyleSheets = [theirs];
    });
    for (const [theme, colours] of Object.entries(THEMES)) {
      const [keys, edges] = await page.evaluate(
        ([name, values]) => {
          document.body.className = name;
          const { style } = document.documentElement;
          for (const one of [...style]) style.removeProperty(one);
          for (const [key, value] of Object.entries(values)) style.setProperty(`--vscode-${key}`, value);
          document.body.style.background = values["sideBar-background"];
          const rgb = (text) => text.match(/[\d.]+/g).map(Number);
          /** What stands behind an element: the grounds above it, one over the other. */
          const ground = (element) => {
            if (element === null) return [255, 255, 255];
            const [red, green, blue, alpha = 1] = rgb(getComputedStyle(element).backgroundColor);
            if (alpha === 1) return [red, green, blue];
            const below = ground(element.parentElement);
            return [red, green, blue].map((one, index) => one * alpha + below[index] * (1 - alpha));
          };
          const light = (colour) => {
            const [red, green, blue] = colour
              .map((one) => one / 255)
              .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const contrast = (one, other) => {
            const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
            return (bright + 0.05) / (dark + 0.05);
          };
          const buttons = [...document.querySelectorAll(".question-answers > button")].filter((one) =>
            one.checkVisibility(),
          );
          return [
            buttons.flatMap((button) =>
              [button, ...button.querySelectorAll("kbd")].map((one) => [
                one.textContent,
                contrast(rgb(getComputedStyle(one).color).slice(0, 3), ground(one)),
              ]),
            ),
            buttons.map((button) => {
              const { borderColor, backgroundColor, fontWeight, boxShadow } = getComputedStyle(button);
              return [button.firstChild.textContent, `${borderColor} ${backgroundColor} ${fontWeight} ${boxShadow}`];
            }),
          ];
        },
        [theme, colours],
      );
      assert.ok(keys.some(([text]) => text === "Y") && keys.some(([text]) => text === "N"));
      for (const [text, ratio] of keys) assert.ok(ratio >= 4.5, `${theme}: ${text} has ${ratio.toFixed(2)}:1`);
      const [, yes] = edges.find(([text]) => text === "Yes");
      assert.equal(edges.filter(([, look]) => look === yes).length, 1, `${theme}: Yes looks like another answer`);
    }
  },

  "shows a command's output as it comes, its end in sight, and moves nobody who reads above": async ({
    page,
    at,
    frames,
  }) => {
    await working({ page, at, frames });
    await page.evaluate(() => {
      const { commandRow } = window.tests.tools;
      window.tests.callTools({ ...commandRow, state: "running", startedAt: Date.now() });
    });
    await frames(3);
    await page.getByText(/^Run pytest/).click();
    const lines = Array.from({ length: 60 }, (_, line) => `line ${line}`);
    for (const count of [10, 30, 60]) {
      await at("putOut", "c3", lines.slice(0, count).join("\n"));
      await frames(3);
    }
    const output = page.getByRole("group", { name: "Output" });
    const fromEnd = await output.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
    assert.ok(fromEnd < 2, `the end is ${fromEnd} px away`);
    assert.ok((await output.boundingBox()).height <= 260, "it is bounded");
    await page.getByRole("feed").evaluate((feed) => feed.scrollTo(0, 0));
    await frames(3);
    const before = await page.getByRole("feed").evaluate((feed) => feed.scrollTop);
    await at("putOut", "c3", lines.join("\n").repeat(2));
    await frames(3);
    assert.equal(await page.getByRole("feed").evaluate((feed) => feed.scrollTop), before);
  },

  "keeps tasks, changed files and the composer in sight, however many there are": async ({ page, at, frames }) => {
    await working({ page, at, frames });
    await page.evaluate(() => {
      const { CHANGED, TASKS } = window.tests.tools;
      const files = Array.from({ length: 80 }, (_, at) => ({
        ...CHANGED.files[0],
        path: `/ws/${at}`,
        label: `f${at}`,
      }));
      const tasks = Array.from({ length: 40 }, (_, at) => ({ ...TASKS[1], description: `task ${at} `.repeat(12) }));
      const work = { mode: "ask", questions: 0, canSteer: true, tasks, changes: { ...CHANGED, files } };
      window.tests.change({ work });
    });
    await frames(3);
    for (const name of ["Tasks", "Changed files"])
      await page.getByRole("region", { name }).locator(".bar-fold").first().click();
    await frames(3);
    assert.ok((await page.getByRole("feed").boundingBox()).height > 120, "the answer is in sight");
    const { y, height } = await page.locator("textarea.prompt").boundingBox();
    assert.ok(y + height < 700, "the composer is in sight");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), WIDTH);
    const undo = page.getByRole("button", { name: "Undo all changes" });
    assert.ok((await undo.boundingBox()).height < 26, "its label is one line");
    await undo.click();
    assert.deepEqual(await page.evaluate(() => window.tests.sent.at(-1)), { type: "changes", chat: 1, do: "undo" });
  },
};

await play(scenes, "panelPage.ts", { width: WIDTH, height: 700, styles: "styles/panel.css" });
