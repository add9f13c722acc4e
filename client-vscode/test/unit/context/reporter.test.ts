import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EditorReading } from "../../../src/context/pure/editorState.js";
import { ContextReporter } from "../../../src/context/reporter.js";
import type { DaemonPort } from "../../../src/daemon/port.js";
import { Signal } from "../../../src/daemon/signal.js";
import type { IdeContextParams } from "../../../src/protocol.gen.js";

const A = "file:///w/a.py";
const B = "file:///w/b.py";

/** As much of a daemon as a reporter speaks to. */
class Ear implements DaemonPort {
  readonly view = { kind: "ready", version: "0.1.0" } as const;
  readonly connected = new Signal<void>();
  readonly onDidConnect = this.connected.event;
  readonly onDidChangeView = new Signal<never>().event;
  readonly onEvent = new Signal<never>().event;
  readonly onCompressionStatus = new Signal<never>().event;
  readonly onSessionTaken = new Signal<never>().event;
  readonly notices: IdeContextParams[] = [];

  notify(_method: "gemini/ideContext/didChange", params: IdeContextParams): Promise<void> {
    this.notices.push(params);
    return Promise.resolve();
  }
  request = (): Promise<never> => Promise.reject(new Error("not asked"));
  handle = (): { dispose(): void } => ({ dispose: () => undefined });
  start = (): Promise<void> => Promise.resolve();
  restart = (): Promise<void> => Promise.resolve();
}

let daemon: Ear;
let now: EditorReading;
let changed: Signal<void>;
let reporter: ContextReporter;

function show(...tabs: string[]): void {
  now = { tabs, shown: [], isTrusted: true, ...(tabs[0] === undefined ? {} : { active: tabs[0] }) };
  changed.fire();
}

beforeEach(() => {
  vi.useFakeTimers();
  daemon = new Ear();
  changed = new Signal();
  now = { tabs: [A], active: A, shown: [], isTrusted: false };
  reporter = new ContextReporter(daemon, { read: () => now, onDidChange: changed.event });
});

afterEach(() => {
  reporter.dispose();
  vi.useRealTimers();
});

describe("ContextReporter", () => {
  it("tells everything after every handshake, also if nothing changed", async () => {
    daemon.connected.fire();
    daemon.connected.fire();
    await vi.advanceTimersByTimeAsync(0);
    expect(daemon.notices.map(({ openFiles }) => openFiles.map(({ uri }) => uri))).toEqual([[A], [A]]);
  });

  it("folds a burst into one notice after 50 ms", async () => {
    for (const uri of [B, A, B]) show(uri, uri === A ? B : A);
    await vi.advanceTimersByTimeAsync(49);
    expect(daemon.notices).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(daemon.notices).toHaveLength(1);
    expect(daemon.notices[0]?.openFiles[0]?.uri).toBe(B);
  });

  it("remembers what was looked at within a burst", async () => {
    show(B, A);
    show(A, B);
    show(...[]);
    show(A, B);
    await reporter.flush();
    const times = daemon.notices[0]?.openFiles.map(({ uri, lastFocusedAt }) => [uri, lastFocusedAt > 0]);
    expect(times).toEqual([
      [A, true],
      [B, false],
    ]);
  });

  it("flushes what is pending, once", async () => {
    show(B);
    await reporter.flush();
    await reporter.flush();
    await vi.advanceTimersByTimeAsync(100);
    expect(daemon.notices).toHaveLength(1);
  });

  it("reads the editor anew when it is flushed: an event may still be on its way", async () => {
    now = { ...now, tabs: [B], active: B };
    await reporter.flush();
    expect(daemon.notices[0]?.openFiles[0]?.uri).toBe(B);
  });

  it("tells the trust with the next notice", async () => {
    await reporter.flush();
    now = { ...now, isTrusted: true };
    changed.fire();
    await vi.advanceTimersByTimeAsync(50);
    expect(daemon.notices.map(({ isTrusted }) => isTrusted)).toEqual([false, true]);
  });

  it("tells the panel only what changed for it", () => {
    const received = vi.fn();
    reporter.onDidChange(received);
    changed.fire();
    expect(received).not.toHaveBeenCalled();
    reporter.setIncluded(A, false);
    expect(received).toHaveBeenCalledTimes(1);
    expect(reporter.files).toEqual([{ uri: A, isActive: true, included: false }]);
  });

  it("tells the daemon what was taken out, and restores it with a draft", async () => {
    reporter.restoreExcluded([A]);
    await reporter.flush();
    reporter.setIncluded(A, true);
    await reporter.flush();
    expect(daemon.notices.map(({ excluded }) => excluded)).toEqual([[A], undefined]);
  });
});
