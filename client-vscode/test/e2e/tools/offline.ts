/** The built-in model, without any key. */
import { expect, test } from "vitest";
import { keepPicture, type Stage } from "../support/stage.js";
import { press, question, read, row } from "./workshop.js";

export function offline(set: Stage): void {
  test("where is a name used: it searches, and says where", async () => {
    const panel = await set.newChat();
    await panel.ask("Where is tokens used?", "report.py");
    await row(panel, /^Search for .*tokens/).waitFor();
    await keepPicture(set, "tools", "offline-search");
  });

  test("run a line: it asks first, and shows what came of it", async () => {
    const panel = await set.newChat();
    await panel.send("run `echo one > made.txt && cat made.txt`");
    const asked = question(panel, /Run echo one/);
    await asked.getByText(/[Ss]andbox/).waitFor();
    await keepPicture(set, "tools", "offline-asked");
    await press(asked, "Yes");
    await panel.isIdle();
    await row(panel, /^Run echo one/)
      .getByText(/exit code 0/)
      .waitFor();
    await panel.answers.getByText(/^I ran/).waitFor();
    await keepPicture(set, "tools", "offline-ran");
    expect(read(set, "made.txt")).toBe("one\n");
  });
}
