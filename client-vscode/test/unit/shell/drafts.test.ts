// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { draftDelayMs } from "../../../webview/shell/draftReporter.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const drafts = () => panel.host.sent.filter((message) => message.type === "draft");

beforeEach(() => {
  vi.useFakeTimers();
  panel = new Mounted();
  panel.shell.draft.subscribe(() => panel.drafts.changed());
});
afterEach(() => void vi.useRealTimers());

describe("the draft", () => {
  it("is told once typing pauses, with the reading place", async () => {
    await panel.sync({});
    panel.transcript.place = { rowId: "a:1", offset: 12 };
    panel.shell.draft.value = "ty";
    vi.advanceTimersByTime(draftDelayMs - 1);
    expect(drafts()).toEqual([]);
    panel.shell.draft.value = "typed";
    vi.advanceTimersByTime(1);
    expect(drafts()).toEqual([{ type: "draft", text: "typed", scroll: { rowId: "a:1", offset: 12 } }]);
    expect(panel.saved).toEqual({ sessionId: "s1", draft: "typed", pasted: [] });
  });

  it("is told at once when the panel loses the focus, and not again if nothing changed", async () => {
    await panel.sync({});
    panel.shell.draft.value = "typed";
    panel.drafts.flush();
    panel.drafts.flush();
    vi.advanceTimersByTime(draftDelayMs);
    expect(drafts()).toHaveLength(1);
  });

  it("never goes to the host before the host's own came: an empty page must not wipe it", async () => {
    panel.drafts.changed();
    panel.drafts.flush();
    vi.advanceTimersByTime(draftDelayMs);
    expect(drafts()).toEqual([]);
    await panel.sync({}, [], { text: "kept by the host", scroll: { rowId: "p:1", offset: 3 } });
    expect(panel.shell.draft.value).toBe("kept by the host");
    expect(panel.transcript.received.at(-1)).toBe('reset 0 0 {"rowId":"p:1","offset":3}');
  });

  it("of a page that is alive stays when a sync without one comes", async () => {
    await panel.sync({}, [], { text: "", scroll: "end" });
    panel.shell.draft.value = "typed";
    await panel.sync({});
    expect(panel.shell.draft.value).toBe("typed");
  });

  it("that only the page kept stands in if the host has none for the same chat", async () => {
    panel.saved = { sessionId: "s1", draft: "kept by the page" };
    await panel.sync({}, [], { text: "", scroll: "end" });
    expect(panel.shell.draft.value).toBe("kept by the page");
  });

  it.each([
    ["it belongs to another chat", { sessionId: "s2", draft: "kept" }, []],
    [
      "it was sent since",
      { sessionId: "s1", draft: "kept" },
      [{ kind: "prompt", id: "p:1", version: 1, turnId: "1", text: "kept" } as const],
    ],
    ["it is nonsense", { sessionId: "s1", draft: 7 }, []],
  ])("that only the page kept is left alone if %s", async (_why, kept, rows) => {
    panel.saved = kept;
    await panel.sync({}, rows, { text: "", scroll: "end" });
    expect(panel.shell.draft.value).toBe("");
  });
});
