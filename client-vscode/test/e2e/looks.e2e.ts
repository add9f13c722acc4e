/** How the panel looks and reads in the real VS Code: pictures, accessibility, hostile answers, the keyboard alone. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AxeResults, RunOptions } from "axe-core";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE_ANSWERS } from "../browser/hostileAnswers.js";
import { fixtures, type FixtureName } from "../panel/fixtures.js";
import { artifacts, client } from "./support/places.js";
import { patiently } from "./support/patience.js";
import { inFileName, stage } from "./support/stage.js";
import { cutOff, prepare, show, showRows } from "./support/staged.js";
import { type Theme, THEMES } from "./support/workbench.js";

const WIDTHS = [300, 480];
/** One of each kind of surface. */
const LOOKED_INTO: readonly FixtureName[] = [
  "empty",
  "idle",
  "streaming",
  "failed",
  "compressed",
  "preview",
  "queued",
  "meterOpen",
  "ruleProposed",
  "rulesOpen",
  "keptOpen",
  "memoryOpen",
  "statisticsOpen",
  "recalled",
  "toolAsksCommand",
  "toolWaiting",
  "toolAsksPerson",
  "toolsDone",
  "toolRulesOpen",
  "interrupted",
];
const READ_OUT: readonly FixtureName[] = [
  ...LOOKED_INTO,
  "noPython",
  "noKey",
  "readOnly",
  "chipsOut",
  "sessionsOpen",
  "findOpen",
  "ruleKept",
  "lowRetention",
  "compressionDue",
  "placeShown",
  "ownModel",
  "notCompressed",
  "previewOutdated",
  "undoWaits",
  "reminderOpen",
  "modeOpen",
  "stoppedUnfinished",
  "roundsUsedUp",
  "outputsMasked",
];
const ALL = Object.keys(fixtures) as FixtureName[]; // Object.keys forgets the names' type

const set = stage("looks", { emulator: true });
beforeAll(() => prepare(set.window.page));

declare const axe: { run(root: Document, options: RunOptions): Promise<AxeResults> };

test("with the keyboard alone: ask, walk the transcript, copy, take a file out, back to the editor", async () => {
  const { page } = set.window;
  const panel = await set.newChat();
  await panel.isIdle();
  await set.window.openFile("tokenizer.py");
  const focused = () =>
    panel.frame.evaluate(
      () =>
        `${document.activeElement?.tagName ?? ""} ${document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent.trim() ?? ""}`,
    );
  const reaches = (what: RegExp) =>
    patiently(`the focus reaches ${String(what)}`, async () => what.test(await focused()) || undefined, 5_000);
  await page.keyboard.press("Control+Alt+g");
  await reaches(/^TEXTAREA Prompt/);
  await set.emulator.script([{ pieces: ["One **answer** with\n\n```python\nprint(1)\n```\n"] }]);
  await page.keyboard.type("With keys");
  await page.keyboard.press("Enter");
  await panel.answers.getByText("print(1)").waitFor();
  await panel.isIdle();
  expect(await focused()).toMatch(/^TEXTAREA/); // an answer never takes the focus
  await page.keyboard.press("Shift+Tab");
  await reaches(/^ARTICLE Gemini/);
  await page.keyboard.press("k");
  await reaches(/^ARTICLE You/);
  await page.keyboard.press("j");
  await reaches(/^ARTICLE Gemini/);
  await page.keyboard.press("c");
  await patiently(
    "the answer is copied as Markdown",
    async () =>
      (await page.evaluate(() => navigator.clipboard.readText())).includes("One **answer** with") || undefined,
  );
  await page.keyboard.press("Enter");
  await reaches(/^(BUTTON|SUMMARY)/);
  await page.keyboard.press("Escape");
  await reaches(/^ARTICLE Gemini/);
  await panel.composer.focus();
  await page.keyboard.press("Shift+Tab");
  await reaches(/^ARTICLE/);
  await page.keyboard.press("Tab");
  await patiently("Tab reaches the chip", async () => {
    if (/Take tokenizer\.py out/.test(await focused())) return true;
    await page.keyboard.press("Tab");
    return undefined;
  });
  await page.keyboard.press("Enter");
  await panel.chips.getByRole("button", { name: "Put tokenizer.py back" }).waitFor();
  await reaches(/Put tokenizer\.py back/);
  await page.keyboard.press("Enter");
  await panel.chips.getByRole("button", { name: "Take tokenizer.py out" }).waitFor();
  await page.keyboard.press("Control+Alt+g");
  await patiently(
    "the editor has the focus",
    async () =>
      (await page.evaluate(
        () =>
          document.activeElement?.closest(".editor-instance") !== null && document.activeElement?.tagName !== "IFRAME",
      )) || undefined,
  );
});

