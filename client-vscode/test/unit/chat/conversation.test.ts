import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { hiddenRuns } from "../../../src/chat/pure/history.js";
import { compression, constraint, content, NOW, result, ScriptedEvents, turn, USAGE } from "./scriptedEvents.js";

const NONE = new Set<string>();

describe("a turn that streams", () => {
  it("shows prompt and answer, and every delta at its place", () => {
    const told = new ScriptedEvents().started("t1", "why?").said("t1", "Be").said("t1", "cause");
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1"]);
    expect(told.answer("t1")).toMatchObject({ text: "Because", state: "streaming", model: "gemini-3-pro" });
    expect(told.recorder.changes.filter((change) => change.startsWith("delta"))).toEqual([
      "delta a:t1 text@0 Be",
      "delta a:t1 text@2 cause",
    ]);
  });

  it("keeps the time that it thought once it begins to answer", () => {
    const told = new ScriptedEvents().started("t1", "why?");
    told.event({ type: "thoughtDelta", text: "hm", attempt: 1 }, "t1", NOW + 1_000);
    told.event({ type: "messageDelta", text: "So", attempt: 1 }, "t1", NOW + 7_000);
    expect(told.answer("t1")).toMatchObject({ thoughts: "hm", text: "So", thoughtMs: 6_000, state: "streaming" });
  });

  it("drops what a discarded attempt said, and nothing of the next", () => {
    const told = new ScriptedEvents().started("t1", "why?").said("t1", "half");
    told.event({ type: "messageDiscarded", attempt: 1, reason: "empty" }, "t1").said("t1", "whole", 2);
    expect(told.answer("t1")).toMatchObject({ text: "whole", attempt: 2 });
  });

  it("ends as the daemon says: done, stopped, failed, blocked", () => {
    const told = new ScriptedEvents()
      .started("t1", "a")
      .said("t1", "x")
      .completed("t1")
      .started("t2", "b")
      .said("t2", "half");
    told.event({ type: "turnCancelled", by: "me" }, "t2").started("t3", "c");
    told.event(
      {
        type: "turnFailed",
        error: { code: 1003, kind: "modelUnavailable", message: "Down.", hint: "Wait.", retryable: true },
      },
      "t3",
    );
    expect(told.answer("t3").error?.actions.map((action) => action.id)).toEqual(["retry"]);
    told.started("t4", "d");
    told.event(
      { type: "turnFailed", error: { code: 1010, kind: "blocked", message: "No.", hint: "", retryable: false } },
      "t4",
    );
    expect(["t1", "t2", "t3", "t4"].map((id) => told.answer(id).state)).toEqual([
      "done",
      "stopped",
      "failed",
      "blocked",
    ]);
    expect(told.answer("t2").text).toBe("half");
    expect(told.chat.prompt("t2")?.outcome).toBe("cancelled");
  });

  it("offers nothing any more for a failure that is past, live or told again", () => {
    const told = new ScriptedEvents().started("t1", "a");
    told.event(
      {
        type: "turnFailed",
        error: { code: 1004, kind: "unauthenticated", message: "Refused.", hint: "", retryable: false },
      },
      "t1",
    );
    expect(told.answer("t1").error?.actions).not.toEqual([]);
    told.started("t2", "a").completed("t2");
    expect(told.answer("t1").error).toMatchObject({ message: "Refused.", actions: [] });
    const again = new ScriptedEvents();
    again.chat.load(
      [content("prompt", "t1", "a", { outcome: "failed", reason: "Refused." }), ...turn("t2")],
      [],
      [],
      NONE,
    );
    expect(again.answer("t1").error).toMatchObject({ message: "Refused.", actions: [] });
  });

  it("offers to compress when the prompt does not fit, and is not called done by the event that follows", () => {
    const told = new ScriptedEvents().started("t1", "huge");
    told
      .event({ type: "contextWindowWillOverflow", estimatedRequestTokenCount: 900, remainingTokenCount: 100 }, "t1")
      .completed("t1");
    expect(told.answer("t1").state).toBe("failed");
    expect(told.answer("t1").error?.actions.map((action) => action.id)).toContain("compress");
  });

  it("does nothing with an event that it has had already", () => {
    const told = new ScriptedEvents().started("t1", "why?").said("t1", "x");
    const before = told.rows.map((row) => ({ ...row }));
    told.chat.apply({
      sessionId: "s",
      seq: 2,
      time: NOW,
      turnId: "t1",
      event: { type: "messageDelta", text: "x", attempt: 1 },
    });
    expect(told.rows).toEqual(before);
  });

  it("joins a prompt on its way with its turn, without a second row", () => {
    const told = new ScriptedEvents();
    const local = told.chat.send({ text: "why?" }, "gemini-3-pro");
    expect(told.answer(local).state).toBe("sending");
    told.started("t1", "why?");
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1"]);
  });

  it("leaves a prompt on its way alone when somebody else's turn begins", () => {
    const told = new ScriptedEvents();
    told.chat.send({ text: "mine" }, "m");
    told.started("t1", "somebody else's");
    expect(told.rows.map((row) => row.id)).toEqual(["p:local-1", "a:local-1", "p:t1", "a:t1"]);
  });

  it("adds what was sent of the editor to the prompt's receipt, mentions too", () => {
    const told = new ScriptedEvents().started("t1", "see @a.py");
    told.event(
      {
        type: "ideContextSent",
        kind: "full",
        files: ["/w/b.py"],
        selectionChars: 14,
        withheld: [{ name: ".env", reason: "a secret" }],
      },
      "t1",
    );
    told.event(
      { type: "filesAttached", files: [{ path: "a.py", lines: [1, 3], truncated: false }], withheld: [] },
      "t1",
    );
    expect(told.chat.prompt("t1")?.receipt).toEqual({
      kind: "full",
      files: ["/w/b.py"],
      selectionChars: 14,
      withheld: [{ name: ".env", reason: "a secret" }],
      mentioned: ["a.py"],
    });
  });

  it("survives whatever order of events a daemon may send", () => {
    const id = fc.constantFrom("t1", "t2", "c1");
    const event = fc.oneof(
      id.map((turnId) => ({ turnId, event: { type: "turnStarted", prompt: [{ text: "x" }], model: "m" } as const })),
      id.map((turnId) => ({ turnId, event: { type: "messageDelta", text: "abc", attempt: 1 } as const })),
      id.map((turnId) => ({ turnId, event: { type: "turnCancelled", by: "x" } as const })),
      id.map((turnId) => ({ turnId, event: { type: "messageDiscarded", attempt: 1, reason: "" } as const })),
      id.map((compressionId) => ({
        turnId: undefined,
        event: { type: "compressionStarted", compressionId, trigger: "auto" } as const,
      })),
      id.map((compressionId) => ({
        turnId: undefined,
        event: { type: "compressionFailed", compressionId, result: result("NOOP") } as const,
      })),
      fc.constant({ turnId: undefined, event: { type: "compressionUndone", undone: ["c1"] } as const }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const told = new ScriptedEvents();
        for (const { turnId, event: next } of events) told.event(next, turnId);
        expect(new Set(told.rows.map((row) => row.id)).size).toBe(told.rows.length);
        told.rows.forEach((row, index) => expect(told.chat.indexOf(row.id)).toBe(index));
      }),
    );
  });
});

