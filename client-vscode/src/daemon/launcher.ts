/** The daemon's parts in a real editor: its settings, its storage, its progress, its words. */
import { join } from "node:path";
import {
  ConfigurationTarget,
  l10n,
  Uri,
  window,
  workspace,
  ProgressLocation,
  type ExtensionContext,
  type LogOutputChannel,
} from "vscode";
import type { Translate } from "../chat/pure/words.js";
import type { Action } from "../panel/contract.js";
import { KEY_VARIABLE, type ApiKey } from "./apiKey.js";
import type { DaemonParts } from "./daemon.js";
import { ensureEnvironment, findWheel } from "./environment.js";
import { StartFailure } from "./failure.js";
import type { Exit, Launch } from "./link.js";
import { isProgram, programSearch } from "./processes.js";
import { chosen, commandOf, locate, startFrom, type SettingLevels } from "./pure/locate.js";
import { sectionOf } from "./pure/settings.js";
import { judgeVersions, type ServerFacts } from "./pure/versions.js";
import type { DaemonMessages } from "./messages.js";

const SECTION = "geminiCompanion";
/** Kept per extension version: the person chose the extension's own daemon over the one on `PATH`. */
const PREFER_OWN = "geminiCompanion.preferOwnDaemon";

const t: Translate = (text, ...args) => l10n.t(text, ...args);

export class Launcher {
  readonly #version: string;
  /** Daemon versions that the person wants to go on with although they do not fit. */
  readonly #accepted = new Set<string>();
  #judged = "";
  #startedFrom = "";

  constructor(
    private readonly context: ExtensionContext,
    private readonly key: ApiKey,
    private readonly log: LogOutputChannel,
    private readonly messages: Pick<DaemonMessages, "show" | "ask">,
  ) {
    const { version } = context.extension.packageJSON as { version?: unknown }; // untyped in the API
    this.#version = typeof version === "string" ? version : "";
  }

  parts(): DaemonParts {
    return {
      launch: (report, abort) => this.#launch(report, abort),
      connect: async (launch, events) => (await import("./languageClient.cjs")).connect(launch, this.log, events),
      judge: (server) => this.#judge(server),
      crashed: (exit) => crashed(exit),
      settings: () => sectionOf((key) => levels(key), workspace.isTrusted),
      showMessage: (params) => this.messages.show(params),
      askMessage: (params, token) => this.messages.ask(params, token),
      log: this.log,
      t,
    };
  }

  /** Go on with the daemon that was last refused for its version. */
  acceptVersion(): void {
    this.#accepted.add(this.#judged);
  }

  /** Whether the settings lead to another start than the last one, or to the first. VS Code tells of a change where there may be none. */
  get startsOtherwise(): boolean {
    return startFrom(levels, workspace.isTrusted) !== this.#startedFrom;
  }

