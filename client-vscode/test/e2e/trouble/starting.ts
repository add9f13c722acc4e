/** There is nothing to start, or it does not stay up. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { daemonCommand, python } from "../support/places.js";
import { patiently } from "../support/patience.js";
import type { Stage } from "../support/stage.js";
import { below, middle, picture } from "./seeing.js";

/** Ends as a broken installation does. */
const CRASHING = [
  python,
  "-c",
  "import sys; print('ModuleNotFoundError: No module named gemini_companion', file=sys.stderr); sys.exit(3)",
];

/** For a window without `python`, `gemini-companion` and network. */
export function starting(set: Stage): void {
  const settingsFile = (): string => join(set.server.folder, "data/Machine/settings.json");
  const name = (settings: Readonly<Record<string, unknown>>): void =>
    writeFileSync(settingsFile(), JSON.stringify(settings));
  const shown = async (): Promise<Panel> => new Panel(await set.window.showPanel());

  test("without a Python the panel says what to install; one that is chosen is used, and a way to the package index is missed next", async () => {
    const panel = await shown();
    await panel.frame.getByRole("heading", { name: "Python is needed" }).waitFor();
    await middle(panel).getByText("No Python 3.11 or newer was found.").waitFor();
    await middle(panel)
      .getByText(/apt install python3 python3-venv/)
      .waitFor();
    await panel.button("Try Again").waitFor();
    await picture(set, "no-python");
    await panel.button("Choose Python…").click();
    await set.window.quickInput.getByText("README.md").waitFor(); // what is typed before the folder is listed is lost
    await set.window.quickField.fill(python);
    const isKept = (): boolean => readFileSync(settingsFile(), "utf8").includes(JSON.stringify(python));
    const use = set.window.quickInput.getByRole("button", { name: "Use" });
    await patiently("the choice is kept", async () => {
      if (!isKept()) await use.click({ timeout: 1_000 }); // while the folder is being listed, a click only goes there
      return isKept() || undefined;
    });
    await middle(panel)
      .getByText("there is no way to the package index", { exact: false })
      .waitFor({ timeout: 120_000 });
    await middle(panel).getByText("Check the network and HTTPS_PROXY, then try again.").waitFor();
    await panel.button("Try Again").waitFor();
    await picture(set, "no-network");
    await panel.button("Show Log").click();
    await set.window.page
      .locator(".part.panel")
      .getByText(/setup:/)
      .first()
      .waitFor();
    await set.window.command("View: Toggle Panel Visibility");
  });

  test("a command that names nothing: the panel says so and opens the setting; the right one is started as soon as it is set", async () => {
    name({ "geminiCompanion.server.command": "/nowhere/gemini-companion" });
    const panel = await shown();
    await panel.frame.getByRole("heading", { name: "The daemon was not found" }).waitFor();
    await middle(panel).getByText("There is no such program: /nowhere/gemini-companion").waitFor();
    await picture(set, "no-daemon");
    await panel.composer.fill("Can I ask?");
    expect(await panel.button("Send").getAttribute("aria-disabled")).toBe("true");
    await panel.button("Open Settings").click();
    await set.window.page.locator(".settings-editor").getByText("Server: Command").first().waitFor();
    await set.window.command("View: Close Editor");
    name({ "geminiCompanion.server.command": daemonCommand });
    await panel.frame.getByRole("heading", { name: "The daemon was not found" }).waitFor({ state: "hidden" });
    await panel.composer.press("Enter");
    await panel.answers
      .last()
      .getByText(/offline model/i)
      .first()
      .waitFor();
    await panel.isIdle();
  });

  test("a daemon that ends as soon as it is started: its last words and exit code are shown, and the log has them", async () => {
    name({ "geminiCompanion.server.command": CRASHING });
    const panel = await shown();
    await below(panel).getByText("The daemon does not stay up (exit code 3).").waitFor();
    await below(panel).getByText("ModuleNotFoundError: No module named gemini_companion").waitFor();
    await picture(set, "crashing");
    await panel.button("Show Log").click();
    await set.window.page
      .locator(".part.panel")
      .getByText(/ModuleNotFoundError/)
      .first()
      .waitFor();
    await set.window.command("View: Toggle Panel Visibility");
    name({ "geminiCompanion.server.command": daemonCommand });
    await below(panel).getByText("The daemon does not stay up (exit code 3).").waitFor({ state: "hidden" });
  });
}
