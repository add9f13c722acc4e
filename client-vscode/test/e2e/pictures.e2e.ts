/** The pictures of the README, made anew under `artifacts/pictures`; who changes what they show copies them to `media/pictures`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { beforeAll, test } from "vitest";
import type { Panel } from "./support/panel.js";
import { artifacts } from "./support/places.js";
import { snapshot, summarised } from "./support/snapshots.js";
import { stage } from "./support/stage.js";
import { sentences } from "./support/texts.js";

const set = stage("pictures", { emulator: true });
const folder = join(artifacts, "pictures");
beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  const settings = join(set.server.folder, "home/.gemini");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ model: { tokenLimit: 20_000 } }));
});

test("the panel beside the code, the meter's pop-up, a compressed chat", async () => {
  const { page } = set.window;
  await page.setViewportSize({ width: 1200, height: 800 });
  const panel = await set.newChat();
  await set.window.command("View: Toggle Primary Side Bar Visibility");
  await set.window.panelWidth(440);
  await set.window.selectLines(7, 13);
  await panel.chips.getByText("tokenizer.py:7-13").waitFor();
  await set.emulator.script([{ pieces: [ANSWER] }]);
  await panel.ask("Why does it drop the last word? Never rename tokens().", "Add a test");
  await panel.prompts.last().getByText("Rule kept:").waitFor();
  await panel.button("1 rule").waitFor();
  await page.mouse.move(600, 600); // off the edge that was dragged
  await page.locator(".monaco-sash.hover").waitFor({ state: "detached" });
  await page.screenshot({ path: join(folder, "panel.png") });

  const notes = ["src/tokenizer.py", "src/report.py", "src/parser.py", "README.md"];
  await set.emulator.script(
    notes.map((file) => ({
      pieces: [`In ${file} ${sentences("a word ends where a space comes", file === "README.md" ? 6 : 150)}`],
    })),
  );
  for (const file of notes)
    await panel.ask(
      `And ${file}? ${"Tell me where a word ends, and what is done with the last one. ".repeat(8)}`,
      `In ${file}`,
    );
  await panel.meter.click();
  const dialog = panel.frame.getByRole("dialog", { name: "Context" });
  await dialog.getByRole("table").first().waitFor();
  await dialog.getByText(/^(Worth it|Not worth it)/).waitFor();
  await crop(panel, "meter", dialog);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });

  await set.emulator.script(summarised(SNAPSHOT), "snapshot");
  await set.window.command("Gemini: Compress Chat");
  const done = panel.divider(/Chat compressed/);
  await done.waitFor();
  await panel.isIdle();
  await crop(panel, "compression");
});

test("what is asked before a command runs", async () => {
  await set.window.page.setViewportSize({ width: 1200, height: 800 });
  const panel = await set.newChat();
  await set.window.panelWidth(440);
  const command = "cat src/tokenizer.py && make test";
  await set.emulator.script([
    { pieces: ["The last word counts now. I run the tests. ", { call: "run_shell_command", args: { command } }] },
  ]);
  await panel.send("Mend it, and run the tests.");
  const asked = panel.frame.getByRole("group", { name: /^Gemini asks: / });
  await asked.getByRole("button", { name: "Yes", exact: true }).waitFor();
  // The folder of the run is nobody's.
  await asked.getByText(/^in \//).evaluate((facts) => {
    facts.textContent = facts.textContent.replace(/^in \S+\/tally/, "in ~/tally");
  });
  await crop(panel, "question", asked);
  await panel.stop.click();
  await panel.isIdle();
});

/** The panel, as far down as `last` reaches. */
async function crop(panel: Panel, name: string, last?: Locator): Promise<void> {
  const bar = await set.window.page.locator(".part.auxiliarybar").boundingBox();
  const end = await last?.boundingBox();
  if (bar === null || end === null) throw new Error("There is nothing to show.");
  const height = end === undefined ? bar.height : end.y + end.height - bar.y + 16;
  await panel.composer.evaluate((field) => field.blur());
  await set.window.page.screenshot({ path: join(folder, `${name}.png`), clip: { ...bar, height } });
}

const ANSWER = `The loop ends before the rest of the buffer is handed out, so the **last word** is dropped unless a space follows it.

\`\`\`python
def tokens(text):
    buffer = []
    for character in text + " ":
        if not character.isspace():
            buffer.append(character)
        elif buffer:
            yield "".join(buffer)
            buffer = []
\`\`\`

Add a test for a text with no newline at its end.`;

const SNAPSHOT = snapshot({
  overall_goal: "The last word of a text comes out of the tokenizer.",
  active_constraints: "- Never rename tokens().",
  key_knowledge: "- The loop ends before the rest of the buffer is handed out.",
  artifact_trail: "- src/tokenizer.py, src/report.py, src/parser.py, README.md",
  recent_actions: "- Five questions were answered.",
  task_state: "1. [TODO] Add a test for a text with no newline at its end.",
});