describe("a compression", () => {
  it("is one row from its start to its undo", () => {
    const told = new ScriptedEvents().started("t1", "a").completed("t1");
    const states: (string | undefined)[] = [];
    const look = (): void => void states.push(told.chat.divider("c1")?.state);
    told.event({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    look();
    told.event({ type: "compressionProgress", compressionId: "c1", phase: "verifying", elapsedMs: 5 });
    expect(told.chat.divider("c1")?.phase).toBe("verifying");
    told.event({ type: "compressionCompleted", compressionId: "c1", result: result("COMPRESSED") });
    look();
    told.event({ type: "compressionUndone", undone: ["c1"] });
    look();
    expect(states).toEqual(["running", "compressed", "undone"]);
    expect(told.rows.filter((row) => row.kind === "divider")).toHaveLength(1);
  });

  it("says why it changed nothing", () => {
    const told = new ScriptedEvents().event({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    told.event({
      type: "compressionFailed",
      compressionId: "c1",
      result: result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", { message: "Did not get smaller." }),
    });
    expect(told.chat.divider("c1")).toMatchObject({ state: "unchanged", result: { message: "Did not get smaller." } });
  });
});

describe("the transcript, read again", () => {
  it("gives prompts, answers and compressions in their order", () => {
    const told = new ScriptedEvents();
    const items = [...turn("t1"), ...turn("t2")];
    told.chat.load(items, [compression("inForce", (items[1]?.seq ?? 0) + 0.5)], [], NONE);
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "c:c1", "p:t2", "a:t2"]);
    expect(told.chat.divider("c1")).toMatchObject({ state: "compressed", canUndo: true });
  });

  it("offers no undo for a compression that came with an imported file", () => {
    const told = new ScriptedEvents();
    const came = compression("inForce", 1, { fromFile: true });
    told.chat.load(turn("t1"), [came], [], NONE);
    expect(told.chat.divider("c1")?.canUndo).toBe(false);
    const own = compression("inForce", 2e9, { compressionId: "c2" });
    told.chat.load(turn("t1"), [came, own], [], NONE);
    expect([told.chat.divider("c1")?.canUndo, told.chat.divider("c2")?.canUndo]).toEqual([false, true]);
  });
  it("keeps the version of a row that is as it was, and raises that of one that changed", () => {
    const told = new ScriptedEvents();
    const items = [...turn("t1"), ...turn("t2")];
    told.chat.load(items, [], [], NONE);
    const before = told.rows.map((row) => row.version);
    told.chat.load(items, [], [], NONE);
    expect(told.rows.map((row) => row.version)).toEqual(before);
    told.chat.load(
      items.map((item) => (item.turnId === "t1" ? { ...item, hiddenBy: "c1" } : item)),
      [],
      [],
      NONE,
    );
    expect(told.rows.map((row, index) => row.version === before[index])).toEqual([false, false, true, true]);
  });

  it("leaves an answer that streams as it is, and in its place", () => {
    const told = new ScriptedEvents()
      .started("t1", "a")
      .said("t1", "done")
      .completed("t1")
      .started("t2", "b")
      .said("t2", "half");
    told.chat.load(turn("t1"), [], [], NONE);
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "p:t2", "a:t2"]);
    told.said("t2", " and more");
    expect(told.answer("t2").text).toBe("half and more");
  });

  it("keeps thoughts and times that only the events told", () => {
    const told = new ScriptedEvents().started("t1", "a");
    told.event({ type: "thoughtDelta", text: "hm", attempt: 1 }, "t1").said("t1", "answer of t1").completed("t1");
    told.chat.load(turn("t1"), [], [], NONE);
    expect(told.answer("t1")).toMatchObject({ thoughts: "hm", durationMs: 12, text: "answer of t1" });
  });

  it("shows a cancelled prompt with the part of the answer that came", () => {
    const told = new ScriptedEvents()
      .started("t1", "prompt of t1")
      .said("t1", "half")
      .event({ type: "turnCancelled", by: "me" }, "t1");
    told.chat.load([content("prompt", "t1", "prompt of t1", { outcome: "cancelled" })], [], [], NONE);
    expect(told.answer("t1")).toMatchObject({ state: "stopped", text: "half" });
  });

  it("shows the person's own words of a prompt, not the files that it named", () => {
    const told = new ScriptedEvents();
    const item = content("prompt", "t1", "see @a.py", {
      attachments: [{ path: "a.py", lines: [1, 2], truncated: false }],
    });
    told.chat.load([{ ...item, parts: [...item.parts, { text: "--- a.py\nsecret sauce" }] }], [], [], NONE);
    expect(told.chat.prompt("t1")).toMatchObject({ text: "see @a.py", receipt: { mentioned: ["a.py"] } });
  });

  it("marks pinned prompts", () => {
    const told = new ScriptedEvents();
    told.chat.load(turn("t1"), [], [constraint({ source: "pin", constraintId: "pin1" })], NONE);
    expect(told.chat.prompt("t1")?.pinId).toBe("pin1");
  });

  it("does not show a preview again that was put away", () => {
    const told = new ScriptedEvents();
    told.chat.load(turn("t1"), [compression("preview", 1e9, { status: "PREVIEW" })], [], new Set(["c1"]));
    expect(told.chat.divider("c1")?.state).toBe("discarded");
  });

  it("offers a preview for as long as the daemon would apply it, whatever else was compressed since", () => {
    const told = new ScriptedEvents();
    const other = compression("inForce", 2e9, { compressionId: "c2" });
    for (const state of ["preview", "outdated", "preview"] as const) {
      told.chat.load(turn("t1"), [other, compression(state, 1e9, { status: "PREVIEW" })], [], NONE);
      expect([told.chat.divider("c1")?.state, told.chat.divider("c2")?.state]).toEqual([state, "compressed"]);
    }
  });

  it("folds what is hidden into runs, with an older compression between", () => {
    const told = new ScriptedEvents();
    const hidden = { hiddenBy: "c2" };
    const items = [...turn("t1", hidden), ...turn("t2", hidden), ...turn("t3")];
    told.chat.load(items, [compression("covered", (items[1]?.seq ?? 0) + 0.5)], [], NONE);
    expect(hiddenRuns(told.rows)).toEqual([{ from: 0, to: 4, compressionId: "c2", turns: 2 }]);
  });

  it("loses nothing that is under way when the daemon ends", () => {
    const told = new ScriptedEvents()
      .started("t1", "a")
      .said("t1", "half")
      .event({ type: "compressionStarted", compressionId: "c1", trigger: "auto" });
    told.chat.interrupt(undefined);
    expect(told.answer("t1")).toMatchObject({ state: "failed", text: "half" });
    expect(told.chat.divider("c1")?.state).toBe("cancelled");
  });
});

