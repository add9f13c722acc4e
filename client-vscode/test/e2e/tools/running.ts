/** What the chat runs. */
import { expect, test } from "vitest";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, hasText, inMode, MENDS, press, question, row, RUN_TESTS, told } from "./workshop.js";

const RUNS = calls("run_shell_command", { command: RUN_TESTS });

export function running(set: Stage): void {
  test("tests run after a yes, fail, are mended in the mode that accepts edits, and run again by the rule", async () => {
    const panel = await chatWith(set, [
      { pieces: ["I run the tests. ", RUNS] },
      { pieces: ["They fail."] },
      { pieces: ["I mend it. ", MENDS] },
      { pieces: ["Now again. ", RUNS] },
      { pieces: ["They pass."] },
    ]);
    await panel.send("Do the tests pass?");
    const asked = question(panel, /Run make test/);
    await asked.getByRole("group", { name: "Command" }).getByText(RUN_TESTS).waitFor();
    await asked.getByText(/[Ss]andbox/).waitFor();
    await press(asked, "Always…", asked.getByRole("textbox", { name: /^Allow this command alone/ }));
    await keepPicture(set, "tools", "command-asked");
    await press(asked, "Allow in This Chat");
    await ends(panel, "They fail.");
    const ran = row(panel, /^Run make test/).first();
    await ran.getByText(/exit code 2/).waitFor();
    await ran.locator("summary").click();
    await ran
      .getByRole("group", { name: "Output" })
      .getByText(/FAILED/)
      .waitFor();
    await keepPicture(set, "tools", "command-failed");
    expect(await told(set)).toContain("FAILED");

    await inMode(panel, "Accept edits");
    await panel.send("Mend it.");
    await ends(panel, "They pass.");
    await hasText(set, "src/tokenizer.py", "    if buffer:\n        yield");
    expect(await question(panel, /./).count(), "nothing was asked").toBe(0);
    await set.window.command("Gemini: Show Tool Rules");
    const rules = panel.frame.getByRole("dialog", { name: "Tool rules" });
    const rule = rules.getByRole("listitem").filter({ hasText: RUN_TESTS });
    await rule.getByText("in this chat").waitFor();
    await keepPicture(set, "tools", "rules");
    await rule.getByRole("button", { name: /^Revoke: / }).press("Enter");
    await rule.waitFor({ state: "detached" });
    await rules.press("Escape");
    await rules.waitFor({ state: "detached" });
    await keepPicture(set, "tools", "command-passed");
    expect(await told(set)).toContain("OK");
  });

  test("a command's output comes live; it is stopped from its row, and the turn goes on", async () => {
    const panel = await chatWith(set, [
      {
        pieces: [
          "I wait. ",
          calls("run_shell_command", { command: "for i in 1 2 3; do echo line $i; done; sleep 600" }),
        ],
      },
      { pieces: ["It was stopped."] },
    ]);
    await panel.send("Wait.");
    await press(question(panel, /Run for/), "Yes");
    const ran = row(panel, /^Run for/);
    await ran.locator("summary").click();
    await ran.getByRole("group", { name: "Output" }).getByText("line 3").waitFor();
    await keepPicture(set, "tools", "command-live");
    await ran.getByRole("button", { name: /^Stop: / }).click();
    await ends(panel, "It was stopped.");
    await keepPicture(set, "tools", "command-stopped");
    expect(await told(set)).toMatch(/stopped|cancel|interrupted/i);
  });

  test("a turn that is stopped half way says so on its row, and nothing runs on", async () => {
    const panel = await chatWith(set, [
      { pieces: ["I wait. ", calls("run_shell_command", { command: "echo begun && sleep 601" })] },
    ]);
    await panel.send("Wait.");
    await press(question(panel, /Run echo/), "Yes");
    const ran = row(panel, /^Run echo/);
    await ran.locator("summary").click();
    await ran.getByRole("group", { name: "Output" }).getByText("begun").waitFor();
    await panel.stop.click();
    await panel.isIdle();
    await ran
      .getByText(/interrupted|stopped/)
      .first()
      .waitFor();
    await keepPicture(set, "tools", "turn-stopped");
    await set.emulator.script([{ pieces: ["On we go."] }]);
    await panel.ask("Go on.", "On we go.");
  });
}
