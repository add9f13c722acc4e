import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leavesDownwards, leavesUpwards, PromptHistory } from "../../../webview/shell/promptHistory.js";

function historyOf(...prompts: string[]): PromptHistory {
  const history = new PromptHistory();
  history.load(prompts);
  return history;
}

describe("the prompt history", () => {
  it("goes from the newest to the oldest and stays there", () => {
    const history = historyOf("third", "second", "first");
    expect([history.older(""), history.older("third"), history.older("second"), history.older("first")]).toEqual([
      "third",
      "second",
      "first",
      undefined,
    ]);
    expect(history.isRecalled("first")).toBe(true);
  });

  it("brings back what was being typed", () => {
    const history = historyOf("second", "first");
    history.older("a draft");
    history.older("second");
    expect(history.newer("first")).toBe("second");
    expect(history.newer("second")).toBe("a draft");
    expect(history.newer("a draft")).toBeUndefined();
  });

  it("takes an edited prompt as a draft of its own", () => {
    const history = historyOf("second", "first");
    history.older("");
    expect(history.isRecalled("second, edited")).toBe(false);
    expect(history.newer("second, edited")).toBeUndefined();
    expect(history.older("second, edited")).toBe("second");
    expect(history.newer("second")).toBe("second, edited");
  });

  it("leaves out blanks and repetitions in a row", () => {
    const history = historyOf("again", "again", "  ", "other");
    expect(history.older("")).toBe("again");
    expect(history.older("again")).toBe("other");
  });

  it("begins at the newest again after sending", () => {
    const history = historyOf("second", "first");
    history.older("");
    history.older("second");
    history.rest();
    expect(history.older("")).toBe("second");
  });

  it("returns to the draft by as many steps down as there were up", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), fc.string(), fc.nat(20), (prompts, draft, steps) => {
        const history = historyOf(...prompts);
        let text = draft;
        let ups = 0;
        for (let step = 0; step < steps; step += 1) {
          const older = history.older(text);
          if (older === undefined) break;
          text = older;
          ups += 1;
        }
        for (; ups > 0; ups -= 1) text = history.newer(text) ?? "nothing came back";
        expect(text).toBe(draft);
      }),
    );
  });
});

describe("leaving the text with an arrow", () => {
  it("goes up from the start of any text, and from the first line of a recalled one", () => {
    expect(leavesUpwards("", 0, 0, false)).toBe(true);
    expect(leavesUpwards("one", 0, 0, false)).toBe(true);
    expect(leavesUpwards("one", 2, 2, false)).toBe(false);
    expect(leavesUpwards("one", 2, 2, true)).toBe(true);
    expect(leavesUpwards("one\ntwo", 5, 5, true)).toBe(false);
    expect(leavesUpwards("one", 0, 2, true)).toBe(false);
  });

  it("goes down only from the last line of a recalled one", () => {
    expect(leavesDownwards("one", 1, 1, true)).toBe(true);
    expect(leavesDownwards("one\ntwo", 1, 1, true)).toBe(false);
    expect(leavesDownwards("one\ntwo", 5, 5, true)).toBe(true);
    expect(leavesDownwards("one", 3, 3, false)).toBe(false);
  });
});