  /** From now on, the daemon that the extension carries, if it does. Resolves to whether that is so. */
  async preferOwn(): Promise<boolean> {
    if (
      (await findWheel(this.#wheels)) === undefined ||
      commandOf(chosen(levels("server.command"), workspace.isTrusted)) !== undefined
    )
      return false;
    await this.context.globalState.update(PREFER_OWN, this.#version);
    return true;
  }

  /** Asks for a Python and keeps it as the person's setting. */
  async choosePython(): Promise<boolean> {
    const picked = await window.showOpenDialog({
      title: l10n.t("Choose Python 3.11 or newer"),
      canSelectMany: false,
      openLabel: l10n.t("Use"),
    });
    const file = picked?.[0];
    if (file === undefined) return false;
    await workspace.getConfiguration(SECTION).update("server.python", file.fsPath, ConfigurationTarget.Global);
    return true;
  }

  get #wheels(): string {
    return Uri.joinPath(this.context.extensionUri, "server").fsPath;
  }

  async #launch(report: (detail: string) => void, abort: AbortSignal): Promise<Launch> {
    this.#startedFrom = startFrom(levels, workspace.isTrusted);
    const storage = join(this.context.globalStorageUri.fsPath, "daemon");
    await workspace.fs.createDirectory(Uri.file(storage));
    const located = await locate({
      setting: levels("server.command"),
      isTrusted: workspace.isTrusted,
      search: programSearch(),
      isProgram,
      hasWheel: (await findWheel(this.#wheels)) !== undefined,
      preferOwn: this.context.globalState.get(PREFER_OWN) === this.#version,
    });
    if (located.from === "nowhere") throw notFound(located.setting);
    const env = await this.#environment();
    if (located.from !== "environment") {
      this.log.info(
        `The daemon is ${located.command.join(" ")} (from ${located.from === "path" ? "PATH" : "the settings"})`,
      );
      return { command: [...located.command, "serve"], env, cwd: storage, from: located.from };
    }
    const python = commandOf(chosen(levels("server.python"), workspace.isTrusted))?.[0];
    const made = await ensureEnvironment({
      wheels: this.#wheels,
      storage,
      python,
      log: this.log,
      t,
      withProgress: (work) => withProgress(work, report, abort),
    });
    this.log.info(`The daemon is that of the extension (${made})`);
    return { command: [made, "-I", "-m", "gemini_companion", "serve"], env, cwd: storage, from: "environment" };
  }

  async #environment(): Promise<Record<string, string | undefined>> {
    const key = await this.key.read();
    return { ...process.env, ...(key === undefined ? {} : { [KEY_VARIABLE]: key }) };
  }

  #judge(server: ServerFacts): StartFailure | undefined {
    const verdict = judgeVersions(server, this.#version);
    this.#judged = `${server.version} ${server.protocolVersion}`;
    if (verdict.fits || (verdict.mayContinue && this.#accepted.has(this.#judged))) return undefined;
    const settings: Action = { id: "openSettings", label: t("Open Settings"), argument: `${SECTION}.server.command` };
    if (verdict.renew === "stranger") {
      return new StartFailure(
        "versionMismatch",
        t("What was started is no Gemini Companion daemon."),
        t("Check the setting “Server: Command”."),
        [settings],
      );
    }
    const message = t(
      "The daemon (version {0}) and this extension (version {1}) do not fit together.",
      server.version,
      this.#version,
    );
    const hint =
      verdict.renew === "daemon"
        ? t("Update the daemon, for example: pipx upgrade gemini-companion.")
        : t("Update this extension.");
    const update: Action = { id: "installUpdate", label: t("Update"), argument: verdict.renew };
    const goOn: Action = { id: "continueAnyway", label: t("Go On Anyway"), argument: "daemon" };
    return new StartFailure(
      "versionMismatch",
      message,
      hint,
      verdict.mayContinue ? [update, goOn, settings] : [update, settings],
    );
  }
}

/** A setting of ours at its two levels; a folder's own counts as the workspace's. */
function levels(key: string): SettingLevels {
  const found = workspace.getConfiguration(SECTION).inspect(key);
  return { user: found?.globalValue, workspace: found?.workspaceFolderValue ?? found?.workspaceValue };
}

function notFound(setting: string | undefined): StartFailure {
  const settings: Action = { id: "openSettings", label: t("Open Settings"), argument: `${SECTION}.server.command` };
  const again: Action = { id: "restartDaemon", label: t("Try Again") };
  return setting === undefined
    ? new StartFailure(
        "notFound",
        t("The daemon is not installed."),
        t("Install it, for example: pipx install gemini-companion. Or name its command in the settings."),
        [again, settings],
      )
    : new StartFailure(
        "notFound",
        t("There is no such program: {0}", setting),
        t("Mend the setting “Server: Command”."),
        [settings, again],
      );
}

function crashed(exit: Exit | undefined): StartFailure {
  const hint = exit === undefined || exit.lastLine === "" ? t("The log may say why.") : exit.lastLine;
  const message =
    exit?.code === undefined
      ? t("The daemon does not stay up.")
      : t("The daemon does not stay up (exit code {0}).", exit.code);
  return new StartFailure("crashed", message, hint, [
    { id: "restartDaemon", label: t("Restart") },
    { id: "showLog", label: t("Show Log") },
  ]);
}

function withProgress<T>(
  work: (report: (detail: string) => void, abort: AbortSignal) => Promise<T>,
  report: (detail: string) => void,
  abort: AbortSignal,
): Promise<T> {
  const options = {
    location: ProgressLocation.Notification,
    cancellable: true,
    title: l10n.t("Setting up Gemini Companion"),
  };
  const shown = window.withProgress(options, async (progress, token) => {
    const stop = new AbortController();
    token.onCancellationRequested(() => stop.abort());
    const reportBoth = (message: string): void => {
      progress.report({ message });
      report(message);
    };
    return work(reportBoth, AbortSignal.any([abort, stop.signal]));
  });
  return Promise.resolve(shown);
}
