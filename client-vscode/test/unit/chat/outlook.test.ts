/** The chips ask the daemon, seldom and once at a time. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Outlook } from "../../../src/chat/outlook.js";
import type { Chat } from "../../../src/chat/chat.js";
import { Signal } from "../../../src/daemon/signal.js";
import type { ContextPreview } from "../../../src/protocol.gen.js";
import { FakeReporter } from "./fakeDaemon.js";

const PREVIEW: ContextPreview = { kind: "none", files: [], withheld: [], selectionChars: 0 };

let asked: unknown[];
let answers: ((preview: ContextPreview) => void)[];
let sessionId: string | undefined;
let typed: Signal<void>;
let outlook: Outlook;

/** As much of a chat as is looked at. */
function chat(): Chat {
  const never = new Signal<never>().event;
  return {
    daemon: {
      view: { kind: "ready", version: "1" },
      onDidConnect: never,
      request: (_method: string, params: unknown) => {
        asked.push(params);
        return new Promise((resolve) => answers.push(resolve));
      },
    },
    onAnswerEnd: never,
    get info() {
      return sessionId === undefined ? undefined : { sessionId };
    },
  } as unknown as Chat; // the test has nothing of the rest
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answers = [];
  sessionId = undefined;
  typed = new Signal();
  outlook = new Outlook(chat(), new FakeReporter(), [typed.event]);
});
afterEach(() => {
  outlook.dispose();
  vi.useRealTimers();
});

describe("the outlook", () => {
  it("is asked once for a hundred changes; in an empty chat it is that of a new session, whichever is current", async () => {
    for (let change = 0; change < 100; change += 1) {
      typed.fire();
      await pass(10);
    }
    expect(asked).toEqual([]);
    await pass(300);
    expect(asked).toEqual([{ ofNewSession: true }]);
  });

  it("names the open session", async () => {
    sessionId = "s1";
    typed.fire();
    await pass(300);
    expect(asked).toEqual([{ sessionId: "s1" }]);
  });

  it("asks again only when the answer has come, and once for all that changed meanwhile", async () => {
    typed.fire();
    await pass(300);
    for (let change = 0; change < 5; change += 1) {
      typed.fire();
      await pass(400);
    }
    expect(asked).toHaveLength(1);
    answers[0]?.(PREVIEW);
    await pass(300);
    expect(asked).toHaveLength(2);
  });

  it("says that it changed only when it did", async () => {
    const changes = vi.fn();
    outlook.onDidChange(changes);
    const openFiles = [{ uri: "file:///w/a.py", name: "a.py", extent: "whole" }] as const;
    for (const preview of [PREVIEW, { ...PREVIEW, openFiles }, { ...PREVIEW, openFiles }]) {
      typed.fire();
      await pass(300);
      answers.at(-1)?.(preview);
      await pass(0);
    }
    expect(changes).toHaveBeenCalledTimes(1);
    expect(outlook.files.get("file:///w/a.py")?.extent).toBe("whole");
  });
});
