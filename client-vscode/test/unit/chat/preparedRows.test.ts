/** Where the row of a compression stands that was prepared beside the chat. */
import { describe, expect, it } from "vitest";
import { ScriptedEvents, result } from "./scriptedEvents.js";

describe("a compression", () => {
  it("that was prepared stands above the prompt it came with, and below what its turn has said already", () => {
    const told = new ScriptedEvents().started("t1", "a").completed("t1").started("t2", "b");
    const installed = (id: string): void =>
      void told.event({ type: "compressionStarted", compressionId: id, trigger: "background" }).event({
        type: "compressionCompleted",
        compressionId: id,
        result: result("COMPRESSED", { compressionId: id, trigger: "background" }),
      });
    installed("c1");
    told.said("t2", "Some words.");
    installed("c2");
    expect(told.rows.map((row) => row.id)).toEqual(["p:t1", "a:t1", "c:c1", "p:t2", "a:t2", "c:c2"]);
  });
});
