/** What the store of a running VS Code has, through the protocol: a second daemon over the same data is asked. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { OWN_MODULES } from "./localModel.js";
import { python, repository } from "./places.js";
import type { VsCodeServer } from "./vscodeServer.js";

/** One question: a method, and its params. A `sessionId` of `newest` is the chat that was used last. */
export type Question = readonly [method: string, params: Readonly<Record<string, unknown>>];

/** The results, in the order of the questions. Throws with what the daemon said if one of them fails. */
export async function askStore(server: VsCodeServer, questions: readonly Question[]): Promise<readonly unknown[]> {
  const env = {
    ...process.env,
    HOME: join(server.folder, "home"),
    COMPANION_DATA_DIR: join(server.folder, "companion"),
    PYTHONPATH: OWN_MODULES,
  };
  const child = spawn(python, [join(import.meta.dirname, "ask_daemon.py"), server.workspace], { cwd: repository, env });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stdin.end(JSON.stringify(questions));
  const [said, wrong, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`The store could not be asked: ${wrong.slice(-2000)}`);
  return JSON.parse(said) as readonly unknown[]; // our own script's
}
