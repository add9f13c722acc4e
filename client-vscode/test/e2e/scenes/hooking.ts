/** Hooks: what they did stands in the chat as one calm row, and the list of them tells how each last ran. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";

const says = (output: object): string => `cat > /dev/null; echo '${JSON.stringify(output)}'`;
const HOOKS = {
  BeforeAgent: [{ hooks: [{ type: "command", name: "branch", command: says({ systemMessage: "on main" }) }] }],
  AfterModel: [{ hooks: [{ type: "command", name: "log", command: "exit 3" }] }],
};

export function hooking(set: Stage): void {
  describe("hooks", () => {
    const folder = (): string => join(set.server.workspace, ".gemini");
    let panel: Panel;
    beforeEach(async () => {
      mkdirSync(folder(), { recursive: true });
      writeFileSync(join(folder(), "settings.json"), JSON.stringify({ hooks: HOOKS }, null, 2));
      panel = await set.newChat();
    });
    afterEach(() => rmSync(folder(), { recursive: true, force: true }));

    test("what they did is one row of the chat, and the list tells how they last ran and turns them off and on", async () => {
      await set.ask(panel, "What does tokenizer.py do?", "It splits texts.");
      const row = panel.frame.locator(".notice summary", { hasText: /^Hooks stepped in 2 times, 1 of them/ });
      await row.waitFor();
      await row.click();
      await panel.frame.getByText("The hook branch (BeforeAgent) says: on main").waitFor();
      await keepPicture(set, "hooks", "chat");

      await set.window.command("Gemini: Show Hooks");
      const list = set.window.quickInput;
      await list.getByText(/Last run just now: failed/).waitFor();
      await keepPicture(set, "hooks", "list");
      const log = list.locator(".monaco-list-row", { hasText: "AfterModel" });
      await log.hover();
      await log.locator(".action-label").first().click();
      await log.getByText(/turned off/).waitFor();
      await keepPicture(set, "hooks", "off");
      await log.hover();
      await log.locator(".action-label").first().click();
      await patiently(
        "the hook is on again",
        async () => (await log.getByText(/turned off/).count()) === 0 || undefined,
      );
      await log.click();
      await set.window.page.locator(".tab.active", { hasText: "settings.json" }).waitFor();
      expect(await list.isVisible()).toBe(false);
    });
  });
}
