/** A settings file that cannot be read. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
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
      const about = set.window.toast(`${file}:5:5`);
      const toast = about.filter({ has: set.window.page.getByRole("button", { name: "Open Settings File" }) });
      const question = about.filter({ has: set.window.page.getByRole("button", { name: "Go On Without It" }) });
      await toast.waitFor();
      await question.waitFor();
      await picture(set, `broken-settings-${folder}`);
      await toast.getByRole("button", { name: "Open Settings File" }).click();
      await set.window.page.locator(".tab.active", { hasText: "settings.json" }).waitFor();
      await set.window.statusItem(/Ln 5, Col 5/).waitFor();
      await set.window.command("View: Close Editor");
      // Until then nobody knows what the file forbids: the built-in model answers.
      await question.getByRole("button", { name: "Go On Without It" }).click();
      await question.waitFor({ state: "detached" });
      await set.ask(panel, "Do you work all the same?", "With the defaults.");
      rmSync(file);
    });
  }
}
