// @vitest-environment jsdom
/** The list of memory files: what goes along, what is wrong with it, and one more fact. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { baseState } from "../../panel/chatRows.js";
import { fixtures } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const settle = () => panel.pass((ms) => vi.advanceTimersByTimeAsync(ms), 0);

async function show(): Promise<void> {
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures.memoryOpen) if (message.type !== "result") await panel.take(message);
  await settle();
}

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("the memory files", () => {
  it("are listed with scope, tokens, imports and what is wrong", async () => {
    await show();
    expect(panel.has("button", "Open …/me/.gemini/GEMINI.md")).toBe(true);
    for (const text of ["yours, in every project", "5,802 tokens", "2 imports", "there is no such file"])
      expect(panel.text).toContain(text);
    expect(panel.text).toContain("6,310 tokens in every request");
  });

  it("open in the editor", async () => {
    await show();
    await panel.click("button", "Open …/me/tokens/GEMINI.md");
    expect(panel.host.sent).toEqual([{ type: "openMemory", path: "/home/me/tokens/GEMINI.md" }]);
  });

  it("are asked for again when they change, and read anew only when that is wished", async () => {
    await show();
    await panel.take({ type: "state", state: { ...baseState, sourceChanges: 1 } });
    await settle();
    await panel.click("button", "Read Again");
    await settle();
    expect(panel.host.asked("memory")).toEqual([
      { do: "memory", reload: false },
      { do: "memory", reload: false },
      { do: "memory", reload: true },
    ]);
  });

  it("take a fact in, for this project or for all", async () => {
    await show();
    const field = panel.get("textbox", "New fact");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    for (const scope of ["project", "global"] as const) {
      if (scope === "global") await panel.click("button", "For All My Projects");
      await panel.type(" tests run with make test ", field);
      await panel.click("button", "Add");
      await settle();
      expect(panel.host.asked("addMemory").at(-1)).toEqual({
        do: "addMemory",
        fact: "tests run with make test",
        scope,
      });
      expect(field.value).toBe("");
    }
    expect(panel.text).toContain("Kept in …/me/tokens/GEMINI.md");
  });

  it("keep the words of a fact that could not be added", async () => {
    await show();
    panel.host.answering = false;
    const field = panel.get("textbox", "New fact");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("a fact", field);
    await panel.click("button", "Add");
    panel.host.questions.at(-1)?.fail(new Error("no"));
    await settle();
    expect(field.value).toBe("a fact");
  });

  it("without trust are the person's own, and so is what is added", async () => {
    await show();
    await panel.take({ type: "state", state: { ...baseState, trusted: false } });
    await settle();
    expect(panel.text).toContain("only your own files go along");
    const field = panel.get("textbox", "New fact");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("a fact", field);
    await panel.click("button", "Add");
    await settle();
    expect(panel.host.asked("addMemory")).toEqual([{ do: "addMemory", fact: "a fact", scope: "global" }]);
  });
});
