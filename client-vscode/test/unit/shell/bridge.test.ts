import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FromPage, ToPage } from "../../../src/panel/contract.js";
import { Bridge, callTimeoutMs, readyTimeoutMs, type ShellMessage } from "../../../webview/bridge.js";
import { decoders } from "../../../webview/decoders.js";
import { answers } from "../../panel/answers.js";
import { baseState } from "../../panel/chatRows.js";
import { fixtures } from "../../panel/fixtures.js";

const sync = (rev: number): ToPage => ({
  type: "sync",
  rev,
  state: baseState,
  total: 0,
  from: 0,
  rows: [],
  strings: {},
});
const state = (rev: number): ToPage => ({ type: "state", rev, state: baseState });

function setUp(isVisible = true) {
  const sent: FromPage[] = [];
  const taken: ShellMessage[] = [];
  // The page only ever posts what the contract names.
  const api = {
    postMessage: (message: unknown) => void sent.push(message as FromPage),
    getState: () => undefined,
    setState: () => undefined,
  };
  const bridge = new Bridge(
    api,
    (message) => taken.push(message),
    () => decoders,
    () => isVisible,
  );
  const readies = () => sent.filter((message) => message.type === "ready");
  return { bridge, sent, taken, readies };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the numbers of messages", () => {
  it("are followed from a sync on; what comes before it is dropped", () => {
    const { bridge, taken } = setUp();
    bridge.start();
    for (const message of [state(6), sync(7), state(8), state(9)]) bridge.receive(message);
    expect(taken.map(({ rev }) => rev)).toEqual([7, 8, 9]);
  });

  it("show a lost message: a sync is asked for once, and nothing is taken until it comes", () => {
    const { bridge, taken, readies } = setUp();
    bridge.start();
    for (const message of [sync(1), state(2), state(4), state(5), sync(6), state(7)]) bridge.receive(message);
    expect(taken.map(({ rev }) => rev)).toEqual([1, 2, 6, 7]);
    expect(readies()).toEqual([
      { type: "ready", boot: true },
      { type: "ready", boot: false, chat: 1 },
    ]);
  });

  it("every message says which chat the page shows", () => {
    const { bridge, sent } = setUp();
    bridge.start();
    bridge.receive(sync(1));
    bridge.send({ type: "stop" });
    bridge.receive({ ...state(2), state: { ...baseState, chat: 7 } });
    bridge.send({ type: "send", text: "a" });
    void bridge.call({ do: "rules" });
    expect(sent.map(({ type, chat }) => [type, chat])).toEqual([
      ["ready", undefined],
      ["stop", 1],
      ["send", 7],
      ["call", 7],
    ]);
  });

  it("let a repeated message be taken once", () => {
    const { bridge, taken, readies } = setUp();
    bridge.start();
    for (const message of [sync(1), state(2), state(2), state(1), state(3)]) bridge.receive(message);
    expect(taken.map(({ rev }) => rev)).toEqual([1, 2, 3]);
    expect(readies()).toHaveLength(1);
  });

  it("may begin anew with a sync of a host that restarted", () => {
    const { bridge, taken } = setUp();
    bridge.start();
    for (const message of [sync(40), sync(1), state(2)]) bridge.receive(message);
    expect(taken.map(({ rev }) => rev)).toEqual([40, 1, 2]);
  });
});

describe("saying ready", () => {
  it("is repeated until a sync comes", () => {
    const { bridge, readies } = setUp();
    bridge.start();
    vi.advanceTimersByTime(2 * readyTimeoutMs);
    expect(readies()).toHaveLength(3);
    bridge.receive(sync(1));
    vi.advanceTimersByTime(10 * readyTimeoutMs);
    expect(readies()).toHaveLength(3);
  });

  it("is not repeated by a hidden page, but when it shows again", () => {
    const { bridge, readies } = setUp(false);
    bridge.start();
    vi.advanceTimersByTime(10 * readyTimeoutMs);
    expect(readies()).toHaveLength(1);
    bridge.wake();
    expect(readies()).toHaveLength(2);
  });
});

