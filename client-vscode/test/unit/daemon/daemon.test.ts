/** The daemon's life, with a process that is made of promises. */
import type { CancellationToken } from "vscode";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Daemon } from "../../../src/daemon/daemon.js";
import { StartFailure } from "../../../src/daemon/failure.js";
import { NoHandshake, type Link } from "../../../src/daemon/link.js";
import { DaemonFault } from "../../../src/daemon/port.js";
import { ErrorCode } from "../../../src/protocol.gen.js";
import { LAUNCH, Machine, Process } from "./fakeMachine.js";

const SUBSCRIPTION = { sessionId: "s", on: true };
const NEVER: CancellationToken = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose: () => undefined }),
};

let machine: Machine;
let daemon: Daemon;

beforeEach(() => {
  vi.useFakeTimers();
  machine = new Machine();
  daemon = machine.daemon;
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets everything that can go on go on, for as long as a restart may take. */
const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("starting", () => {
  it("starts nothing until it is wanted, and then one process for everybody", async () => {
    expect(machine.launches).toBe(0);
    await Promise.all([daemon.start(), daemon.start(), daemon.request("gemini/session/subscribe", SUBSCRIPTION)]);
    expect(machine.processes).toHaveLength(1);
    expect(daemon.view).toEqual({ kind: "ready", version: "0.1.0" });
  });

  it("tells the settings before anybody receives of the connection", async () => {
    const received = vi.fn(() => machine.newest.notified.length);
    daemon.onDidConnect(received);
    await daemon.start();
    expect(machine.newest.notified).toEqual([
      ["workspace/didChangeConfiguration", { settings: { geminiCompanion: { model: { name: "offline" } } } }],
    ]);
    expect(received).toHaveReturnedWith(1);
  });

  it("says in the view what takes so long", async () => {
    const views: unknown[] = [];
    daemon.onDidChangeView((view) => views.push(view));
    machine.parts.launch = (report) => {
      report("Installing…");
      return Promise.resolve(LAUNCH);
    };
    await daemon.start();
    expect(views).toContainEqual({ kind: "starting", detail: "Installing…" });
  });

  it("refuses every request after a failure, without trying again, until it is restarted", async () => {
    machine.parts.launch = () => {
      machine.launches++;
      return Promise.reject(
        new StartFailure("noPython", "No Python.", "Install it.", [{ id: "choosePython", label: "Choose" }]),
      );
    };
    await expect(daemon.request("gemini/session/subscribe", SUBSCRIPTION)).rejects.toMatchObject({
      data: { kind: "daemon", message: "No Python.", hint: "Install it." },
    });
    await expect(daemon.request("gemini/session/subscribe", SUBSCRIPTION)).rejects.toBeInstanceOf(DaemonFault);
    expect(machine.launches).toBe(1);
    expect(daemon.view).toMatchObject({
      kind: "failed",
      reason: "noPython",
      error: { actions: [{ id: "choosePython" }] },
    });
    machine.parts.launch = () => Promise.resolve(LAUNCH);
    await daemon.restart();
    expect(daemon.view.kind).toBe("ready");
  });

  it("gives up at once on a process that never came up, and says its last words", async () => {
    machine.refuse = new NoHandshake("", { code: 1, lastLine: "ModuleNotFoundError" });
    await expect(daemon.start()).rejects.toMatchObject({ message: "crashed: ModuleNotFoundError" });
    expect(daemon.view).toMatchObject({ kind: "failed", reason: "crashed" });
  });

  it("knows a failed handshake of the language client's own bundle, whose classes are not ours", async () => {
    machine.refuse = Object.assign(new Error("closed"), {
      name: "NoHandshake",
      exit: { code: 3, lastLine: "ModuleNotFoundError" },
    });
    await expect(daemon.start()).rejects.toMatchObject({ message: "crashed: ModuleNotFoundError" });
  });

  it("stops a daemon whose version does not fit", async () => {
    machine.failure = new StartFailure("versionMismatch", "Too old.", "", []);
    await expect(daemon.start()).rejects.toMatchObject({ message: "Too old." });
    expect(machine.newest.isStopped).toBe(true);
    expect(daemon.view).toMatchObject({ kind: "failed", reason: "versionMismatch" });
  });

  it("notices a process that ends in the moment of its answer", async () => {
    machine.parts.connect = (_, events) => {
      const process = new Process(events);
      process.die();
      return Promise.resolve(process);
    };
    await expect(daemon.start()).rejects.toMatchObject({ message: "crashed: Killed" });
  });
});

describe("a crash", () => {
  it("is answered with a restart, for which requests wait", async () => {
    await daemon.start();
    const connected = vi.fn();
    daemon.onDidConnect(connected);
    machine.newest.die();
    expect(daemon.view).toMatchObject({ kind: "lost", attempt: 1, retryAt: Date.now() + 1_000 });
    const answered = daemon.request("gemini/session/subscribe", SUBSCRIPTION);
    await settle(1_000);
    await answered;
    expect(daemon.view.kind).toBe("ready");
    expect(connected).toHaveBeenCalledTimes(1);
    expect(machine.processes).toHaveLength(2);
  });

  it("fails the requests that were under way, with a fault that may be tried again", async () => {
    await daemon.start();
    machine.newest.answer = () => Promise.reject(Object.assign(new Error("closed"), { code: -32_097 }));
    await expect(daemon.request("gemini/session/subscribe", SUBSCRIPTION)).rejects.toMatchObject({
      data: { kind: "daemon", retryable: true },
    });
  });

  it("does not fail a request that comes between the connection's end and the process's", async () => {
    await daemon.start();
    const dying = machine.newest;
    dying.answer = () => Promise.reject(Object.assign(new Error("inactive"), { code: -32_096 }));
    const answered = daemon.request("gemini/session/subscribe", SUBSCRIPTION);
    await settle();
    dying.die();
    await settle(1_000);
    await expect(answered).resolves.toBeNull();
    expect(machine.processes).toHaveLength(2);
  });

  it("ends it for good when it happens too often", async () => {
    await daemon.start();
    for (const delay of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      machine.newest.die();
      expect(daemon.view.kind).toBe("lost");
      await settle(delay);
      expect(daemon.view.kind).toBe("ready");
    }
    machine.newest.die();
    expect(daemon.view).toMatchObject({ kind: "failed", reason: "crashed" });
    await settle(600_000);
    expect(machine.processes).toHaveLength(6);
    await expect(daemon.request("gemini/session/subscribe", SUBSCRIPTION)).rejects.toBeInstanceOf(DaemonFault);
  });

  it("of a restart counts as one more", async () => {
    await daemon.start();
    machine.newest.die();
    machine.refuse = new NoHandshake("", { lastLine: "" });
    await settle(1_000);
    expect(daemon.view).toMatchObject({ kind: "lost", attempt: 2 });
  });
});

describe("restarting and stopping", () => {
  it("waits for the old process, and forgets earlier crashes", async () => {
    await daemon.start();
    const first = machine.newest;
    first.die();
    await settle(1_000);
    await daemon.restart();
    expect(machine.processes[1]?.isStopped).toBe(true);
    machine.newest.die();
    expect(daemon.view).toMatchObject({ kind: "lost", attempt: 1 });
  });

  it("does not take an ordered end for a crash", async () => {
    await daemon.start();
    const kinds: string[] = [];
    daemon.onDidChangeView((view) => kinds.push(view.kind));
    await daemon.restart();
    expect(kinds).not.toContain("lost");
  });

  it("stops a process that comes up when nobody wants it any more", async () => {
    let arrive: (link: Link) => void = () => undefined;
    let late: Process | undefined;
    machine.parts.connect = (_, events) => {
      late = new Process(events);
      return new Promise((resolve) => (arrive = resolve));
    };
    const started = daemon.start();
    started.catch(() => undefined);
    await settle();
    const stopped = daemon.stop();
    if (late === undefined) throw new Error("nothing was started");
    arrive(late);
    await stopped;
    await settle();
    expect(late.isStopped).toBe(true);
    await expect(started).rejects.toBeInstanceOf(DaemonFault);
    await expect(daemon.start()).rejects.toBeInstanceOf(DaemonFault);
  });
});

describe("messages", () => {
  it("cancels a request that waits for the start", async () => {
    machine.parts.launch = () => new Promise(() => undefined);
    let cancel: () => void = () => undefined;
    const token: CancellationToken = {
      isCancellationRequested: false,
      onCancellationRequested: (listener) => {
        cancel = () => void listener.call(undefined, undefined);
        return { dispose: () => undefined };
      },
    };
    const request = daemon.request("gemini/session/subscribe", SUBSCRIPTION, token);
    cancel();
    await expect(request).rejects.toMatchObject({ code: ErrorCode.cancelled, data: { kind: "cancelled" } });
  });

  it("drops notices while nothing runs", async () => {
    await daemon.notify("gemini/ideContext/didChange", { openFiles: [] });
    expect(machine.launches).toBe(0);
  });

  it("passes events on and drops what is none", async () => {
    await daemon.start();
    const received = vi.fn();
    daemon.onEvent(received);
    const event = { sessionId: "s", seq: 1, time: 0, event: { type: "titleChanged", title: "x" } };
    machine.newest.events.notification("gemini/event", event);
    machine.newest.events.notification("gemini/event", { seq: 1 });
    machine.newest.events.notification("gemini/other", event);
    expect(received.mock.calls).toEqual([[event]]);
  });

  it("receives nothing of a process that was replaced", async () => {
    await daemon.start();
    const old = machine.newest;
    await daemon.restart();
    const received = vi.fn();
    daemon.onEvent(received);
    old.events.notification("gemini/event", {
      sessionId: "s",
      seq: 1,
      time: 0,
      event: { type: "titleChanged", title: "x" },
    });
    expect(received).not.toHaveBeenCalled();
  });

  it("keeps the other listeners when one throws", async () => {
    await daemon.start();
    const received = vi.fn();
    daemon.onEvent(() => {
      throw new Error("broken");
    });
    daemon.onEvent(received);
    machine.newest.events.notification("gemini/event", {
      sessionId: "s",
      seq: 1,
      time: 0,
      event: { type: "titleChanged", title: "x" },
    });
    expect(received).toHaveBeenCalledTimes(1);
  });

  it("answers the daemon by the handler, and refuses what nobody handles", async () => {
    await daemon.start();
    const { events } = machine.newest;
    const handler = daemon.handle("gemini/openDiff", () => Promise.resolve({ outcome: "accepted" }));
    await expect(events.request("gemini/openDiff", { path: "/a", newContent: "" }, NEVER)).resolves.toEqual({
      outcome: "accepted",
    });
    handler.dispose();
    await expect(events.request("gemini/openDiff", { path: "/a", newContent: "" }, NEVER)).rejects.toMatchObject({
      code: ErrorCode.methodNotFound,
    });
  });
});
