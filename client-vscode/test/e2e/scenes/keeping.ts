/** Nothing that matters is lost, and it can be seen: rules, what a compression kept and where it comes from, recall over all chats. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { snapshot, summarised } from "../support/snapshots.js";
import { inFileName, keepPicture, type Stage } from "../support/stage.js";
import { sentences } from "../support/texts.js";

const RULE = "Never touch the folder generated/.";

export function keeping(set: Stage): void {
  describe("keeping what matters", () => {
    let panel: Panel;
    beforeEach(async () => {
      panel = await set.newChat();
    });

    /** The message that has the focus says this, somewhere. */
    const isShown = (words: string): Promise<true> =>
      patiently(
        `the place that says “${words}” has the focus`,
        async () =>
          (await panel.frame.evaluate(() => document.activeElement?.closest("article")?.textContent ?? "")).includes(
            words,
          ) || undefined,
      );

    test("a rule of a prompt is shown under it and goes along, until it is released; the list takes it back in", async () => {
      const { text } = await set.ask(panel, `${RULE} What does tokenizer.py do?`, "It splits texts.");
      expect(text).toContain(RULE);
      const rules = panel.prompts.first().getByRole("list", { name: "Rules of this prompt" });
      await rules.getByText("Rule kept:").waitFor();
      await panel.button("1 rule").waitFor();
      await rules.getByRole("button", { name: /^Release: / }).click();
      await rules.getByText("Not a rule:").waitFor();
      await panel.button("1 rule").waitFor({ state: "hidden" });

      await set.window.command("Gemini: Rules…");
      const list = panel.frame.getByRole("dialog", { name: "Rules" });
      await list.getByText("Not in force (1)").click();
      await list.getByRole("button", { name: /^Keep: Never touch/ }).click();
      await list.getByRole("list", { name: "Rules in force" }).getByText(RULE).waitFor();
      await set.window.page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      await rules.getByText("Rule kept:").waitFor();
    });

    test("a rule that is written in the list holds, and one from a prompt leads back to it", async () => {
      await set.ask(panel, `${RULE} What does tokenizer.py do?`, "It splits texts.");
      await set.window.command("Gemini: Rules…");
      const list = panel.frame.getByRole("dialog", { name: "Rules" });
      const field = list.getByRole("textbox", { name: "New rule" });
      await patiently("the rule stands in the field", async () => {
        await field.fill("Answer in one sentence.");
        return (await field.inputValue()) === "Answer in one sentence." || undefined;
      });
      await field.press("Enter");
      await list.getByRole("list", { name: "Rules in force" }).getByText("Answer in one sentence.").waitFor();
      await list.getByRole("button", { name: /^Show the prompt of: Never touch/ }).click();
      await isShown(RULE);
      expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain("Answer in one sentence.");
    });

    test("the divider says what was kept and what was not, and a line of the snapshot leads to its turn", async () => {
      await talk(set, panel);
      await set.emulator.script(SUMMARISED, "snapshot");
      await set.window.command("Gemini: Compress Chat");
      const done = panel.divider(/Chat compressed/);
      const facts = done.getByText(/^Kept \d+ of \d+ (facts|statements)/);
      await facts.click();
      await done.getByText(/^(\d+ facts? (is|are) missing|Nothing that was counted is missing\.)$/).waitFor();
      await panel.isIdle();

      await done.getByRole("button", { name: "View snapshot" }).click();
      const line = set.window.activeEditor.locator(".view-line", { hasText: "keeps its buffer" });
      const link = line.locator(".detected-link").first();
      await patiently("a line of the snapshot leads to its source", async () => {
        await link.click({ modifiers: ["Control"], timeout: 5_000 });
        await isFocused(panel);
        return true;
      });
      await isShown("Answer 1. The tokenizer keeps its buffer");
      await panel.frame
        .getByText("1 earlier turn is no longer sent to Gemini")
        .or(panel.frame.getByText(/earlier turns are no longer sent/))
        .first()
        .waitFor();
    });

    test("what was said in another chat is found by its words, and opened at its place", async () => {
      await set.ask(panel, "The word for the release of the parser is kookaburra.", "Noted.");
      panel = await set.newChat();
      await set.ask(panel, "What does report.py print?", "How often words occur.");
      await set.window.command("Gemini: Recall…");
      const field = panel.frame.getByRole("searchbox", { name: "Search in all chats" });
      await patiently("the words stand in the field", async () => {
        await field.fill("word for the parser's release");
        return (await field.inputValue()) === "word for the parser's release" || undefined;
      });
      const hits = panel.frame.getByRole("list", { name: "Said in chats" });
      await hits
        .getByText(/kookaburra/)
        .first()
        .waitFor();
      await field.press("Enter");
      await isShown("kookaburra");
      await panel.prompts.getByText("What does report.py print?").waitFor({ state: "hidden" });
    });

    test("everything up to a turn is compressed, after a preview", async () => {
      await talk(set, panel);
      await set.emulator.script(SUMMARISED, "snapshot");
      await compressAt("Question 1:", "Compress up to here");
      const { text } = await set.ask(panel, "And now?", "It goes on.");
      expect(text).toContain("user: Question 1:"); // quoted beside the snapshot
      expect(text).toContain("Question 2:");
      expect(text).not.toContain("user: Question 2:");
    });

    test("a turn and everything after it is compressed, after a preview", async () => {
      await talk(set, panel);
      await set.emulator.script(SUMMARISED, "snapshot");
      await compressAt("Question 2:", "Compress from here");
      await keepPicture(set, "keeping", "from-here");
      const { text } = await set.ask(panel, "And now?", "It goes on.");
      expect(text).toContain("Question 1:");
      expect(text).toContain("Answer 1.");
      expect(text).not.toContain("user: Question 1:");
      expect(text).toContain("user: Question 2:"); // quoted beside the snapshot
      expect(text.indexOf("Answer 1."), "the snapshot stands where they stood").toBeLessThan(
        text.lastIndexOf("The user mends the tokenizer"),
      );
    });

    /** Presses a button of the menu at a prompt, then applies the preview that comes of it. */
    async function compressAt(words: string, button: string): Promise<void> {
      await panel.composer.press("Shift+Tab");
      const prompt = panel.prompts.filter({ hasText: words });
      await patiently("the prompt is on the page", async () => {
        if ((await prompt.count()) > 0) return true;
        await set.window.page.keyboard.press("Home");
        return undefined;
      });
      await prompt.getByText("⋯").click();
      await prompt.getByRole("button", { name: button }).click();
      const preview = panel.divider(/Preview of a compression/);
      await preview.getByRole("button", { name: "Apply" }).waitFor();
      expect(await panel.divider(/Chat compressed/).count()).toBe(0);
      await keepPicture(set, "keeping", inFileName(`preview-${button}`));
      await preview.getByRole("button", { name: "Apply" }).click();
      await panel.divider(/Chat compressed/).waitFor();
      await panel.isIdle();
    }
  });
}

/** A chat that is long enough for a compression to be worth it. */
async function talk(set: Stage, panel: Panel): Promise<void> {
  await set.emulator.script(
    [1, 2, 3].map((turn) => ({
      pieces: [`Answer ${turn}. ${sentences("The tokenizer keeps its buffer until a space comes")}`],
    })),
  );
  for (const turn of [1, 2, 3])
    await panel.ask(
      `Question ${turn}: look at src/part_${turn}.py. ${"What happens to the last word of a text? ".repeat(40)}`,
      `Answer ${turn}.`,
    );
}

/** The panel, and not the editor, has the keyboard. */
async function isFocused(panel: Panel): Promise<void> {
  await patiently(
    "a message has the focus",
    async () => (await panel.frame.evaluate(() => document.activeElement?.closest("article") !== null)) || undefined,
    5_000,
  );
}

const SUMMARISED = summarised(
  snapshot({
    key_knowledge: "- The tokenizer keeps its buffer until a space comes. [c0, c1]",
    artifact_trail: "- src/part_1.py",
  }),
);
