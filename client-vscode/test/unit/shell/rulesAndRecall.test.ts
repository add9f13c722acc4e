// @vitest-environment jsdom
/** The list of rules, what was ever said found again, and what the meter says of a compression's worth. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { excerpt } from "../../../webview/shell/marking.js";
import { answers } from "../../panel/answers.js";
import { fixtures, type FixtureName } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const settle = () => panel.pass(advance, 0);

async function show(name: FixtureName): Promise<void> {
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures[name]) if (message.type !== "result") await panel.take(message);
  await settle();
}

async function search(text: string): Promise<void> {
  const field = panel.get("searchbox", "Search in all chats");
  if (field instanceof HTMLInputElement) await panel.type(text, field);
  await panel.pass(advance, 200);
}

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the rules", () => {
  it("open from their chip, with pins among them, and say where they come from", async () => {
    await show("idle");
    await panel.click("button", "2 rules");
    await settle();
    expect(panel.text).toContain("Never change the public names of the tokenizer");
    expect(panel.text).toContain("added by you, all chats");
    expect(panel.has("button", /^Unpin: Python 3\.11/)).toBe(true);
    expect(panel.text).toContain("Not in force (2)");
  });

  it("say why one is only proposed, and beside one that ended what took its place", async () => {
    await show("rulesOpen");
    expect(panel.text).toContain("Only proposed: it may be a rule, or said in passing.");
    expect(panel.text).toContain("Replaced by: Python 3.11 is the oldest version that has to work.");
    expect(panel.has("button", /^Keep: Every version/)).toBe(false);
  });

  it("say of later words which rule they would replace", async () => {
    const asked = answers.rules.constraints.map((rule) =>
      rule.constraintId === "n3" ? { ...rule, text: "you can rename them now", replaces: "n1" } : rule,
    );
    vi.spyOn(answers, "rules", "get").mockReturnValue({ ...answers.rules, constraints: asked });
    await show("rulesOpen");
    expect(panel.text).toContain("Would replace: Never change the public names of the tokenizer");
    await panel.click("button", /^Replace It: you can rename/);
    await settle();
    expect(panel.host.asked("setRule")).toEqual([{ do: "setRule", constraintId: "n3", state: "inForce" }]);
  });

  it("are released, kept and moved to all chats, each after the daemon has done it", async () => {
    await show("rulesOpen");
    await panel.click("button", /^Release: Never change/);
    await settle();
    await panel.click("button", /^Keep: Run the tests/);
    await settle();
    await panel.click("button", /^In all chats of this project: Never change/);
    await settle();
    expect(panel.host.asked("setRule")).toEqual([
      { do: "setRule", constraintId: "n1", state: "released" },
      { do: "setRule", constraintId: "n3", state: "inForce" },
      { do: "setRule", constraintId: "n1", state: "inForce", scope: "session" },
    ]);
    expect(panel.text).toContain("It holds in this chat alone");
    await settle();
    expect(panel.host.asked("rules").length).toBeGreaterThanOrEqual(4);
  });

  it("say what went wrong when one could not be changed", async () => {
    await show("rulesOpen");
    panel.host.answering = false;
    await panel.click("button", /^Release: Never change/);
    panel.host.questions.at(-1)?.fail(new Error("no"));
    await settle();
    expect(panel.text).toContain("Something went wrong inside the panel.");
  });

  it("are written in the list", async () => {
    await show("rulesOpen");
    const field = panel.get("textbox", "New rule");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("  answer in one sentence ", field);
    field.focus();
    await panel.press("Enter");
    await settle();
    expect(panel.host.asked("setRule")).toEqual([{ do: "setRule", text: "answer in one sentence", state: "inForce" }]);
    expect(field.value).toBe("");
  });

  it("are added once however often Enter is pressed, and what is typed meanwhile stays", async () => {
    await show("rulesOpen");
    panel.host.answering = false;
    const field = panel.get("textbox", "New rule");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("answer in one sentence", field);
    await panel.press("Enter");
    await panel.press("Enter");
    expect(panel.host.asked("setRule")).toHaveLength(1);
    await panel.type("never guess", field);
    panel.host.questions.at(-1)?.settle(answers.setRule);
    await settle();
    expect(field.value).toBe("never guess");
    await panel.press("Enter");
    expect(panel.host.asked("setRule")).toHaveLength(2);
  });

  it("keep the focus at the rule that was acted on, in whichever list it stands then", async () => {
    await show("rulesOpen");
    vi.spyOn(document, "hasFocus").mockReturnValue(true);
    panel.host.answering = false;
    await panel.click("button", /^Keep: Run the tests/);
    panel.host.questions.at(-1)?.settle(answers.setRule);
    await settle();
    await settle();
    expect(panel.host.asked("rules")).toHaveLength(2);
    const constraints = answers.rules.constraints.map((one) => ({ ...one, state: "inForce" }));
    panel.host.questions.at(-1)?.settle({ ...answers.rules, constraints });
    await settle();
    expect(panel.has("button", /^Keep: Run the tests/)).toBe(false);
    expect(document.activeElement?.closest("li")?.textContent).toContain("Run the tests");
  });

  it("lead to the prompt that they came of", async () => {
    await show("rulesOpen");
    await panel.click("button", /^Show the prompt of: Python/);
    expect(panel.host.sent).toEqual([
      { type: "place", turnId: "t1", words: "Python 3.11 is the oldest version that has to work." },
    ]);
    expect(panel.has("dialog")).toBe(false);
  });

  it("can only be read in a chat that another window holds", async () => {
    await show("readOnly");
    await panel.click("button", "2 rules");
    await settle();
    expect(panel.text).toContain("Never change the public names");
    expect(panel.has("button", /^(Release|Keep|Unpin|In all chats)/)).toBe(false);
    expect(panel.has("textbox", "New rule")).toBe(false);
  });
});

describe("recalling", () => {
  it("finds passages in all chats, marks the words, and opens the best with Enter", async () => {
    await show("sessionsOpen");
    await search("flushed buffers");
    expect(panel.host.asked("recall")).toEqual([{ do: "recall", query: "flushed buffers" }]);
    const marks = [...document.querySelectorAll("mark")].map((mark) => mark.textContent);
    expect(marks).toEqual(["flushes", "buffer", "flush", "buffer"]);
    expect(panel.text).toContain("You · ");
    expect(panel.text).toContain("folded");
    await panel.press("Enter");
    expect(panel.host.sent).toMatchObject([{ type: "place", sessionId: "s2", turnId: "t7", entryId: "e7" }]);
    expect(panel.has("dialog")).toBe(false);
  });

  it("does not open what answers an older question", async () => {
    await show("sessionsOpen");
    await search("flush");
    const field = panel.get("searchbox", "Search in all chats");
    if (field instanceof HTMLInputElement) await panel.type("something else", field);
    await panel.press("Enter");
    expect(panel.host.sent).toEqual([]);
  });

  it("is opened from outside with what is looked for", async () => {
    await show("recalled");
    await panel.pass(advance, 200);
    expect(panel.get("searchbox", "Search in all chats")).toHaveProperty("value", "flush buffer");
    await panel.click("button", /^The loop ends before flush/);
    expect(panel.host.sent).toMatchObject([{ type: "place", sessionId: "s1", turnId: "t1", entryId: "e1" }]);
  });

  it("lists the chats as before while nothing is looked for", async () => {
    await show("sessionsOpen");
    expect(panel.host.asked("recall")).toEqual([]);
    expect(panel.has("button", /^Fix the tokenizer/)).toBe(true);
  });
});

describe("a place that was asked for", () => {
  it("closes what lies over the chat and is shown", async () => {
    await show("sessionsOpen");
    await panel.take({
      type: "command",
      command: { do: "showPlace", row: 3, rowId: "p:t2", start: 0, length: 4 },
    });
    await settle();
    expect(panel.has("dialog")).toBe(false);
    expect(panel.transcript.received).toContain("place p:t2");
  });
});

describe("the verdict", () => {
  it("stands in the meter's dialog with its numbers", async () => {
    await show("meterOpen");
    expect(panel.text).toContain("Not worth it yet");
    expect(panel.text).toContain("Saved with each turn290,100 tokens");
    expect(panel.text).toContain("Gain over the rest of the chat-51,960 tokens");
    expect(panel.text).toContain("2 rules in force");
  });

  it("is left out where there is none", async () => {
    await show("idle");
    panel.host.answering = false;
    await panel.click("button", /of the context used/);
    await settle();
    for (const { request, settle: answer } of panel.host.questions)
      answer(request.do === "verdict" ? null : answers[request.do]);
    await settle();
    expect(panel.text).toContain("412,310 of 1,048,576 tokens");
    expect(panel.text).not.toContain("Saved with each turn");
  });
});

describe("a compression that is due", () => {
  it("is put off or begun from a calm line", async () => {
    await show("compressionDue");
    await panel.click("button", "Later");
    await panel.click("button", "Compress");
    expect(panel.host.sent.map((message) => message.type === "action" && message.action.id)).toEqual([
      "remindLater",
      "compress",
    ]);
    expect(panel.has("button", /a reminder to compress at 524,288/)).toBe(true);
  });
});

describe("a model of one's own", () => {
  it("is named with where it runs", async () => {
    await show("ownModel");
    expect(panel.get("button", /^local:qwen/).textContent).toBe("local:qwen2.5-0.5b-instruct, on this machine");
  });
});

describe("an excerpt", () => {
  it("begins near the first word that was found and says where it was cut", () => {
    panel = new Mounted();
    const text = `${"a long beginning of words ".repeat(20)}the buffer is flushed here ${"and an end ".repeat(40)}`;
    const pieces = excerpt(text, "flush", 120);
    expect(pieces.filter(({ isMatch }) => isMatch)).toEqual([{ text: "flushed", isMatch: true }]);
    const shown = pieces.map(({ text: piece }) => piece).join("");
    expect(shown).toMatch(/^… .+…$/);
    expect(shown.length).toBeLessThan(140);
  });
});
