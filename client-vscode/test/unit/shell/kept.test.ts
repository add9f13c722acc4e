// @vitest-environment jsdom
/** What a compression keeps word for word, and what a person says need not be kept. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PanelState } from "../../../src/panel/contract.js";
import { answers } from "../../panel/answers.js";
import { fixtures } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const settle = () => panel.pass((ms) => vi.advanceTimersByTimeAsync(ms), 0);

async function show(change: Partial<PanelState> = {}, report: typeof answers.kept = answers.kept): Promise<void> {
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures.keptOpen) {
    if (message.type === "sync") await panel.take({ ...message, state: { ...message.state, ...change } });
    else if (message.type === "command")
      await panel.take({ type: "command", command: { do: "openKept", compressionId: "k1" } });
  }
  panel.host.answering = false;
  await settle();
  panel.host.questions.at(-1)?.settle(report);
  panel.host.answering = true;
  await settle();
}

const sentences = () => [...document.querySelectorAll(".rule-list .rule-words")].map((one) => one.textContent);

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("what is kept", () => {
  it("is listed in order with how each sentence stands, and the rest is only counted", async () => {
    await show();
    expect(panel.host.asked("kept")).toEqual([{ do: "kept", compressionId: "k1" }]);
    expect(sentences()).toEqual(answers.kept.statements?.map(({ text }) => text));
    expect(panel.text).toContain("7 of your 9 sentences stand word for word beside the summary.");
    expect(panel.text).toContain("Beside them: 31 sentences of the model, 204 calls.");
    for (const standing of ["kept", "kept in part", "left out", "goes with the next compression", "a rule in force"])
      expect(panel.text).toContain(standing);
  });

  it("is said not to be wanted and wanted again, each after the daemon has it", async () => {
    await show();
    await panel.click("button", /^Don’t keep: Fix the tokenizer/);
    await settle();
    await panel.click("button", /^Keep again: The office plant/);
    await settle();
    expect(panel.host.asked("keepStatement")).toEqual([
      { do: "keepStatement", statementId: "4.0", isKept: false },
      { do: "keepStatement", statementId: "4.2", isKept: true },
    ]);
    await settle();
    expect(panel.host.asked("kept")).toHaveLength(3);
    expect(panel.text).toContain("Kept again");
  });

  it("keeps the focus on the button that was pressed, which then takes it back", async () => {
    await show();
    const button = panel.get("button", /^Don’t keep: Fix the tokenizer/);
    button.focus();
    panel.host.answering = false;
    await panel.click("button", /^Don’t keep: Fix the tokenizer/);
    panel.host.questions.at(-1)?.settle(null);
    await settle();
    await settle();
    const statements = answers.kept.statements?.map((one) =>
      one.statementId === "4.0" ? { ...one, isKept: false } : one,
    );
    panel.host.questions.at(-1)?.settle({ ...answers.kept, statements });
    await settle();
    expect(document.activeElement).toBe(panel.get("button", /^Keep again: Fix the tokenizer/));
  });

  it("says that changes count from the next compression on, and compresses again by the same strategy", async () => {
    await show();
    expect(panel.text).toContain("Your changes count from the next compression on.");
    await panel.click("button", "Compress Again");
    expect(panel.host.sent).toEqual([{ type: "compress", preview: false, guided: false, strategy: "record" }]);
    expect(panel.has("dialog")).toBe(false);
  });

  it("of a preview counts when that is applied", async () => {
    await show({}, { ...answers.kept, isPreview: true });
    expect(panel.text).toContain("Your changes count when the preview is applied.");
    expect(panel.has("button", "Compress Again")).toBe(false);
  });

  it("leads from a rule in force to the rules, which keep it", async () => {
    await show();
    expect(panel.has("button", /^Don’t keep: Never change the public names/)).toBe(false);
    await panel.click("button", /^Show rules: Never change the public names/);
    expect(panel.get("dialog", "Rules")).toBeDefined();
  });

  it("leads to the prompt of a sentence", async () => {
    await show();
    await panel.click("button", /^Show the prompt of: Yes/);
    expect(panel.host.sent).toEqual([{ type: "place", turnId: "t1", words: "Yes." }]);
    expect(panel.has("dialog")).toBe(false);
  });

  it("is narrowed by a field where it is long, and has none where it is short", async () => {
    await show();
    const field = panel.get("searchbox", "Filter the sentences");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("python", field);
    expect(sentences()).toEqual(["Keep Python 3.11 in mind."]);
    await panel.type("cobol", field);
    expect(panel.text).toContain("No sentence says “cobol”.");
    await panel.unmount();
    await show({}, { ...answers.kept, statements: answers.kept.statements?.slice(0, 3) ?? [] });
    expect(panel.has("searchbox", "Filter the sentences")).toBe(false);
  });

  it("says so where no compression keeps anything, and where some is not listed", async () => {
    await show({}, {});
    expect(panel.text).toContain("No compression of this chat keeps what you said");
    await panel.unmount();
    await show({}, { ...answers.kept, omitted: 1_200 });
    expect(panel.text).toContain("1,200 older sentences are not listed.");
  });

  it("can only be read in a chat that another window holds", async () => {
    await show({ session: { sessionId: "s1", title: "Fix the tokenizer", heldBy: 4711 } });
    expect(sentences()).toHaveLength(9);
    expect(panel.has("button", /^(Don’t keep|Keep again|Compress Again)/)).toBe(false);
  });
});
