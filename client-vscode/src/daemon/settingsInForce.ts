/** Shows every setting with the value in force and where it comes from; choosing one leads to where it stands. */
import { commands, l10n, window } from "vscode";
import { settingRows, type SettingRow } from "./pure/settingRows.js";
import { isDaemonFault, type DaemonPort } from "./port.js";
import { openPlace } from "./settingsFile.js";
import { fail, warn } from "../toasts.js";

export async function showSettingsInForce(daemon: DaemonPort): Promise<void> {
  let rows: SettingRow[];
  let problem: string | undefined;
  try {
    const list = await daemon.request("gemini/settings", {});
    rows = settingRows(list, (text, ...args) => l10n.t(text, ...args));
    problem = list.problems?.[0];
  } catch (error) {
    if (!isDaemonFault(error)) throw error;
    void fail(error.data.message);
    return;
  }
  const chosen = await window.showQuickPick(rows, {
    title: l10n.t("Settings in Force"),
    placeHolder: problem ?? l10n.t("Choose a setting to open where it is set"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.place !== undefined) await opened(chosen.place);
  else if (chosen?.editorKey !== undefined)
    await commands.executeCommand("workbench.action.openSettings", `@id:${chosen.editorKey}`);
}

async function opened(place: string): Promise<void> {
  try {
    await openPlace(place);
  } catch {
    void warn(l10n.t("{0} cannot be opened.", place));
  }
}
