/**
 * The private environment: a venv with the daemon of the wheel that the extension carries. It is made beside its place and then renamed,
 * so one that is there is whole. Its name is that of the wheel's and the constraints' contents: another wheel gets another environment.
 */
import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Translate } from "../chat/pure/words.js";
import type { Action } from "../panel/contract.js";
import { StartFailure } from "./failure.js";
import { holdLock } from "./lock.js";
import { isProgram, programSearch, run, type Ran } from "./processes.js";
import { diagnose, isRecent, lastLines, pythonCandidates, PYTHON_PROBE, readPython } from "./pure/python.js";

const PROBE_MS = 10_000;
const VENV_MS = 120_000;
const INSTALL_MS = 15 * 60_000;
/** So many of the last lines of a program that failed stand in the log. */
const LOGGED_LINES = 20;
/** An environment that nobody started for so long is taken away, ms. */
const FORGOTTEN_MS = 14 * 24 * 3_600_000;
const PREFIX = "env-";

export interface EnvironmentParts {
  /** The folder with the wheel and `constraints.txt`. */
  readonly wheels: string;
  /** A folder of ours, kept between sessions. */
  readonly storage: string;
  /** What the setting names as Python, if anything. */
  readonly python: string | undefined;
  readonly log: { info(text: string): void };
  readonly t: Translate;
  /** Runs the making of it where the person sees it and can cancel. Not called if there is nothing to make. */
  readonly withProgress: <T>(work: (report: (detail: string) => void, abort: AbortSignal) => Promise<T>) => Promise<T>;
}

/** The wheel beside the extension, if it carries one. */
export async function findWheel(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  const wheel = names
    .filter((name) => name.endsWith(".whl"))
    .sort()
    .at(-1);
  return wheel === undefined ? undefined : join(folder, wheel);
}

/** Python of the environment, which is made if it is not there. Rejects with `StartFailure`. */
export async function ensureEnvironment(parts: EnvironmentParts): Promise<string> {
  const wheel = await findWheel(parts.wheels);
  if (wheel === undefined)
    throw new StartFailure("notFound", parts.t("This build of the extension carries no daemon."), "", []);
  const constraints = join(parts.wheels, "constraints.txt");
  const key = createHash("sha256")
    .update(await readFile(wheel))
    .update("\0")
    .update(await readFile(constraints))
    .digest("hex")
    .slice(0, 16);
  const place = join(parts.storage, PREFIX + key);
  if (!(await isUsable(place))) {
    await mkdir(parts.storage, { recursive: true });
    await parts.withProgress(async (report, abort) => {
      const onWait = (): void => report(parts.t("Waiting for another window that is setting the daemon up…"));
      const release = await holdLock(join(parts.storage, "lock"), abort, onWait);
      try {
        if (!(await isUsable(place))) await make(parts, { wheel, constraints, place, report, abort });
      } catch (error) {
        throw abort.aborted ? cancelled(parts.t) : error;
      } finally {
        await release();
      }
    });
  }
  await touch(place);
  await forgetOthers(parts.storage, place);
  return pythonOf(place);
}

interface Making {
  readonly wheel: string;
  readonly constraints: string;
  readonly place: string;
  readonly report: (detail: string) => void;
  readonly abort: AbortSignal;
}

