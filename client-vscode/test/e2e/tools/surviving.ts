/** The window is reloaded, or the daemon is killed, while a question waits or a command runs: nothing runs twice. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, expectLines, hasText, press, question, remove, row, told } from "./workshop.js";

const RAN = "runs.txt";
const RUNS_ONCE = calls("run_shell_command", { command: `echo ran >> ${RAN}` });

export function surviving(set: Stage): void {
  test("a question that waits while the window is reloaded comes again, or its row says that it was interrupted: nothing runs unasked", async () => {
    remove(set, RAN);
    let panel = await chatWith(set, [{ pieces: ["I run it. ", RUNS_ONCE] }, { pieces: ["It ran."] }]);
    await panel.send("Run it.");
    await question(panel, /Run echo/).waitFor();
    await set.window.reload();
    panel = new Panel(await set.window.showPanel());
    const again = question(panel, /Run echo/);
    const interrupted = row(panel, /^Run echo/).getByText(/interrupted/);
    await again.or(interrupted).first().waitFor();
    await keepPicture(set, "tools", "reloaded");
    expect(existsSync(join(set.server.workspace, RAN))).toBe(false);
    if (!(await again.isVisible())) return;
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
    await keepPicture(set, "tools", "killed-running");
    await panel.ask("Go on.", "I look first.");
    expect(await told(set)).toContain("what it did is unknown");
    expectLines(set, RAN, 1);
    await keepPicture(set, "tools", "gone-on");
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
