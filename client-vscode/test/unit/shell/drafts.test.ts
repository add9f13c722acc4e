// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newChat } from "../../../webview/shell/actions.js";
import { draftDelayMs } from "../../../webview/shell/draftReporter.js";
import { PromptHistory } from "../../../webview/shell/promptHistory.js";
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
    expect(drafts()).toEqual([{ type: "draft", draft: 0, text: "typed", scroll: { rowId: "a:1", offset: 12 } }]);
    expect(panel.saved).toEqual({ sessionId: "s1", draft: "typed", pasted: [], pictures: [] });
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

  it("that is written when another chat's takes its place goes to its own chat, whichever is shown by then", async () => {
    await panel.sync({}, [], { draft: 1, text: "", scroll: "end" });
    panel.shell.draft.value = "typed at the last mom";
    await panel.take({ type: "command", command: { do: "setDraft", draft: 2, text: "of the second" } });
    expect(drafts()).toEqual([{ type: "draft", draft: 1, text: "typed at the last mom", scroll: "end" }]);
    vi.advanceTimersByTime(draftDelayMs);
    expect(drafts().at(-1)).toEqual({ type: "draft", draft: 2, text: "of the second", scroll: "end" });
  });

  it("that is written when an earlier prompt stands in the composer is the one that is told", async () => {
    const promptHistory = new PromptHistory();
    panel.shell.written = (prompt) => promptHistory.written(prompt);
    promptHistory.load(["sent before"]);
    await panel.sync({}, [], { draft: 1, text: "", scroll: "end" });
    panel.shell.draft.value = promptHistory.older("half a thought") ?? "";
    await panel.take({ type: "command", command: { do: "setDraft", draft: 2, text: "" } });
    expect(drafts()).toEqual([{ type: "draft", draft: 1, text: "half a thought", scroll: "end" }]);
  });

  it.each([
    ["nothing is written meanwhile", "", "sent in vain"],
    ["what is written has its beginning", "sent in", "sent in vain"],
    ["something else is written", "the next one", "sent in vain\n\nthe next one"],
  ])("that comes back to the same chat takes nothing away: %s", async (_when, written, composed) => {
    await panel.sync({}, [], { draft: 1, text: "", scroll: "end" });
    panel.shell.draft.value = written;
    await panel.take({ type: "command", command: { do: "setDraft", draft: 1, text: "sent in vain" } });
    expect(panel.shell.draft.value).toBe(composed);
    panel.drafts.flush();
    expect(drafts().at(-1)).toMatchObject({ draft: 1, text: composed });
  });

  it("that is written before the host's comes stands behind that, and a second time it changes nothing", async () => {
    panel.shell.draft.value = "written at once";
    await panel.sync({}, [], { draft: 1, text: "kept", scroll: "end" });
    expect(panel.shell.draft.value).toBe("kept\n\nwritten at once");
    panel.shell.draft.value += " and on";
    await panel.sync({}, [], { draft: 1, text: "kept", scroll: "end" });
    expect(panel.shell.draft.value).toBe("kept\n\nwritten at once and on");
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

describe("what is written after New Chat was pressed", () => {
  const comes = (draft: number, text: string) =>
    panel.take({ type: "command", command: { do: "setDraft", draft, text } });

  it("is the new chat's, though the host has not shown that yet; what stood there before is the old one's", async () => {
    await panel.sync({}, [], { draft: 1, text: "of the old chat", scroll: "end" });
    newChat(panel.shell);
    expect(panel.shell.draft.value).toBe("");
    panel.shell.draft.value = "Where am I?";
    vi.advanceTimersByTime(draftDelayMs);
    expect(drafts()).toEqual([{ type: "draft", draft: 1, text: "of the old chat", scroll: "end" }]);
    await comes(2, "");
    expect(panel.shell.draft.value).toBe("Where am I?");
    vi.advanceTimersByTime(draftDelayMs);
    expect(drafts().at(-1)).toMatchObject({ draft: 2, text: "Where am I?" });
  });

  it("stands beside what that chat had already", async () => {
    await panel.sync({}, [], { draft: 1, text: "", scroll: "end" });
    newChat(panel.shell);
    panel.shell.draft.value = "and more";
    await comes(2, "begun before");
    expect(panel.shell.draft.value).toContain("begun before");
    expect(panel.shell.draft.value).toContain("and more");
  });
});