describe("what runs", () => {
  it("is known however far back it stands", () => {
    const { chat, event } = runsFarBack();
    expect(chat.runningAnswer?.turnId).toBe("t1");
    expect(chat.runningCompression?.compressionId).toBe("c1");
    event({ type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 1 }, "t1");
    event({ type: "compressionCancelled", compressionId: "c1" });
    expect([chat.runningAnswer, chat.runningCompression]).toEqual([undefined, undefined]);
  });

  it("is no prompt that waits for its turn", () => {
    const events = new ScriptedEvents().started("t1", "why?").completed("t1");
    events.event({ type: "promptQueued", position: 1, because: "turn" }, "t2");
    expect(events.chat.runningAnswer).toBeUndefined();
    expect(events.chat.liveAnswers.map((row) => row.turnId)).toEqual(["t2"]);
  });

  it("stays under way through a new reading of the transcript, and ends with the daemon", () => {
    const { chat } = runsFarBack();
    chat.load(turn("t0"), [], [], NONE);
    expect(chat.runningAnswer?.turnId).toBe("t1");
    chat.interrupt(undefined);
    expect([chat.runningAnswer, chat.runningCompression]).toEqual([undefined, undefined]);
  });

  function runsFarBack() {
    const events = new ScriptedEvents().started("t1", "why?");
    events.event({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    for (let notice = 0; notice < 200; notice += 1) events.chat.notice("info", "x");
    return { chat: events.chat, event: (...args: Parameters<typeof events.event>) => void events.event(...args) };
  }
});
