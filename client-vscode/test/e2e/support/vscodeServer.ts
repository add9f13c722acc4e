/** A real VS Code on loopback, with a home, settings and extensions of its own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { patiently } from "./patience.js";
import { daemonCommand, tools, vsix } from "./places.js";
import { end, expectNoneLeft, processesWith, type RunningProcess } from "./processes.js";
import { makeProject } from "./project.js";

/** Marks every process of a run: the folder of its daemon's data, which no other run has. */
const MARK = "COMPANION_DATA_DIR";

const QUIET_SETTINGS = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.reduceMotion": "on",
  "workbench.colorTheme": "Dark Modern",
  "chat.disableAIFeatures": true,
  "git.enabled": false,
  "json.schemaDownload.enable": false,
  "typescript.disableAutomaticTypeAcquisition": true,
};

export interface ServerOptions {
  /** Laid over settings that keep VS Code quiet and name the repository's own daemon. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** For the extension host, and so for the daemon. */
  readonly env?: Readonly<Record<string, string>>;
  /** Start with workspace trust on, and the workspace not trusted. */
  readonly restricted?: boolean;
  /** False: no .vsix is installed (the extension is run from its folder). */
  readonly install?: boolean;
  /** Other `.vsix` files to install. */
  readonly also?: readonly string[];
  /** Let the page run tests inside the extension host. */
  readonly testDriver?: boolean;
  /** Leave the way to package registries open; else every address but loopback is a dead end. */
  readonly online?: boolean;
}

export class VsCodeServer {
  private constructor(
    readonly url: string,
    /** Everything of this run lies below it. */
    readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  get workspace(): string {
    return join(this.folder, "tally");
  }

  static async start(options: ServerOptions = {}): Promise<VsCodeServer> {
    const { node, codeServer } = tools();
    const folder = mkdtempSync(join(tmpdir(), "companion-e2e-"));
    for (const name of ["home", "data/User", "data/Machine", "extensions", "tally", "companion"])
      mkdirSync(join(folder, name), { recursive: true });
    makeProject(join(folder, "tally"));
    writeSettings(folder, "User", { ...QUIET_SETTINGS, ...(options.restricted && RESTRICTED) });
    // The person's own settings are the browser's as soon as one of them is changed there; the machine's stay what they are.
    writeSettings(folder, "Machine", { "geminiCompanion.server.command": daemonCommand, ...options.settings });

    const env = environment(folder, options);
    const flags = [
      "--config",
      join(folder, "config.yaml"),
      "--user-data-dir",
      join(folder, "data"),
      "--extensions-dir",
      join(folder, "extensions"),
    ];
    for (const file of [...(options.install === false ? [] : [vsix()]), ...(options.also ?? [])]) {
      const { status, stdout, stderr } = spawnSync(node, [codeServer, ...flags, "--install-extension", file], {
        env,
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`The extension could not be installed:\n${stdout}${stderr}`);
    }
    const port = await freePort();
    const log = openSync(join(folder, "code-server.log"), "w");
    const child = spawn(
      node,
      [
        ...[
          codeServer,
          ...flags,
          "--bind-addr",
          `127.0.0.1:${port}`,
          "--auth",
          "none",
          "--cert=false",
          "--disable-telemetry",
          "--disable-update-check",
        ],
        ...[
          "--disable-getting-started-override",
          "--disable-proxy",
          ...(options.restricted ? [] : ["--disable-workspace-trust"]),
        ],
        ...(options.testDriver ? ["--vscode-option", "enable-smoke-test-driver"] : []),
        join(folder, "tally"),
      ],
      { env, stdio: ["ignore", log, log] },
    );
    const server = new VsCodeServer(`http://127.0.0.1:${port}/`, folder, child);
    await patiently("code-server answers", async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "code-server.log"), "utf8").slice(-2000));
      return (await fetch(`${server.url}healthz`)).ok || undefined;
    });
    return server;
  }

  /** The daemons that this VS Code has started. */
  daemons(): RunningProcess[] {
    return this.processes().filter(({ command }) => /gemini[-_]companion\b.* serve\b/.test(command));
  }

  /** What a process of this run was started with. */
  environmentOf(pid: number): string {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  }

  /** The files of this run that have a text in them, in any encoding of one byte for a character. */
  filesWith(text: string): string[] {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => readFileSync(file).includes(text));
  }

  /** Whether a draft with this text is on the disk. */
  keepsDraft(text: string): boolean {
    const storage = join(this.folder, "data/User/workspaceStorage");
    if (!existsSync(storage)) return false;
    return readdirSync(storage, { recursive: true, encoding: "utf8" })
      .filter((name) => /[\\/]drafts[\\/].+\.(json|md)$/.test(name))
      .some((name) => readFileSync(join(storage, name), "utf8").includes(text));
  }

  /** The files that VS Code and the extension logged to, by name. */
  logs(): string[] {
    const folder = join(this.folder, "data/logs");
    if (!existsSync(folder)) return [];
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".log"))
      .map((name) => join(folder, name));
  }

  /** The log of the extension's output channel, as it stands. */
  extensionLog(): string {
    return this.logs()
      .filter((file) => /Gemini Companion/.test(basename(file)))
      .map((file) => readFileSync(file, "utf8"))
      .join("");
  }

  /** Copies every log to `target`. */
  keepLogs(target: string): void {
    cpSync(join(this.folder, "code-server.log"), join(target, "code-server.log"));
    const logs = join(this.folder, "data/logs");
    if (existsSync(logs)) cpSync(logs, join(target, "logs"), { recursive: true });
  }

  /** Ends it and everything that it started, and removes its folder. Throws if a process stayed. */
  async stop(): Promise<void> {
    await end(this.child);
    await expectNoneLeft(() => this.processes());
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private processes(): RunningProcess[] {
    return processesWith(MARK, join(this.folder, "companion"));
  }
}

const RESTRICTED = {
  "security.workspace.trust.enabled": true,
  "security.workspace.trust.startupPrompt": "never",
  "security.workspace.trust.emptyWindow": false,
};

function environment(folder: string, options: ServerOptions): NodeJS.ProcessEnv {
  const foreign = /^(GEMINI|GOOGLE|COMPANION|VSCODE|NODE_OPTIONS|ELECTRON|VITEST)|_proxy$/i;
  const kept = Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      options.online === true ? !/^(GEMINI|GOOGLE|COMPANION|VSCODE|VITEST)/.test(name) : !foreign.test(name),
    ),
  );
  const dead = "http://127.0.0.1:9"; // the port named "discard": nobody listens
  return {
    ...kept,
    HOME: join(folder, "home"),
    [MARK]: join(folder, "companion"),
    EXTENSIONS_GALLERY: "{}", // no marketplace: VS Code asks nobody
    ...(options.online ? {} : { HTTP_PROXY: dead, HTTPS_PROXY: dead, NO_PROXY: "127.0.0.1,localhost" }),
    ...options.env,
  };
}

function writeSettings(folder: string, whose: "User" | "Machine", settings: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(folder, "data", whose, "settings.json"), JSON.stringify(settings, null, 2));
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}
