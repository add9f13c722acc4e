/** Settings in a real VS Code: edited, broken and mended while an answer streams, and shown with where they come from. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Panel } from "./support/panel.js";
import { patiently } from "./support/patience.js";
import { keepPicture, stage } from "./support/stage.js";

const set = stage("settings", { emulator: true });

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Sends a prompt whose answer stops at its gate, and waits until it streams. */
async function streaming(panel: Panel, gate: string): Promise<void> {
  await set.emulator.script([{ pieces: [`The ${gate} begins `, { gate }, "and ends."] }]);
  await panel.send("Take your time.");
  await set.emulator.reached(gate);
  await panel.answers.getByText(`The ${gate} begins`).waitFor();
}

async function finished(panel: Panel, gate: string): Promise<void> {
  await set.emulator.release(gate);
  await panel.answers.getByText(`The ${gate} begins and ends.`).waitFor();
  await panel.isIdle();
}

/** The models that were asked for answers to "Take your time.", the oldest first. */
async function models(): Promise<string[]> {
  const asked = await set.emulator.requests("streamGenerateContent");
  return asked.filter(({ prompt }) => prompt.includes("Take your time.")).map(({ model }) => model);
}

/** The row of a setting in "Show Settings in Force", once it says this. */
async function shows(key: string, ...texts: readonly string[]): Promise<void> {
  await patiently(`${key} is shown with ${texts.join(", ")}`, async () => {
    await set.window.command("Gemini: Show Settings in Force");
    await set.window.quickField.fill(key);
    const row = set.window.quickInput.getByRole("option").filter({ hasText: key }).first();
    await row.waitFor({ timeout: 5_000 });
    const told = await row.innerText();
    if (texts.every((text) => told.replaceAll(/\s+/g, " ").includes(text))) return true;
    await set.window.page.keyboard.press("Escape");
    return undefined;
  });
}

test("what is edited while an answer streams counts for the next one; broken, its place is told and nothing stops; mended, it counts", async () => {
  const panel = await set.newChat();
  const file = join(set.server.workspace, ".gemini/settings.json");
  put(file, '{\n  "model": { "name": "gemini-2.5-pro" }\n}\n');
  await shows("model.name", "gemini-2.5-pro");
  await set.window.page.keyboard.press("Escape");

  await streaming(panel, "first");
  put(file, '{\n  "model": { "name": "gemini-2.5-flash" }\n}\n');
  await shows("model.name", "gemini-2.5-flash");
  await set.window.page.keyboard.press("Escape");
  await finished(panel, "first");
  expect(await models()).toEqual(["gemini-2.5-pro"]);

  await streaming(panel, "second");
  put(file, '{\n  "model": { "name": "gemini-2.5-pro", "compressionThreshold": "half" }\n}\n');
  const toast = set.window.toast(`${file}:2:`);
  await toast.waitFor();
  await keepPicture(set, "settings", "broken-while-streaming");
  await finished(panel, "second");
  expect(await models()).toEqual(["gemini-2.5-pro", "gemini-2.5-flash"]);

  put(file, '{\n  "model": { "name": "gemini-2.5-pro", "compressionThreshold": 0.4 }\n}\n');
  await toast.waitFor({ state: "detached" }); // it was open as long as it held, and no longer
  await shows("model.compressionThreshold", "0.4", `${file}:2`);
  await set.window.page.keyboard.press("Escape");
  expect((await set.ask(panel, "And now?", "Mended.")).model).toBe("gemini-2.5-pro");
  rmSync(file);
});

test("settings in force are shown with where they come from, and lead there, also into a file of variables", async () => {
  const own = join(set.server.folder, "home/.gemini/settings.json");
  const variables = join(set.server.workspace, ".gemini/.env");
  put(
    own,
    '{\n  // mine\n  "general": { "defaultApprovalMode": "plan" },\n  "security": { "disableYoloMode": true }\n}\n',
  );
  put(variables, "# of this project\nGEMINI_MODEL=gemini-2.5-flash\n");
  await shows("general.defaultApprovalMode", "plan", "From your settings file", `${own}:3`);
  await set.window.quickField.fill("");
  await keepPicture(set, "settings", "in-force");
  await set.window.page.keyboard.press("Escape");
  await shows("model.name", "gemini-2.5-flash", `From the environment: GEMINI_MODEL, ${variables}:2`);
  await keepPicture(set, "settings", "of-a-file-of-variables");
  await set.window.page.keyboard.press("Enter");
  await set.window.page.locator(".tab.active", { hasText: ".env" }).waitFor();
  await set.window.statusItem(/Ln 2, Col 1/).waitFor();
  await set.window.command("View: Close Editor");

  appendFileSync(variables, "GOOGLE_VERTEX_BASE_URL=https://elsewhere.example\n");
  await set.window.toast(`${variables}:3: GOOGLE_VERTEX_BASE_URL`).waitFor();
  await keepPicture(set, "settings", "address-refused");
  const panel = await set.newChat();
  expect((await set.ask(panel, "Where does this go?", "Where it always went.")).model).toBe("gemini-2.5-flash");
  rmSync(own);
  rmSync(variables);
});
