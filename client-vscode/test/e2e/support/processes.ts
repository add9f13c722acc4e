/** Child processes that are ended by their own id, and a look at what is left of them. Linux only, as the whole harness. */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { patiently } from "./patience.js";

const GRACE_MS = 10_000;

/** Asks a child to end, and kills it if it has not after 10 s. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await ended;
  clearTimeout(timer);
}

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/** The processes that carry `name=value` in the environment that they were started with. */
export function processesWith(name: string, value: string): RunningProcess[] {
  const found: RunningProcess[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const environment = readFileSync(`/proc/${entry}/environ`, "utf8").split("\0");
      const command = readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command !== "" && environment.includes(`${name}=${value}`)) found.push({ pid: Number(entry), command });
    } catch {
      // It ended while we withReading, or it is somebody else's.
    }
  }
  return found;
}

/** Waits until `find` finds none, kills what is left and throws then: a test that leaves processes behind fails. */
export async function expectNoneLeft(find: () => RunningProcess[]): Promise<void> {
  try {
    await patiently("the processes of the run have ended", () => find().length === 0 || undefined, GRACE_MS);
  } catch {
    const left = find();
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    if (left.length > 0)
      throw new Error(`Left running: ${left.map(({ pid, command }) => `${pid} ${command.slice(0, 200)}`).join("; ")}`);
  }
}
