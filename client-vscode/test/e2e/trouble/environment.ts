/** The daemon that the extension carries, in an environment that it makes for itself. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import type { Stage } from "../support/stage.js";
import { Workbench } from "../support/workbench.js";
import { picture } from "./seeing.js";

/** Fetching the packages may take this long. */
const INSTALL_MS = 120_000;

export function environment(set: Stage): void {
  test(
    "two windows make one environment, while they say so, and answer; a third start makes none",
    { timeout: 200_000 },
    async () => {
      const panel = new Panel(await set.window.showPanel());
      await set.window.toast("Setting up Gemini Companion").waitFor();
      await panel.frame
        .getByText(/Making an environment…|Installing the daemon…/)
        .first()
        .waitFor();
      await picture(set, "setting-up");
      const second = await Workbench.open(set.browser, set.server);
      const other = new Panel(await second.showPanel());
      await picture({ window: second }, "setting-up-second");
      for (const each of [panel, other]) {
        await each.frame.getByText("The built-in offline model answers.").first().waitFor({ timeout: INSTALL_MS });
        await answers(each);
      }
      await picture(set, "set-up");
      await second.close();
      expect(made()).toBe(1);

      await set.window.reload();
      await answers(new Panel(await set.window.showPanel()));
      expect(made()).toBe(1);
      const storage = join(set.server.folder, "data/User/globalStorage/gemini-companion.gemini-companion/daemon");
      expect(readdirSync(storage)).toEqual([expect.stringMatching(/^env-/)]);
      expect(set.server.daemons().every(({ command }) => command.includes(storage))).toBe(true);
    },
  );

  async function answers(panel: Panel): Promise<void> {
    await panel.send("What can you do?");
    await panel.answers
      .last()
      .getByText(/offline model/i)
      .first()
      .waitFor();
    await panel.isIdle();
  }

  function made(): number {
    return set.server.extensionLog().split("Making an environment with").length - 1;
  }
}
