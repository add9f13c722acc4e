/** Programs that are run and waited for. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { ProgramSearch } from "./pure/locate.js";

export interface Ran {
  /** Absent if it could not be started, was aborted, or a signal or the time limit ended it. */
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** ms */
  readonly timeout: number;
  readonly abort?: AbortSignal;
}

/** Runs a program to its end. Never rejects. Output beyond 4 MiB ends it. */
export function run(command: readonly [string, ...string[]], options: RunOptions): Promise<Ran> {
  const [program, ...rest] = command;
  return new Promise((resolve) => {
    const { cwd, timeout, abort } = options;
    const settings = {
      cwd,
      timeout,
      windowsHide: true,
      maxBuffer: 4 << 20,
      encoding: "utf8" as const,
      ...(abort === undefined ? {} : { signal: abort }),
    };
    execFile(program, rest, settings, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else
        resolve({
          ...(typeof error.code === "number" ? { code: error.code } : {}),
          stdout,
          stderr: stderr === "" ? error.message : stderr,
        });
    });
  });
}

/** Whether this is a file that may be run. */
export async function isProgram(file: string): Promise<boolean> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return false;
    await access(file, process.platform === "win32" ? constants.R_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where this machine looks for programs. */
export function programSearch(): ProgramSearch {
  return {
    platform: process.platform,
    path: process.env["PATH"] ?? "",
    extensions: process.env["PATHEXT"] ?? ".EXE;.COM",
  };
}