async function make(parts: EnvironmentParts, making: Making): Promise<void> {
  const { report, abort, place } = making;
  const { t, log, storage } = parts;
  report(t("Looking for Python…"));
  const python = await findPython(parts, abort);
  const draft = join(storage, `draft-${randomUUID()}`);
  try {
    log.info(`Making an environment with ${python.join(" ")}`);
    report(t("Making an environment…"));
    const venv = await run([...python, "-I", "-m", "venv", draft], { cwd: storage, timeout: VENV_MS, abort });
    if (venv.code !== 0) throw failure(venv, parts, abort);
    report(t("Installing the daemon…"));
    const flags = ["--disable-pip-version-check", "--no-input", "--no-warn-script-location", "--quiet"];
    const install = ["install", ...flags, "--constraint", making.constraints, making.wheel];
    const pip = await run([pythonOf(draft), "-I", "-m", "pip", ...install], {
      cwd: storage,
      timeout: INSTALL_MS,
      abort,
    });
    if (pip.code !== 0) throw failure(pip, parts, abort);
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
    log.info(`The environment is ready: ${place}`);
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function findPython(parts: EnvironmentParts, abort: AbortSignal): Promise<readonly [string, ...string[]]> {
  const { t } = parts;
  const old: string[] = [];
  for (const candidate of pythonCandidates(parts.python, programSearch())) {
    abort.throwIfAborted();
    if (!(await isProgram(candidate[0]))) continue;
    const ran = await run([...candidate, "-I", "-c", PYTHON_PROBE], { cwd: parts.storage, timeout: PROBE_MS, abort });
    const version = ran.code === 0 ? readPython(ran.stdout) : undefined;
    if (version !== undefined && isRecent(version)) return candidate;
    if (version !== undefined) old.push(`${candidate[0]} (${version.join(".")})`);
  }
  const actions: Action[] = [
    { id: "choosePython", label: t("Choose Python…") },
    { id: "restartDaemon", label: t("Try Again") },
  ];
  const needed = t("Python 3.11 or newer is needed.");
  if (parts.python !== undefined)
    throw new StartFailure(
      "noPython",
      t("The Python of the settings cannot be used: {0}", parts.python),
      needed,
      actions,
    );
  const found = old.length === 0 ? "" : ` ${t("Too old: {0}.", [...new Set(old)].slice(0, 3).join(", "))}`;
  const byPackage = t("Install it with your package manager, for example: apt install python3 python3-venv.");
  const hint = process.platform === "linux" ? byPackage : t("Install it from python.org, then try again.");
  throw new StartFailure("noPython", t("No Python 3.11 or newer was found.") + found, hint, actions);
}

function failure(ran: Ran, { t, log }: EnvironmentParts, abort: AbortSignal): StartFailure {
  if (abort.aborted) return cancelled(t);
  const output = `${ran.stdout}\n${ran.stderr}`;
  for (const line of lastLines(output, LOGGED_LINES)) log.info(`setup: ${line}`);
  const lastOutput = lastLines(output, 3).join(" ");
  const actions: Action[] = [
    { id: "restartDaemon", label: t("Try Again") },
    { id: "showLog", label: t("Show Log") },
  ];
  switch (diagnose(output)) {
    case "noVenv":
      return new StartFailure(
        "noPython",
        t("This Python has no venv module."),
        t("Install it, for example: apt install python3-venv. Then try again."),
        [{ id: "choosePython", label: t("Choose Python…") }, ...actions],
      );
    case "noNetwork":
      return new StartFailure(
        "environment",
        t("The daemon's packages could not be fetched: there is no way to the package index."),
        t("Check the network and HTTPS_PROXY, then try again."),
        actions,
      );
    case "noSpace":
      return new StartFailure("environment", t("There is no space left to set the daemon up."), lastOutput, actions);
    case "noMatch":
      return new StartFailure(
        "environment",
        t("The package index does not have what the daemon needs for this Python."),
        lastOutput,
        actions,
      );
    case "other":
      return new StartFailure("environment", t("The daemon could not be set up."), lastOutput, actions);
  }
}

function cancelled(t: Translate): StartFailure {
  return new StartFailure("environment", t("Setting the daemon up was cancelled."), "", [
    { id: "restartDaemon", label: t("Try Again") },
  ]);
}

function pythonOf(place: string): string {
  return process.platform === "win32" ? join(place, "Scripts", "python.exe") : join(place, "bin", "python");
}

/** Whether it is there, and the Python that it stands on is too. */
async function isUsable(place: string): Promise<boolean> {
  try {
    const home = /^home\s*=\s*(.+)$/m.exec(await readFile(join(place, "pyvenv.cfg"), "utf8"))?.[1]?.trim();
    if (home === undefined) return false;
    await access(home);
    return await isProgram(pythonOf(place));
  } catch {
    return false;
  }
}

async function touch(place: string): Promise<void> {
  const stamp = join(place, "last-start");
  const now = new Date();
  await utimes(stamp, now, now).catch(() => writeFile(stamp, ""));
}

/** Takes away what no window started for two weeks. One of another version may still be in use. */
async function forgetOthers(storage: string, place: string): Promise<void> {
  for (const name of await readdir(storage)) {
    const other = join(storage, name);
    if (other === place || !/^(?:env|draft)-/.test(name)) continue;
    const stamp =
      (await stat(join(other, "last-start")).catch(() => undefined)) ?? (await stat(other).catch(() => undefined));
    if (stamp !== undefined && Date.now() - stamp.mtimeMs > FORGOTTEN_MS)
      await rm(other, { recursive: true, force: true }).catch(() => undefined);
  }
}
