/** Where things are: the repository, what it built, the editor and the browser that `scripts/setup-vscode.mjs` brought. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const client = resolve(import.meta.dirname, "../../..");
export const repository = resolve(client, "..");
/** The daemon of the repository's own environment. */
export const daemonCommand = join(repository, ".venv", "bin", "gemini-companion");
export const python = join(repository, ".venv", "bin", "python");
/** Screenshots and the logs of what failed. */
export const artifacts = join(client, "artifacts");

export interface Tools {
  /** The Node that runs code-server. */
  readonly node: string;
  readonly codeServer: string;
  readonly chromium: string;
}

/** Throws, with the command to run, if they have not been brought yet. */
export function tools(): Tools {
  const cache =
    process.env["COMPANION_E2E_CACHE"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "gemini-companion-e2e");
  const file = join(cache, "tools.json");
  if (!existsSync(file)) throw new Error(`${file} is missing: run make e2e, or node scripts/setup-vscode.mjs.`);
  return JSON.parse(readFileSync(file, "utf8")) as Tools; // written by our own script
}

/** The packed extension; COMPANION_VSIX names another. */
export function vsix(): string {
  const { version } = JSON.parse(readFileSync(join(client, "package.json"), "utf8")) as { version: string }; // ours
  const file = process.env["COMPANION_VSIX"] ?? join(repository, "dist", `gemini-companion-${version}.vsix`);
  if (!existsSync(file)) throw new Error(`${file} is missing: run make package.`);
  return file;
}
