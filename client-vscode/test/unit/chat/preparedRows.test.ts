/** Where the row of a compression stands that nobody asked for. */
import { describe, expect, it } from "vitest";
import { compression, content, result, ScriptedEvents, turn } from "./scriptedEvents.js";

describe("a compression", () => {
  it.each(["background", "auto"] as const)("of itself (%s) stands where the history has it", (trigger) => {
    // Above the prompt that it made room for, and below what its turn has said already.
    const told = new ScriptedEvents().started("t1", "a").completed("t1").started("t2", "b");
    const installed = (id: string): void =>
      void told.event({ type: "compressionStarted", compressionId: id, trigger }).event({
        type: "compressionCompleted",
        compressionId: id,
        result: result("COMPRESSED", { compressionId: id, trigger }),
      });
    installed("c1");
    told.said("t2", "Some words.");
    installed("c2");
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "c:c1", "p:t2", "a:t2", "c:c2"]);
  });

  it("that rescues a prompt which the history has already stands behind it, as it does once it is read again", () => {
    const live = new ScriptedEvents().started("t1", "a").completed("t1").started("t2", "b");
    live
      .event({ type: "compressionStarted", compressionId: "c1", trigger: "auto", behindTurn: "t2" })
      .event({ type: "compressionCompleted", compressionId: "c1", result: result("COMPRESSED", { trigger: "auto" }) })
      .said("t2", "At last.")
      .completed("t2");
    const read = new ScriptedEvents();
    const items = [...turn("t1"), content("prompt", "t2", "b")];
    const seq = (items.at(-1)?.seq ?? 0) + 0.5;
    items.push(content("reply", "t2", "At last."));
    read.chat.load(items, [compression("inForce", seq, { trigger: "auto" })], [], new Set());
    expect(live.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "p:t2", "c:c1", "a:t2"]);
    expect(read.rows.map((row) => row.id)).toEqual(live.rows.map((row) => row.id));
  });

  it.each(["auto", "background"] as const)(
    "(%s) within a turn that failed all the same stands above what came of that",
    (trigger) => {
      const live = new ScriptedEvents().started("t1", "a").completed("t1").started("t2", "b");
      const conclude = (compressionId: string): void =>
        void live.event({
          type: "compressionCompleted",
          compressionId,
          result: result("COMPRESSED", { compressionId, trigger }),
        });
      live.event({ type: "compressionStarted", compressionId: "c1", trigger, behindTurn: "t2" });
      conclude("c1");
      live.event(
        {
          type: "turnFailed",
          error: { code: 1, kind: "contextOverflow", message: "Too large.", hint: "", retryable: false },
        },
        "t2",
      );
      live.started("t3", "c").event({ type: "compressionStarted", compressionId: "c2", trigger });
      conclude("c2");
      live.said("t3", "At last.").completed("t3");
      const read = new ScriptedEvents();
      const first = turn("t1");
      const prompt = content("prompt", "t2", "b", { outcome: "failed" });
      const behindPrompt = (part: number): number => prompt.seq + part;
      const items = [
        ...first,
        { ...prompt, endSeq: behindPrompt(0.6) },
        content("ide", "t2", "", { seq: behindPrompt(0.4) }),
        ...turn("t3"),
      ];
      const dividers = [
        compression("inForce", behindPrompt(0.2), { trigger }),
        compression("inForce", behindPrompt(0.8), { trigger, compressionId: "c2" }),
      ];
      read.chat.load(items, dividers, [], new Set());
      expect(live.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "p:t2", "c:c1", "a:t2", "c:c2", "p:t3", "a:t3"]);
      expect(read.rows.map((row) => row.id)).toEqual(live.rows.map((row) => row.id));
    },
  );

  it("that a person asked for stands below it", () => {
    const read = new ScriptedEvents();
    const items = [content("prompt", "t1", "a", { outcome: "failed", endSeq: 9_000 })];
    read.chat.load(items, [compression("inForce", 8_000, { trigger: "manual" })], [], new Set());
    expect(read.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "c:c1"]);
  });

  it("that makes room between two rounds stands below the answer, though the next request is only being sent", () => {
    const told = new ScriptedEvents().started("t1", "a").said("t1", "First.");
    told
      .event({ type: "toolCallStarted", toolCallId: "k", name: "read_file", args: {}, state: "running" }, "t1")
      .event({ type: "messageDiscarded", attempt: 1, reason: "" }, "t1")
      .event({ type: "compressionStarted", compressionId: "c1", trigger: "auto" });
    expect(told.answer("t1").state).toBe("sending");
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "c:c1"]);
  });
});
