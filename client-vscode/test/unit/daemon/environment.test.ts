/** The private environment, made by a shell script that answers as Python would. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { english } from "../../../src/chat/pure/words.js";
import { ensureEnvironment, type EnvironmentParts } from "../../../src/daemon/environment.js";
import { StartFailure } from "../../../src/daemon/failure.js";
import { holdLock } from "../../../src/daemon/lock.js";

let folder: string;
let steps: string[];
let cancel: AbortController;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "environment-"));
  steps = [];
  cancel = new AbortController();
  await mkdir(join(folder, "server"));
  await writeFile(join(folder, "server", "gemini_companion-0.1.0-py3-none-any.whl"), "wheel");
  await writeFile(join(folder, "server", "constraints.txt"), "pygls==2.1.1\n");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A Python of this version. Every call is written to `calls`; `pip` is what the venv's Python does then. */
async function python(options: { version?: string; venv?: string; pip?: string } = {}): Promise<string> {
  const { version = "3.12.4", venv = "", pip = "exit 0" } = options;
  const file = join(folder, "python");
  const inner = `#!/bin/sh\\necho "$@" >> ${folder}/calls\\n${pip}\\n`;
  const make = `mkdir -p "$4/bin" && printf 'home = ${folder}\\n' > "$4/pyvenv.cfg" && printf '%b' '${inner}' > "$4/bin/python" && chmod +x "$4/bin/python"`;
  await writeFile(
    file,
    `#!/bin/sh\necho "$@" >> ${folder}/calls\ncase "$2" in -c) echo ${version} ;; -m) ${venv || make} ;; esac\n`,
  );
  await chmod(file, 0o755);
  return file;
}

function parts(file: string): EnvironmentParts {
  return {
    wheels: join(folder, "server"),
    storage: join(folder, "storage"),
    python: file,
    log: { info: () => undefined },
    t: english,
    withProgress: (work) => work((detail) => void steps.push(detail), cancel.signal),
  };
}

const calls = async (): Promise<string[]> =>
  (await readFile(join(folder, "calls"), "utf8").catch(() => "")).trim().split("\n");
const environments = async (): Promise<string[]> => (await readdir(join(folder, "storage"))).sort();

