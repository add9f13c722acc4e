import { patiently } from "./patience.js";
import type { Stage } from "./stage.js";

/** Waits until a setting has this value in the daemon: a file that was written is noticed some moments later. */
export async function settingInForce(set: Stage, key: string, value: string): Promise<void> {
  await patiently("the setting is in force", async () => {
    await set.window.command("Gemini: Show Settings in Force");
    await set.window.quickField.fill(key);
    const row = set.window.quickInput.getByRole("option").filter({ hasText: key }).first();
    await row.waitFor({ timeout: 5_000 });
    const told = await row.innerText();
    await set.window.page.keyboard.press("Escape");
    const [shown = ""] = told.split("From "); // what comes behind names every value that there is
    return shown.includes(value) || undefined;
  });
}
