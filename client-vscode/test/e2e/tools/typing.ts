/** Somebody types on while a question comes: no key of theirs is an answer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, question, read, remove, told } from "./workshop.js";

/** How often; `COMPANION_RANDOM_TIMES=100` for a long run. */
const TIMES = Number(process.env["COMPANION_RANDOM_TIMES"] ?? 2);
const KEYS_BEFORE = 20;
const KEYS = 200;
/** What answers a question for who went to it, and what is typed anyway. Keys that lead elsewhere (Tab, Escape, arrows) are tried in the page. */
const TYPED = ["y", "Y", "n", "a", "e", "d", "1", "2", "3", "9", "Enter", "Enter", "Space", "x", ".", "s"];

const AGREED = "agreed.txt";
const ASKED = [
  calls("run_shell_command", { command: `echo yes >> ${AGREED}` }),
  calls("replace", { file_path: "README.md", old_string: "# Tally", new_string: "# Agreed" }),
] as const;

export function typing(set: Stage): void {
  const random = randoms(26);
  const typeKeys = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1)
      await set.window.page.keyboard.press(TYPED[Math.floor(random() * TYPED.length)] ?? "y");
  };
  const places = {
    composer: (panel: Panel) => panel.composer.click(),
    editor: () => set.window.activeEditor.locator(".view-lines").click(),
  };

  test.each(["composer", "editor"] as const)(
    "no key that is typed in the %s answers a question that comes meanwhile",
    async (place) => {
      for (let time = 0; time < TIMES; time += 1) {
        remove(set, AGREED);
        const asked = ASKED[time % ASKED.length] ?? ASKED[0];
        const panel = await chatWith(set, [{ pieces: ["I ask. ", { gate: "asks" }, asked] }, { pieces: ["Well."] }]);
        const readme = read(set, "README.md");
        await panel.send("Do it.");
        await set.emulator.reached("asks");
        await places[place](panel);
        await typeKeys(KEYS_BEFORE);
        await Promise.all([set.emulator.release("asks"), typeKeys(KEYS)]);
        const shown = question(panel, /./);
        await shown.waitFor();
        await typeKeys(KEYS_BEFORE);
        if (time === 0) await keepPicture(set, "tools", `typed-${place}`);
        expect(await shown.isVisible(), "it waits still").toBe(true);
        expect(unasked(set, readme), `the ${time + 1}. time`).toBe(true);
        await leave(panel);
        expect(unasked(set, readme), "and nothing is done afterwards").toBe(true);
        await set.window.openFile("tokenizer.py");
        await set.window.command("File: Revert File");
      }
    },
    TIMES * 60_000 + 120_000,
  );

  test("who goes to a question by its key comes to No, and says it with Enter", async () => {
    const panel = await chatWith(set, [{ pieces: ["I ask. ", ASKED[1]] }, { pieces: ["As you like."] }]);
    const readme = read(set, "README.md");
    await panel.send("Do it.");
    const shown = question(panel, /./);
    await shown.waitFor();
    await set.window.activeEditor.locator(".view-lines").click();
    await set.window.page.keyboard.press("Control+Alt+Y");
    const no = shown.getByRole("button", { name: "No", exact: true });
    await patiently(
      "No has the focus",
      async () => (await no.evaluate((one) => one === document.activeElement)) || undefined,
    );
    await keepPicture(set, "tools", "gone-to");
    await patiently("it is answered", async () => {
      await set.window.page.keyboard.press("Enter");
      return patiently("the question goes", async () => (await shown.count()) === 0 || undefined, 2_000);
    });
    await panel.answers.getByText("As you like.").waitFor();
    await panel.isIdle();
    expect(read(set, "README.md")).toBe(readme);
    expect(await told(set)).toMatch(/declined|refus|not/i);
  });
}

/** Nothing that was asked for has been done. */
function unasked(set: Stage, readme: string): boolean {
  return read(set, "README.md") === readme && !existsSync(join(set.server.workspace, AGREED));
}

/** Ends the turn without an answer. */
async function leave(panel: Panel): Promise<void> {
  await panel.stop.click();
  await panel.isIdle();
}

/** Numbers from 0 to 1 that are the same in every run. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
