import { describe, expect, it } from "vitest";
import { ScriptedEvents } from "./scriptedEvents.js";

describe("a full window", () => {
  it("is told with what the daemon says fills it", () => {
    const told = new ScriptedEvents().started("t1", "huge");
    const numbers = { estimatedRequestTokenCount: 900, remainingTokenCount: 100 };
    told.event({ type: "contextWindowWillOverflow", ...numbers, message: "The file a.log is too large." }, "t1");
    expect(told.answer("t1").error?.message).toBe("The file a.log is too large.");
  });
});
