/** What comes over the wire and what stands in the log of it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { english } from "../../../src/chat/pure/words.js";
import { DaemonFault } from "../../../src/daemon/port.js";
import { toFault } from "../../../src/daemon/pure/faults.js";
import { readNotification, readResult } from "../../../src/daemon/pure/incoming.js";
import { DAEMON_SETTINGS, sectionOf } from "../../../src/daemon/pure/settings.js";
import { describeMessage, firstLine } from "../../../src/daemon/pure/tracing.js";

describe("toFault", () => {
  it("keeps the daemon's own data", () => {
    const data = { kind: "unauthenticated", message: "No key.", hint: "Set one.", retryable: false, retryAfterMs: 5 };
    expect(toFault(Object.assign(new Error("x"), { code: 1004, data }), english)).toMatchObject({ code: 1004, data });
  });

  it("tells a connection that is gone from a refusal", () => {
    for (const code of [-32_097, -32_098, -32_099])
      expect(toFault({ code }, english).data).toMatchObject({ kind: "daemon", retryable: true });
    expect(toFault({ code: -32_601 }, english).data.kind).toBe("methodNotFound");
    expect(toFault({ code: -32_800 }, english).data.kind).toBe("cancelled");
  });

  it("makes a fault of anything, and quotes nothing of what it does not know", () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        const fault = toFault(thrown, english);
        return fault instanceof DaemonFault && typeof fault.data.kind === "string";
      }),
    );
    expect(JSON.stringify(toFault(new Error("the person's words"), english).data)).not.toContain("words");
  });
});

describe("notifications", () => {
  const event = { sessionId: "s", seq: 3, time: 1, event: { type: "titleChanged", title: "x" } };
  const isRead = (params: unknown): boolean => "params" in readNotification("gemini/event", params);

  it("passes events on as they are, and leaves out types of another release", () => {
    expect(readNotification("gemini/event", event)).toEqual({ params: event });
    expect(isRead({ ...event, event: { type: "newInTheNextRelease" } })).toBe(false);
  });

  it("drops what is no event, and says where it is wrong", () => {
    const broken = [
      null,
      [],
      {},
      { ...event, seq: "3" },
      { ...event, seq: 1.5 },
      { ...event, sessionId: 1 },
      { ...event, event: {} },
      { ...event, event: null },
      { ...event, event: { type: "titleChanged" } },
      { ...event, turnId: 1 },
    ];
    for (const params of broken) expect(isRead(params)).toBe(false);
    expect(readNotification("gemini/event", { ...event, event: { type: "titleChanged", title: 5 } })).toEqual({
      wrong: "$.event.title",
    });
  });

  it("drops a status whose numbers are none", () => {
    const status = {
      sessionId: "s",
      state: "idle",
      hasFailedCompressionAttempt: false,
      forceFullIdeContext: false,
      tokenCount: 1,
      tokenCountSource: "api",
      tokenLimit: 2,
      threshold: 0.5,
      tokensUntilCompression: null,
      mode: "auto",
      isDue: false,
      compressions: 0,
      canUndo: false,
    };
    const read = (params: unknown): unknown => readNotification("gemini/compressionStatus/didChange", params);
    expect(read(status)).toEqual({ params: status });
    for (const change of [
      { tokenCount: "1" },
      { state: "asleep" },
      { canUndo: 1 },
      { tokensUntilCompression: undefined },
    ])
      expect(read({ ...status, ...change })).toHaveProperty("wrong");
  });
});

describe("answers", () => {
  it("are what the protocol says, or a fault that names the field and quotes nothing", () => {
    expect(readResult("gemini/cancel", { cancelled: true }, english)).toEqual({ cancelled: true });
    try {
      readResult("gemini/cancel", { cancelled: "secret" }, english);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(DaemonFault);
      expect(String(error)).toContain("$.cancelled");
      expect(String(error)).not.toContain("secret");
    }
  });
});

describe("the log", () => {
  it("names a message by method, id and size only", () => {
    expect(describeMessage({ method: "gemini/chat", id: 12, params: { prompt: "secret" } }, 1_834)).toBe(
      "gemini/chat #12, 1834 bytes",
    );
    expect(describeMessage({ id: "a", result: "secret" }, 5)).toBe("answer #a, 5 bytes");
  });

  it("gets one short line of anything, without control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
        const line = firstLine(text);
        return line.length <= 300 && !/\p{Cc}/u.test(line);
      }),
    );
    expect(firstLine("one\ntwo")).toBe("one");
  });
});

describe("sectionOf", () => {
  it("sends what somebody set, under the daemon's names, and nothing else", () => {
    const set: Readonly<Record<string, unknown>> = {
      model: "gemini-2.5-pro",
      "compression.threshold": 0.4,
      "context.fileName": ["A.md", "B.md"],
      "sessions.retentionDays": 0,
    };
    expect(sectionOf((key) => ({ user: set[key], workspace: undefined }), true)).toEqual({
      model: { name: "gemini-2.5-pro", compressionThreshold: 0.4 },
      context: { fileName: ["A.md", "B.md"] },
      companion: { sessions: { retentionDays: 0 } },
    });
    expect(sectionOf(() => ({ user: undefined, workspace: undefined }), true)).toEqual({});
  });

  it("keeps a folder's settings back until the folder is trusted", () => {
    const read = (): { user: unknown; workspace: unknown } => ({ user: undefined, workspace: 1 });
    expect(sectionOf(read, false)).toEqual({});
    expect(Object.keys(sectionOf(read, true))).toContain("model");
  });

  it("never sends what is no setting", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(DAEMON_SETTINGS)),
        fc.oneof(fc.constant(""), fc.constant(Number.NaN), fc.constant([1]), fc.constant({}), fc.constant(null)),
        (name, value) => {
          expect(sectionOf((key) => ({ user: key === name ? value : undefined, workspace: undefined }), true)).toEqual(
            {},
          );
        },
      ),
    );
  });
});
