/** Where the row of a compression stands that nobody asked for. */
import { describe, expect, it } from "vitest";
import { ScriptedEvents, result } from "./scriptedEvents.js";

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
