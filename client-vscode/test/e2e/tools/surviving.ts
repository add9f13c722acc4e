/** The window is reloaded, or the daemon is killed, while a question waits or a command runs: nothing runs twice. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import {
  calls,
  chatWith,
  ends,
  expectLines,
  hasText,
  inMode,
  MENDED,
  MENDS,
  press,
  question,
  read,
  remove,
  row,
  told,
} from "./workshop.js";

const RAN = "runs.txt";
const RUNS_ONCE = calls("run_shell_command", { command: `echo ran >> ${RAN}` });

export function surviving(set: Stage): void {
  test("a question that waits while the window is reloaded comes again, and its call runs once, with the yes", async () => {
    remove(set, RAN);
    let panel = await chatWith(set, [{ pieces: ["I run it. ", RUNS_ONCE] }, { pieces: ["It ran."] }]);
    await panel.send("Run it.");
    await question(panel, /Run echo/).waitFor();
    await set.window.reload();
    panel = new Panel(await set.window.showPanel());
    const again = question(panel, /Run echo/);
    await again.getByRole("button", { name: "Yes", exact: true }).waitFor();
    await keepPicture(set, "tools", "reloaded");
    expect(await row(panel, /^Run echo/).count(), "it is the row that it had").toBe(1);
    expect(existsSync(join(set.server.workspace, RAN)), "nothing runs unasked").toBe(false);
    await press(again, "Yes");
    await ends(panel, "It ran.");
    expectLines(set, RAN, 1);
  });

  test("a question that waits while the daemon is killed comes again, and its call runs once", async () => {
    remove(set, RAN);
    const panel = await chatWith(set, [{ pieces: ["I run it. ", RUNS_ONCE] }, { pieces: ["It ran."] }]);
    await panel.send("Run it.");
    await question(panel, /Run echo/).waitFor();
    await killDaemon(set);
    const again = question(panel, /Run echo/);
    await again.getByRole("button", { name: "Yes", exact: true }).waitFor();
    await keepPicture(set, "tools", "killed-asking");
    await press(again, "Yes");
    await ends(panel, "It ran.");
    expectLines(set, RAN, 1);
  });

  test("a command that runs while the daemon is killed is not run again: its row says what is known, and the model is told", async () => {
    remove(set, RAN);
    const panel = await chatWith(set, [
      { pieces: ["I run it. ", calls("run_shell_command", { command: `echo ran >> ${RAN}; sleep 602` })] },
      { pieces: ["I look first."] },
    ]);
    await panel.send("Run it.");
    await press(question(panel, /Run echo/), "Yes");
    await hasText(set, RAN, "ran");
    await killDaemon(set);
    const ran = row(panel, /^Run echo/);
    await ran.getByText(/unknown: the daemon was restarted/).waitFor();
    await panel.answers.getByText("The answer was interrupted.").waitFor();
    await keepPicture(set, "tools", "killed-running");
    await panel.answers.last().getByRole("button", { name: "Go On" }).click();
    await ends(panel, "I look first.");
    expect(await told(set)).toContain("what it did is unknown");
    expectLines(set, RAN, 1);
    expect(await panel.prompts.count(), "it is the same turn").toBe(1);
    expect(await panel.answers.getByRole("button", { name: "Go On" }).count()).toBe(0);
    await keepPicture(set, "tools", "gone-on");
  });

  test("a diff that is open while the daemon is killed closes; the question comes again, and the file is changed once", async () => {
    const panel = await chatWith(set, [{ pieces: ["I mend it. ", MENDS] }, { pieces: ["It is mended."] }]);
    await panel.send("Mend it.");
    const proposed = set.window.page.locator(".tab", { hasText: "proposed" });
    await press(question(panel, "Edit src/tokenizer.py"), "Open Diff", proposed);
    await killDaemon(set);
    await proposed.waitFor({ state: "detached" });
    const again = question(panel, "Edit src/tokenizer.py");
    await again.getByRole("button", { name: "Yes", exact: true }).waitFor();
    await keepPicture(set, "tools", "killed-in-diff");
    expect(read(set, "src/tokenizer.py"), "nothing is changed before the yes").not.toContain(MENDED);
    await press(again, "Open Diff", proposed);
    await set.window.command("Gemini: Accept Proposed Change");
    await ends(panel, "It is mended.");
    expect(read(set, "src/tokenizer.py").split(MENDED).length, "it is changed once").toBe(2);
    await proposed.waitFor({ state: "detached" });
  });

  test("a turn that was stopped is gone on with after the daemon was killed", async () => {
    remove(set, RAN);
    const panel = await chatWith(set, [
      { pieces: ["I run it. ", calls("run_shell_command", { command: `echo ran >> ${RAN}; sleep 603` })] },
      { pieces: ["I go on from there."] },
    ]);
    await panel.send("Run it.");
    await press(question(panel, /Run echo/), "Yes");
    await hasText(set, RAN, "ran");
    await panel.stop.click();
    await panel.isIdle();
    const goOn = panel.answers.last().getByRole("button", { name: "Go On" });
    await goOn.waitFor();
    await killDaemon(set);
    await panel.answers.getByText("Stopped. What came is kept above.").waitFor();
    await keepPicture(set, "tools", "killed-after-stop");
    await goOn.click();
    await ends(panel, "I go on from there.");
    expect(await told(set)).toMatch(/Interrupted by the user/);
    expectLines(set, RAN, 1);
  });

  test("what was gone back to stands after the daemon was killed: the copy of the chat, its prompt, the files", async () => {
    const panel = await chatWith(set, [
      { pieces: [calls("write_file", { file_path: "notes/one.md", content: "one\n" })] },
      { pieces: ["The first is done."] },
      { pieces: [MENDS] },
      { pieces: ["The second is done."] },
    ]);
    await inMode(panel, "Accept edits");
    await panel.send("The first.");
    await ends(panel, "The first is done.");
    await panel.send("The second.");
    await ends(panel, "The second is done.");
    await panel.prompts.last().getByRole("button", { name: "Go back to here…" }).click();
    await set.window.quickInput.getByText("Put back: src/tokenizer.py").first().waitFor();
    await set.window.pick("Chat and files");
    await panel.answers.getByText("The second is done.").waitFor({ state: "detached" });
    await patiently("the file is as it was", () => !read(set, "src/tokenizer.py").includes(MENDED) || undefined);
    await killDaemon(set);
    await panel.answers.getByText("The first is done.").waitFor();
    expect(await panel.answers.getByText("The second is done.").count()).toBe(0);
    expect(await panel.composer.inputValue()).toBe("The second.");
    expect(read(set, "notes/one.md"), "what was before the prompt stays").toBe("one\n");
    await keepPicture(set, "tools", "killed-after-going-back");
    await set.emulator.script([{ pieces: ["Another second."] }]);
    await panel.composer.press("Enter");
    await ends(panel, "Another second.");
    remove(set, "notes/one.md");
  });
}

/** Kills the daemon and waits for the next one. */
async function killDaemon(set: Stage): Promise<void> {
  const before = set.server.daemons();
  expect(before.length).toBe(1);
  for (const { pid } of before) process.kill(pid, "SIGKILL");
  await patiently(
    "another daemon runs",
    () => set.server.daemons().some(({ pid }) => pid !== before[0]?.pid) || undefined,
  );
}
