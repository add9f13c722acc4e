/** The mode in which nothing is changed until a plan is approved. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, hasText, inMode, MENDS, press, question, read, row } from "./workshop.js";

const PLAN = "1. Give the last buffer after the loop.\n2. Run the tests.";

export function planning(set: Stage): void {
  test("while it plans nothing is changed; a plan is read and approved, and carried out in the mode that was chosen", async () => {
    const panel = await chatWith(set, [
      { pieces: ["I write. ", calls("write_file", { file_path: "notes/early.md", content: "early\n" })] },
      { pieces: ["Then a plan. ", calls("exit_plan_mode", { plan: PLAN })] },
      { pieces: ["Now. ", MENDS] },
      { pieces: ["It is carried out."] },
    ]);
    await inMode(panel, "Plan");
    await panel.send("Mend the tokenizer.");
    const asked = question(panel, /Carry out this plan/);
    await asked.getByText("Give the last buffer after the loop.").waitFor();
    await row(panel, /notes\/early\.md/)
      .getByText("not done · plan mode")
      .waitFor();
    expect(existsSync(join(set.server.workspace, "notes/early.md")), "nothing is written").toBe(false);
    expect(read(set, "src/tokenizer.py")).not.toContain('    if buffer:\n        yield "".join(buffer)\n\n');
    await keepPicture(set, "tools", "plan");
    await press(asked, "Yes, and change files without asking");
    await ends(panel, "It is carried out.");
    await panel.button("Mode: Accept edits").waitFor();
    await hasText(set, "src/tokenizer.py", "\n    if buffer:\n        yield");
    await keepPicture(set, "tools", "plan-done");
  });
}