describe("hostile or broken messages", () => {
  it.each([
    undefined,
    null,
    "sync",
    [],
    { type: "state" },
    { type: "nonsense", rev: 2 },
    { type: "constructor", rev: 2 },
    { type: "state", rev: 2, state: { ...baseState, chips: [{ uri: 1 }] } },
    { type: "state", rev: 2, state: { ...baseState, meter: { used: Number.NaN, limit: 1, source: "api" } } },
    { type: "rows", rev: 2, total: 1, from: 0, rows: [{ kind: "prompt", id: "p:1" }] },
    { type: "delta", rev: 2, rowId: "a:1", version: 1, field: "innerHTML", at: 0, text: "x" },
  ])("are not taken, are reported without their content, and asked for again (%#)", (data) => {
    const { bridge, taken, sent, readies } = setUp();
    bridge.start();
    bridge.receive(sync(1));
    bridge.receive(data);
    expect(taken).toHaveLength(1);
    expect(sent.at(-1)?.type).toBe("defect");
    bridge.receive(state(3));
    expect(readies()).toHaveLength(2);
  });

  it("are none of the messages of the fixtures", () => {
    for (const messages of Object.values(fixtures)) {
      const { bridge, taken, sent } = setUp();
      bridge.start();
      for (const message of messages) bridge.receive(message);
      expect(taken).toHaveLength(messages.length);
      expect(sent.filter(({ type }) => type === "defect")).toEqual([]);
    }
  });
});

describe("asking the host", () => {
  it("is answered by the result with its number, in any order", async () => {
    const { bridge } = setUp();
    bridge.receive(sync(1));
    const first = bridge.call({ do: "prompts" });
    const second = bridge.call({ do: "rules" });
    bridge.receive({ type: "result", rev: 2, call: 2, ok: true, value: answers.rules });
    bridge.receive({ type: "result", rev: 3, call: 1, ok: true, value: answers.prompts });
    expect(await second).toEqual(answers.rules);
    expect(await first).toEqual(answers.prompts);
  });

  it("is answered though messages were lost meanwhile", async () => {
    const { bridge } = setUp();
    bridge.receive(sync(1));
    const call = bridge.call({ do: "verdict" });
    bridge.receive({ type: "result", rev: 9, call: 1, ok: true, value: null });
    expect(await call).toBeNull();
  });

  it("fails with the host's error", async () => {
    const { bridge } = setUp();
    const call = bridge.call({ do: "stats" });
    bridge.receive({
      type: "result",
      rev: 1,
      call: 1,
      ok: false,
      error: { kind: "daemon", message: "Gone.", hint: "Restart.", retryable: true, actions: [] },
    });
    await expect(call).rejects.toMatchObject({ view: { kind: "daemon", hint: "Restart." } });
  });

  it("fails if the answer is not what was asked for", async () => {
    const { bridge, sent } = setUp();
    const call = bridge.call({ do: "stats" });
    bridge.receive({ type: "result", rev: 1, call: 1, ok: true, value: { sessionId: "s1", turns: "many" } });
    await expect(call).rejects.toMatchObject({ view: { kind: "malformed" } });
    expect(sent.at(-1)).toEqual({ type: "defect", message: "malformed message of the host: result.stats.turns" });
  });

  it("fails if no answer comes in time", async () => {
    const { bridge } = setUp();
    const call = bridge.call({ do: "stats" });
    const failed = expect(call).rejects.toMatchObject({ view: { kind: "timeout" } });
    vi.advanceTimersByTime(callTimeoutMs);
    await failed;
  });

  it("can be answered by every fixture answer", async () => {
    const { bridge } = setUp();
    const requests = [
      { do: "context" },
      { do: "sessions", query: "" },
      { do: "files", query: "" },
      { do: "compressions" },
      { do: "find", query: "x", caseSensitive: false },
    ] as const;
    for (const [index, request] of requests.entries()) {
      const call = bridge.call(request);
      bridge.receive({ type: "result", rev: 1, call: index + 1, ok: true, value: answers[request.do] });
      expect(await call).toEqual(answers[request.do]);
    }
  });
});
