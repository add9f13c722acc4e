/** What a person decides of a compression: how it is made, and whether it starts by itself. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import { snapshot, summarised } from "../support/snapshots.js";
import { settingInForce } from "../support/settingInForce.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { sentences } from "../support/texts.js";

export function deciding(set: Stage): void {
  /** Writes the folder's settings; without any they are as they come. */
  const write = (settings: Readonly<Record<string, unknown>>): void => {
    const folder = join(set.server.workspace, ".vscode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
  };
  afterEach(() => rmSync(join(set.server.workspace, ".vscode"), { recursive: true, force: true }));

  describe("the strategy", () => {
    let panel: Panel;
    beforeEach(async () => {
      panel = await set.newChat();
    });

    test("chosen in the palette for one compression: it is made so, and its row says so", async () => {
      await talk(set, panel);
      await set.emulator.script(SUMMARISED, "snapshot");
      await set.window.command("Gemini: Compress Chat with Guidance…");
      await set.window.quickInput.getByText("Only what you wrote stays word for word").waitFor();
      await keepPicture(set, "deciding", "strategies");
      await set.window.pick("Your prompts");
      await set.window.answer("What should the snapshot keep above all?", "the buffer of the tokenizer");
      await says(panel, "Strategy: Your prompts");
      await keepPicture(set, "deciding", "your-prompts");
      const asked = (await set.emulator.requests("generateContent")).find(({ text }) => text.includes("the buffer of"));
      expect(asked, "the guidance went along").toBeDefined();
      const { text } = await set.ask(panel, "And now?", "It goes on.");
      expect(text).toContain("Question 1:");
      expect(text).not.toContain("Answer 1.");
    });

    test("chosen from the panel's pop-up, and put away: nothing happens", async () => {
      await talk(set, panel);
      await panel.meter.click();
      await panel.frame
        .getByRole("dialog", { name: "Context" })
        .getByRole("button", { name: "Compress with Guidance…" })
        .click();
      await set.window.quickInput.getByText("As the settings say").waitFor();
      await set.window.page.keyboard.press("Escape");
      await set.window.quickField.waitFor({ state: "hidden" });
      expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain("Answer 1.");
      expect(await panel.divider(/ompress/).count()).toBe(0);
    });

    test("set for the folder: a compression without a model asks none, and its row says so", async () => {
      write({ "geminiCompanion.compression.strategy": "assemble" });
      await settingInForce(set, "companion.compression.strategy", "assemble");
      await talk(set, panel);
      await set.window.command("Gemini: Compress Chat");
      await says(panel, "Strategy: Assemble");
      await keepPicture(set, "deciding", "assemble");
      const asked = await set.emulator.requests("generateContent");
      expect(asked.filter(({ system }) => system.includes("state_snapshot"))).toEqual([]);
      const { text } = await set.ask(panel, "And now?", "It goes on.");
      expect(text, "a snapshot quotes").toContain("<state_snapshot>");
      expect(text).not.toContain("Answer 1. The tokenizer keeps its buffer until a space comes. The tokenizer keeps");
    });
  });

  describe("reminding", () => {
    test("at the threshold the panel says what a compression would bring, and waits for the button", async () => {
      write({ "geminiCompanion.compression.mode": "remind", "geminiCompanion.compression.tokenCap": 3_000 });
      const panel = await set.newChat();
      await talk(set, panel);
      await panel.button(/a reminder to compress at 3,000/).waitFor();
      const due = panel.frame.getByText("This chat is long enough to be compressed.");
      await due.first().waitFor();
      const numbers =
        /it would save some [\d,]+ tokens a turn over about \d+ more, for [\d,]+ tokens of summary and [\d,]+ of lost cache/;
      const hint = panel.frame.getByText(numbers).first();
      await hint.waitFor();
      await keepPicture(set, "deciding", "due");
      const told = await hint.innerText();
      await panel.meter.click();
      const dialog = panel.frame.getByRole("dialog", { name: "Context" });
      await dialog.getByText("You are reminded to compress at 3,000 tokens.").waitFor();
      await dialog.getByText(told).waitFor();
      await keepPicture(set, "deciding", "due-meter");
      await set.window.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      expect(await panel.divider(/ompress/).count(), "nothing was compressed").toBe(0);

      await panel.button("Later").click();
      await due.first().waitFor({ state: "hidden" });
      await talk(set, panel, 4);
      await due.first().waitFor();
      await set.emulator.script(SUMMARISED, "snapshot");
      await panel.button("Compress").click();
      await panel.divider(/Chat compressed/).waitFor();
      await panel.isIdle();
      await keepPicture(set, "deciding", "after-reminder");
      expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain("user: Question 1:"); // quoted
    });
  });
}

/** The newest row tells of a compression, and this among its details. */
async function says(panel: Panel, words: string): Promise<void> {
  const done = panel.divider(/Chat compressed/);
  await done.getByText(/^(Kept \d+ of \d+ (facts|statements)|Details)/).click();
  await done.getByText(words).waitFor();
  await panel.isIdle();
}

/** Three turns, with numbers from `first` on, that are long enough for a compression to be worth it. */
export async function talk(set: Stage, panel: Panel, first = 1): Promise<void> {
  const turns = [first, first + 1, first + 2];
  await set.emulator.script(
    turns.map((turn) => ({
      pieces: [`Answer ${turn}. ${sentences("The tokenizer keeps its buffer until a space comes")}`],
    })),
  );
  for (const turn of turns)
    await panel.ask(
      `Question ${turn}: look at src/part_${turn}.py. ${"What happens to the last word of a text? ".repeat(40)}`,
      `Answer ${turn}.`,
    );
}

export const SUMMARISED = summarised(snapshot({ artifact_trail: "- src/part_1.py" }));
