/** A settings file that cannot be read. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Stage } from "../support/stage.js";
import { picture } from "./seeing.js";

/** The fourth line ends without the comma that it needs. */
const BROKEN =
  '{\n  "model": {\n    "name": "gemini-2.5-pro",\n    "maxSessionTurns": 12\n    "compressionThreshold": 0.5\n  }\n}\n';

export function settingsFile(set: Stage): void {
  for (const [whose, folder] of [
    ["the person's", "home"],
    ["the workspace's", "tally"],
  ] as const) {
    test(`${whose} settings file is broken: the message says where, its button opens the file there, and a person may go on without it`, async () => {
      const panel = await set.newChat();
      const file = join(set.server.folder, folder, ".gemini/settings.json");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, BROKEN);
      const question = set.window.toast(`${file}:5:5`);
      await question.waitFor();
      await picture(set, `broken-settings-${folder}`);
      expect(await question.count()).toBe(1);
      await question.getByRole("button", { name: "Dismiss" }).waitFor(); // so all of it is shown
      await question.getByText("Open Settings File").click();
      await set.window.page.locator(".tab.active", { hasText: "settings.json" }).waitFor();
      await set.window.statusItem(/Ln 5, Col 5/).waitFor();
      await set.window.command("View: Close Editor");
      // Until then nobody knows what the file forbids: the built-in model answers.
      await question.getByText("Go On Without It").click();
      await question.waitFor({ state: "detached" });
      await set.ask(panel, "Do you work all the same?", "With the defaults.");
      // Mended, and broken anew: it is told as long as it is so.
      const line = panel.frame.locator(".banner", { hasText: "settings.json cannot be read" });
      await line.waitFor();
      writeFileSync(file, "{}");
      await line.waitFor({ state: "detached" });
      writeFileSync(file, BROKEN);
      await question.waitFor();
      writeFileSync(file, "{}");
      await question.waitFor({ state: "detached" });
      rmSync(file);
    });
  }
}
