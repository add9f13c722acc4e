/** Which Python to make an environment with. */
import { programFiles, type ProgramSearch } from "./locate.js";

export type PythonVersion = readonly [major: number, minor: number, micro: number];

const OLDEST_PYTHON: PythonVersion = [3, 11, 0];

/** Prints what `readPython` reads. */
export const PYTHON_PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3])";

const NAMES = ["python3.13", "python3.12", "python3.11", "python3", "python"];

/**
 * Commands that may start a Python, best first.
 *
 * @param setting what the person's setting names; it is then the only one
 */
export function pythonCandidates(
  setting: string | undefined,
  search: ProgramSearch,
): (readonly [string, ...string[]])[] {
  if (setting !== undefined) return programFiles(setting, search).map((file) => [file]);
  const found = NAMES.flatMap((name) => programFiles(name, search).map((file): [string] => [file]));
  const launcher =
    search.platform === "win32" ? programFiles("py", search).map((file): [string, string] => [file, "-3"]) : [];
  // Apple's stand-in asks to install developer tools when it is run, and is too old in any case.
  return [...found, ...launcher].filter(
    ([file]) => search.platform !== "darwin" || !/^\/usr\/bin\/python3?$/.test(file),
  );
}

/** The version out of the probe's output. */
export function readPython(output: string): PythonVersion | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\s*$/.exec(output.trim());
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

export function isRecent([major, minor]: PythonVersion): boolean {
  return major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1];
}

/** What became of `-m venv` or `pip install`, by their output. */
export type SetupFault = "noVenv" | "noNetwork" | "noSpace" | "noMatch" | "other";

const UNREACHED =
  /NewConnectionError|Failed to establish|Temporary failure in name resolution|getaddrinfo|ConnectTimeout|ProxyError|Network is unreachable|SSLError/i;

export function diagnose(output: string): SetupFault {
  if (/ensurepip is not available|No module named '?(?:venv|ensurepip)/.test(output)) return "noVenv";
  if (/No space left on device|ENOSPC/.test(output)) return "noSpace";
  if (UNREACHED.test(output)) return "noNetwork";
  if (/No matching distribution|ResolutionImpossible|requires a different Python/.test(output)) return "noMatch";
  return "other";
}

/** The last lines of a program's output that say something. */
export function lastLines(output: string, count: number): string[] {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("[notice]"))
    .slice(-count)
    .map((line) => line.slice(0, 300));
}
