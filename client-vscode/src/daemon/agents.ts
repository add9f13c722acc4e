/** Shows the subagents that the model can call; choosing one opens the file that defines it. */
import { l10n, window } from "vscode";
import { agentRows, type AgentRow } from "./pure/agentRows.js";
import { isDaemonFault, type DaemonPort } from "./port.js";
import { openPlace } from "./settingsFile.js";
import { fail, warn } from "../toasts.js";

export async function showAgents(daemon: DaemonPort): Promise<void> {
  let rows: AgentRow[];
  try {
    const { agents } = await daemon.request("gemini/agents/list", {});
    rows = agentRows(agents, (text, ...args) => l10n.t(text, ...args));
  } catch (error) {
    if (!isDaemonFault(error)) throw error;
    void fail(error.data.message);
    return;
  }
  const chosen = await window.showQuickPick(rows, {
    title: l10n.t("Subagents"),
    placeHolder: l10n.t("Choose one to open its file; your own go into {0}", "~/.gemini/agents/NAME.md"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.place === undefined) return;
  try {
    await openPlace(chosen.place);
  } catch {
    void warn(l10n.t("{0} cannot be opened.", chosen.place));
  }
}