describe("staged", () => {
  let frame: Frame;
  beforeAll(async () => {
    const panel = await set.newChat();
    await set.ask(panel, "Anything?", "So that there is something to report."); // the host's answers are replaced, its refusals are not
    ({ frame } = panel);
    await cutOff(frame);
  });
  afterAll(() => set.window.theme("dark"));

  test("what a screen reader is told, state by state", async () => {
    await set.window.panelWidth(480);
    for (const name of READ_OUT) {
      await show(frame, name);
      const told = (await frame.locator("body").ariaSnapshot()).replaceAll(/\b\d+ s\b/g, "N s");
      await expect(`${told}\n`).toMatchFileSnapshot(join(import.meta.dirname, "snapshots", `${name}.yml`));
    }
  });

  test("hostile answers neither run, nor load, nor tear the layout", { timeout: 120_000 }, async () => {
    await frame.evaluate(() => {
      document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        Reflect.set(window, "violations", [
          ...((Reflect.get(window, "violations") as string[] | undefined) ?? []),
          `${violatedDirective} ${blockedURI}`,
        ]);
      });
    });
    const before = set.window.outside.length;
    for (const [name, text] of Object.entries(HOSTILE_ANSWERS)) {
      await showRows(frame, [
        {
          kind: "answer",
          id: "a:1",
          version: Date.now(),
          turnId: "1",
          model: "hostile",
          state: "done",
          text,
          thoughts: text.slice(0, 1_000),
          tools: [],
          attempt: 1,
        },
      ]);
      const found = await frame.evaluate(() => ({
        stolen: Reflect.get(window, "stolen") as unknown,
        violations: Reflect.get(window, "violations") as unknown,
        wide: document.documentElement.scrollWidth > window.innerWidth,
        composer: document.querySelector("textarea.prompt")?.checkVisibility() ?? false,
        foreign: document.querySelectorAll(
          "script[src*=outside], iframe, object, embed, img, video, audio, link[href*=outside], base, [onerror], [onload], [style*=url]",
        ).length,
      }));
      expect(found, name).toEqual({
        stolen: undefined,
        violations: undefined,
        wide: false,
        composer: true,
        foreign: 0,
      });
    }
    expect(set.window.outside.slice(before)).toEqual([]);
  });

  for (const theme of Object.keys(THEMES) as Theme[]) {
    // Object.keys forgets the names' type
    test(`pictures and accessibility: ${theme}`, { timeout: 180_000 }, async () => {
      await set.window.theme(theme);
      const source = readFileSync(join(client, "node_modules/axe-core/axe.min.js"), "utf8");
      const violations: string[] = [];
      for (const width of WIDTHS) {
        await set.window.panelWidth(width);
        const folder = join(artifacts, "panel", theme, String(width));
        mkdirSync(folder, { recursive: true });
        for (const name of ALL) {
          await show(frame, name);
          await picture(frame, join(folder, `${inFileName(name)}.png`));
          if (width !== WIDTHS[0] || !LOOKED_INTO.includes(name)) continue;
          await frame.evaluate(source);
          violations.push(...(await frame.evaluate(findViolations)).map((violation) => `${name}: ${violation}`));
        }
      }
      expect(violations).toEqual([]);
    });
  }

  async function picture(of: Frame, path: string): Promise<void> {
    const element = await of.frameElement();
    await element.screenshot({ path });
  }
});

/** Runs in the page. */
async function findViolations(): Promise<string[]> {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
  );
}