describe.skipIf(process.platform === "win32")("ensureEnvironment", () => {
  it("makes a venv, installs the wheel with the constraints, and leaves nothing else", async () => {
    const made = await ensureEnvironment(parts(await python()));
    expect(made).toMatch(/storage\/env-[0-9a-f]{16}\/bin\/python$/);
    expect(await environments()).toEqual([expect.stringMatching(/^env-[0-9a-f]{16}$/)]);
    const install = (await calls()).at(-1);
    expect(install).toMatch(/-I -m pip install .*--constraint \S+constraints\.txt \S+\.whl$/);
    expect(steps).toEqual(["Looking for Python…", "Making an environment…", "Installing the daemon…"]);
  });

  it("uses the one that is there, without showing anything", async () => {
    const file = await python();
    const first = await ensureEnvironment(parts(file));
    const before = await calls();
    steps = [];
    expect(await ensureEnvironment(parts(file))).toBe(first);
    expect(await calls()).toEqual(before);
    expect(steps).toEqual([]);
  });

  it("makes another one for another wheel", async () => {
    const file = await python();
    const first = await ensureEnvironment(parts(file));
    await writeFile(join(folder, "server", "gemini_companion-0.1.0-py3-none-any.whl"), "another wheel");
    expect(await ensureEnvironment(parts(file))).not.toBe(first);
    expect(await environments()).toHaveLength(2); // another window may still run the first
  });

  it("takes away what was not started for two weeks", async () => {
    const file = await python();
    await ensureEnvironment(parts(file));
    const [old = ""] = await environments();
    const long = new Date(Date.now() - 15 * 24 * 3_600_000);
    await utimes(join(folder, "storage", old, "last-start"), long, long);
    await writeFile(join(folder, "server", "constraints.txt"), "pygls==2.1.2\n");
    await ensureEnvironment(parts(file));
    expect(await environments()).not.toContain(old);
  });

  it("mends one whose Python is gone", async () => {
    const file = await python();
    const made = await ensureEnvironment(parts(file));
    await rm(made);
    expect(await ensureEnvironment(parts(file))).toBe(made);
    expect((await calls()).filter((call) => call.includes("pip install"))).toHaveLength(2);
  });

  it("says that Python is too old, and leaves nothing behind", async () => {
    const failed = ensureEnvironment(parts(await python({ version: "3.9.2" })));
    await expect(failed).rejects.toMatchObject({ reason: "noPython", hint: "Python 3.11 or newer is needed." });
    expect(await environments()).toEqual([]);
  });

  it("says how to get the venv module", async () => {
    const failed = ensureEnvironment(parts(await python({ venv: "echo 'ensurepip is not available'; exit 1" })));
    await expect(failed).rejects.toMatchObject({ reason: "noPython", message: "This Python has no venv module." });
  });

  it("says what to check when there is no network, keeps pip's words for the log, and leaves no half-made environment", async () => {
    const pip =
      "echo Looking >&2; echo Failed to establish a new connection >&2; echo ERROR: No matching distribution >&2; exit 1";
    const logged: string[] = [];
    const all = { ...parts(await python({ pip })), log: { info: (text: string) => void logged.push(text) } };
    const failure = await ensureEnvironment(all).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect(failure).toMatchObject({
      reason: "environment",
      hint: "Check the network and HTTPS_PROXY, then try again.",
    });
    expect(logged).toEqual(
      expect.arrayContaining([
        "setup: Looking",
        "setup: Failed to establish a new connection",
        "setup: ERROR: No matching distribution",
      ]),
    );
    expect(await environments()).toEqual([]);
  });

  it("gives pip's last lines when nothing better is known", async () => {
    const failed = ensureEnvironment(
      parts(await python({ pip: "echo one >&2; echo two >&2; echo three >&2; echo four >&2; exit 1" })),
    );
    await expect(failed).rejects.toMatchObject({
      reason: "environment",
      message: "The daemon could not be set up.",
      hint: "two three four",
    });
  });

  it("ends when it is cancelled, with what runs, and leaves nothing behind", async () => {
    const all = parts(await python({ pip: "exec sleep 60" }));
    const withProgress: EnvironmentParts["withProgress"] = (work) =>
      work((detail) => {
        if (detail.startsWith("Installing")) cancel.abort();
      }, cancel.signal);
    const failed = ensureEnvironment({ ...all, withProgress });
    await expect(failed).rejects.toMatchObject({ message: "Setting the daemon up was cancelled." });
    expect(await environments()).toEqual([]);
  });
});

describe("holdLock", () => {
  const nobody = new AbortController().signal;

  it("lets the second wait until the first gives it back", async () => {
    const path = join(folder, "lock");
    const order: string[] = [];
    const release = await holdLock(path, nobody, () => order.push("first waits"));
    const second = holdLock(path, nobody, () => {
      order.push("second waits");
      void release();
    });
    await (
      await second
    )();
    expect(order).toEqual(["second waits"]);
    expect(await readdir(folder)).not.toContain("lock");
  });

  it("takes a lock that nobody has touched for half a minute", async () => {
    const path = join(folder, "lock");
    await mkdir(path);
    const long = new Date(Date.now() - 31_000);
    await utimes(path, long, long);
    await (
      await holdLock(path, nobody, () => undefined)
    )();
  });

  it("stops waiting when aborted", async () => {
    const path = join(folder, "lock");
    const release = await holdLock(path, nobody, () => undefined);
    const abort = new AbortController();
    await expect(holdLock(path, abort.signal, () => abort.abort())).rejects.toMatchObject({ name: "AbortError" });
    await release();
  });
});
