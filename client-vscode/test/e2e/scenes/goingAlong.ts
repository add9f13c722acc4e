/** What goes along with a prompt: the chip says it before, the request has it, the receipt says it after. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import type { Stage } from "../support/stage.js";

export function goingAlong(set: Stage): void {
  describe("going along", () => {
    let panel: Panel;
    beforeEach(async () => {
      panel = await set.newChat();
    });

    test("the text of the open file goes along whole, as chip and receipt say", async () => {
      await panel.chips.getByText("whole", { exact: true }).waitFor();
      const inFile = "if character.isspace():";
      const { text } = await set.ask(panel, "What does tokenizer.py do?", "It splits texts.");
      expect(text).toContain(inFile);
      await panel.prompts
        .last()
        .getByText(/^Sent: 1 file/)
        .click();
      await panel.prompts.last().getByText("whole").waitFor();
      const again = await set.ask(panel, "Again?", "As before.");
      expect(again.text.split(inFile), "nothing was sent twice").toHaveLength(text.split(inFile).length);
    });

    test("of a long file the lines around the cursor go along, the same on chip, request and receipt", async () => {
      const lines = Array.from({ length: 900 }, (_, index) => `value_${index + 1} = "${"x".repeat(40)}"`);
      writeFileSync(join(set.server.workspace, "src/long.py"), `${lines.join("\n")}\n`);
      await set.window.openFile("long.py");
      const said = /^lines 1–(\d+) of 900$/;
      const chip = panel.chips.getByText(said);
      await chip.waitFor();
      const last = Number(said.exec(await chip.innerText())?.[1]);
      const { text } = await set.ask(panel, "What are these?", "Values.");
      expect(text).toContain(`value_${last} = `);
      expect(text).not.toContain(`value_${last + 1} = `);
      await panel.prompts
        .last()
        .getByText(/^Sent: \d files?/)
        .click();
      await panel.prompts.last().getByText(`lines 1–${last} of 900`).waitFor();
      await set.window.command("View: Close Editor");
    });

    test("a mention of nothing is marked while it is written, and asked about before it is sent", async () => {
      await panel.composer.fill("Compare @nope/missing.py with this ");
      await panel.frame.getByText("@nope/missing.py: no such file or folder in the workspace").waitFor();
      await panel.composer.press("Enter");
      const question = panel.frame.getByRole("alertdialog");
      await question.getByRole("button", { name: "Cancel" }).click();
      expect(await set.emulator.requests("streamGenerateContent")).toEqual([]);
      expect(await panel.composer.inputValue()).toContain("@nope/missing.py");
      await set.emulator.script([{ pieces: ["There is none."] }]);
      await panel.composer.press("Enter");
      await question.getByRole("button", { name: "Send Anyway" }).click();
      await panel.answers.getByText("There is none.").waitFor();
      expect((await set.emulator.asked(1)).text).toContain("Compare @nope/missing.py");
    });
  });
}
