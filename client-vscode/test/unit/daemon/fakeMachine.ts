/** A daemon whose processes are made of promises. */
import { english } from "../../../src/chat/pure/words.js";
import { Daemon, type DaemonParts } from "../../../src/daemon/daemon.js";
import { StartFailure } from "../../../src/daemon/failure.js";
import type { Exit, Launch, Link, LinkEvents } from "../../../src/daemon/link.js";
import { PROTOCOL_VERSION } from "../../../src/protocol.gen.js";

export const LAUNCH: Launch = { command: ["gc", "serve"], env: {}, cwd: "/", from: "path" };
export class Process implements Link {
  readonly server = { name: "gemini-companion", version: "0.1.0", protocolVersion: String(PROTOCOL_VERSION) };
  readonly notified: [string, unknown][] = [];
  answer: (method: string) => Promise<unknown> = () => Promise.resolve(null);
  isStopped = false;
  readonly gone: Promise<void>;
  #resolveGone: () => void = () => undefined;

  constructor(readonly events: LinkEvents) {
    this.gone = new Promise((resolve) => (this.#resolveGone = resolve));
  }

  request(method: string): Promise<unknown> {
    return this.answer(method);
  }
  notify(method: string, params: unknown): Promise<void> {
    this.notified.push([method, params]);
    return Promise.resolve();
  }
  stop(): Promise<void> {
    this.isStopped = true;
    this.die({ code: 0, lastLine: "" });
    return Promise.resolve();
  }
  die(exit: Exit = { code: 1, lastLine: "Killed" }): void {
    this.events.ended(exit);
    this.#resolveGone();
  }
}

export class Machine {
  readonly processes: Process[] = [];
  launches = 0;
  refuse: Error | undefined;
  failure: StartFailure | undefined;
  readonly parts: DaemonParts = {
    launch: () => {
      this.launches++;
      return Promise.resolve(LAUNCH);
    },
    connect: (_, events) => {
      if (this.refuse !== undefined) return Promise.reject(this.refuse);
      const process = new Process(events);
      this.processes.push(process);
      return Promise.resolve(process);
    },
    judge: () => this.failure,
    crashed: (exit) => new StartFailure("crashed", `crashed: ${exit?.lastLine ?? ""}`, "", []),
    settings: () => ({ model: { name: "offline" } }),
    showMessage: () => undefined,
    askMessage: () => Promise.resolve(null),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    t: english,
  };
  readonly daemon = new Daemon(this.parts);

  get newest(): Process {
    const process = this.processes.at(-1);
    if (process === undefined) throw new Error("nothing was started");
    return process;
  }
}
