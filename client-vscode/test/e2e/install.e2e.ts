/** On a machine without the daemon: the extension makes itself an environment from the wheel that it carries. Needs the package registry. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "./support/panel.js";
import { python } from "./support/places.js";
import { stage } from "./support/stage.js";

const set = stage("install", { online: true, settings: { "geminiCompanion.server.command": "", "geminiCompanion.server.python": python }, env: { PATH: "/usr/bin:/bin" } });

test("the first start makes an environment, once, and the offline model answers", { timeout: 240_000 }, async () => {
  await set.window.openFile("tokenizer.py");
  const panel = new Panel(await set.window.showPanel());
  await set.window.page.getByText(/Setting up Gemini Companion/).first().waitFor();
  await panel.frame.getByText(/offline model answers/i).first().waitFor({ timeout: 200_000 });
  await panel.ask("What does tokenizer.py do?", /tokens/);
  const storage = join(set.server.folder, "data/User/globalStorage/gemini-companion.gemini-companion/daemon");
  expect(readdirSync(storage).filter((name) => /tmp|partial|lock/i.test(name))).toEqual([]);
  const [daemon] = set.server.daemons();
  expect(daemon?.command).toContain(storage);
});
