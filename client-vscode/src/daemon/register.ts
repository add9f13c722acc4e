/** Wires the daemon to the editor: settings, trust, key, log and the commands about it. */
import { commands, l10n, window, workspace, type ExtensionContext, type LogOutputChannel } from "vscode";
import { showAgents } from "./agents.js";
import { ApiKey } from "./apiKey.js";
import { Daemon } from "./daemon.js";
import { showHooks } from "./hooksInForce.js";
import { Launcher } from "./launcher.js";
import { DaemonMessages } from "./messages.js";
import { DAEMON_SETTINGS } from "./pure/settings.js";
import { showSettingsInForce } from "./settingsInForce.js";
import { inform, registerStandingActions } from "../toasts.js";

/** Nothing is started here. */
export function registerDaemon(context: ExtensionContext): {
  readonly daemon: Daemon;
  readonly messages: DaemonMessages;
  readonly log: LogOutputChannel;
} {
  const log = window.createOutputChannel("Gemini Companion", { log: true });
  const key = new ApiKey(context.secrets);
  const messages = new DaemonMessages(log);
  const launcher = new Launcher(context, key, log, messages);
  const daemon = new Daemon(launcher.parts());
  messages.follow(daemon);

  const command = (name: string, work: (...args: unknown[]) => unknown): void => {
    context.subscriptions.push(commands.registerCommand(`geminiCompanion.${name}`, work));
  };
  command("setApiKey", () => key.set());
  command("removeApiKey", async () => {
    await key.remove();
    void inform(l10n.t("The key was removed from this machine's secret storage."));
  });
  command("restartDaemon", () => restart(daemon));
  command("showLog", () => log.show());
  command("showSettings", () => showSettingsInForce(daemon));
  command("showAgents", () => showAgents(daemon));
  command("showHooks", () => showHooks(daemon));
  // What the buttons of a failed start run; not in the palette.
  command("choosePython", () => launcher.choosePython());
  command("continueWithDaemon", () => {
    launcher.acceptVersion();
    restart(daemon);
  });
  command("installUpdate", (what) => installUpdate(what, daemon, launcher));

  context.subscriptions.push(
    log,
    messages,
    registerStandingActions(),
    daemon,
    key.onDidChange(() => restartIfWanted(daemon)),
    workspace.onDidChangeConfiguration((change) => {
      // Trust that is granted "changes" every restricted setting. A restart would end the answers that are being made.
      if (change.affectsConfiguration("geminiCompanion.server") && launcher.startsOtherwise) restartIfWanted(daemon);
      else if (Object.keys(DAEMON_SETTINGS).some((name) => change.affectsConfiguration(`geminiCompanion.${name}`)))
        void daemon.sendSettings();
    }),
    // The reporter of the editor's state reports the trust itself; the folder's own settings count only from now on.
    workspace.onDidGrantWorkspaceTrust(() => void daemon.sendSettings()),
  );
  return { daemon, messages, log };
}

function restartIfWanted(daemon: Daemon): void {
  if (daemon.isWanted) restart(daemon);
}

/** What becomes of it stands in the view. */
function restart(daemon: Daemon): void {
  daemon.restart().catch(() => undefined);
}

/** @param what `daemon` or `extension`, as the failed start says */
async function installUpdate(what: unknown, daemon: Daemon, launcher: Launcher): Promise<void> {
  if (what !== "daemon") await commands.executeCommand("workbench.extensions.action.checkForUpdates");
  else if (await launcher.preferOwn()) restart(daemon);
  else
    void inform(
      l10n.t("Update the daemon where you installed it, then restart it: {0}", "pipx upgrade gemini-companion"),
    );
}
