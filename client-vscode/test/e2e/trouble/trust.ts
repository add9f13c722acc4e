/** A workspace that the person does not trust yet. */
import { expect, test } from "vitest";
import type { Stage } from "../support/stage.js";
import { below, picture } from "./seeing.js";

const SECRET_OF_NOTES = "nine milliseconds";
const NOT_TRUSTED = "This workspace is not trusted.";

export function trust(set: Stage): void {
  test("before trust no file is read for @; once it is granted the notice goes, an answer goes on, and the file goes along", async () => {
    const panel = await set.newChat();
    await below(panel).getByText(NOT_TRUSTED).waitFor();
    await set.emulator.script([{ pieces: ["I see nothing."] }]);
    await panel.send('Look at @"notes/a file with spaces.md"');
    const question = panel.frame.getByRole("alertdialog");
    await question.getByText(/the workspace is not trusted/).waitFor();
    await picture(set, "restricted-question");
    await question.getByRole("button", { name: "Send Anyway" }).click();
    await panel.answers.getByText("I see nothing.").waitFor();
    await panel.isIdle();
    const asked = (await set.emulator.requests("streamGenerateContent")).at(-1);
    expect(asked?.text).toContain("Look at");
    expect(asked?.text).not.toContain(SECRET_OF_NOTES);
    await picture(set, "restricted");
    await panel.prompts.last().getByText(/^Sent/).click();
    await panel.prompts
      .last()
      .getByText(/the workspace is not trusted/)
      .first()
      .waitFor();
    await picture(set, "restricted-receipt");

    // What the model reads for itself is read unasked; the notice says that it may, and the answer what was read.
    await below(panel)
      .getByText(/Gemini may read files when it needs them/)
      .waitFor();
    await set.emulator.script([
      { pieces: [{ call: "read_file", args: { file_path: "src/tokenizer.py" } }] },
      { pieces: ["I have read it."] },
    ]);
    await panel.ask("What does it do?", "I have read it.");
    const told = (await set.emulator.requests("streamGenerateContent")).at(-1);
    expect(JSON.stringify(told?.responses)).toContain("isspace");
    await panel.answers.last().getByText("Read src/tokenizer.py").waitFor();
    await picture(set, "restricted-read");

    await panel.frame.evaluate(() => (document.body.dataset["witness"] = "the same page"));
    // An answer that is being made meanwhile goes on: the daemon stays.
    const daemons = set.server.daemons().map(({ pid }) => pid);
    await set.emulator.script([{ pieces: ["It begins. ", { gate: "trusting" }, "It ends."] }]);
    await panel.send("Take your time.");
    await set.emulator.reached("trusting");
    await below(panel).getByRole("button", { name: "Manage Trust" }).click();
    await set.window.page.locator(".workspace-trust-editor").waitFor();
    await picture(set, "manage-trust");
    await set.window.page
      .locator(".workspace-trust-editor")
      .getByRole("button", { name: "Trust", exact: true })
      .click();
    await below(panel).getByText(NOT_TRUSTED).waitFor({ state: "hidden" });
    await set.window.command("View: Close Editor");
    await set.emulator.release("trusting");
    await panel.answers.getByText("It begins. It ends.").waitFor();
    await panel.isIdle();
    expect(set.server.daemons().map(({ pid }) => pid)).toEqual(daemons);
    await picture(set, "trusted");
    expect(await panel.frame.evaluate(() => document.body.dataset["witness"])).toBe("the same page");
    const again = await set.ask(panel, 'Look again at @"notes/a file with spaces.md"', "I see it.");
    expect(again.text).toContain(SECRET_OF_NOTES);
  });
}
