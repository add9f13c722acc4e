// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { baseState } from "../../panel/chatRows.js";
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

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("the chips", () => {
  it("take a file out and put it back", async () => {
    await show("chipsOut");
    expect(panel.get("button", "Take tokenizer.py:80-94 out").getAttribute("aria-pressed")).toBe("true");
    await panel.click("button", "Take tokenizer.py:80-94 out");
    await panel.click("button", "Put parser.py back");
    expect(panel.host.sent).toEqual([
      { type: "chip", uri: "file:///ws/src/tokenizer.py", included: false },
      { type: "chip", uri: "file:///ws/src/parser.py", included: true },
    ]);
  });

  it("fold many files and say why one is withheld", async () => {
    await show("chipsOut");
    expect(panel.text).toContain("a secret by its name");
    expect(panel.has("button", "Take d.py out")).toBe(false);
    await panel.click("button", "+4 more files");
    expect(panel.has("button", "Take d.py out")).toBe(true);
  });
});

describe("queued prompts", () => {
  it("are sent now or removed", async () => {
    await show("queued");
    const [first, second] = [panel.all("button", "Send now")[0], panel.all("button", "Remove queued prompt")[1]];
    first?.click();
    second?.click();
    expect(panel.host.sent).toEqual([
      { type: "queue", do: "sendNow", id: "q1" },
      { type: "queue", do: "remove", id: "q2" },
    ]);
  });

  it("are not sent into a chat that another window has, which is said", async () => {
    const queue = [{ id: "q1", text: "now the tests" }];
    panel = await Mounted.with({ session: { sessionId: "s1", title: "T", heldBy: 12 }, queue });
    const send = panel.get("button", "Send now");
    expect(send.getAttribute("aria-disabled")).toBe("true");
    await panel.click("button", "Send now");
    expect(panel.host.sent).toEqual([]);
    expect(panel.get("alert").textContent).toContain("Another window");
  });

  it("are edited from the composer with Alt+↑, saved with Enter, and the focus comes back", async () => {
    await show("queued");
    panel.prompt.focus();
    await panel.press("ArrowUp", { altKey: true });
    await panel.press("ArrowUp", { altKey: true });
    const editor = panel.get("textbox", "Queued prompt");
    expect(document.activeElement).toBe(editor);
    expect(editor).toHaveProperty("value", "now the tests for the parser");
    if (editor instanceof HTMLTextAreaElement) await panel.type("first the tests", editor);
    await panel.press("Enter");
    expect(panel.host.sent).toEqual([{ type: "queue", do: "edit", id: "q1", text: "first the tests" }]);
    expect(document.activeElement).toBe(panel.prompt);
  });

  it("that are sent while they are edited leave the change in the composer", async () => {
    await show("queued");
    panel.prompt.focus();
    await panel.press("ArrowUp", { altKey: true });
    const editor = panel.get("textbox", "Queued prompt");
    if (editor instanceof HTMLTextAreaElement) await panel.type("my change", editor);
    await panel.state({ queue: [] });
    expect(panel.prompt.value).toBe("my change");
    expect(document.activeElement).toBe(panel.prompt);
  });
});

describe("finding in the chat", () => {
  it("keeps what is typed when its key reaches it a second time by way of the editor", async () => {
    await show("findOpen");
    const field = panel.get("searchbox", "Find in chat");
    if (!(field instanceof HTMLInputElement)) throw new Error("The field is no input.");
    await panel.type("fl", field);
    await panel.take({ type: "command", command: { do: "find" } });
    expect(field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0)).toBe("");
    panel.prompt.focus();
    await panel.take({ type: "command", command: { do: "find" } });
    expect(document.activeElement).toBe(field);
    expect(field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0)).toBe("fl");
  });

  async function find(text: string): Promise<void> {
    await show("findOpen");
    const input = panel.get("searchbox", "Find in chat");
    if (input instanceof HTMLInputElement) await panel.type(text, input);
    await panel.pass(advance, 150);
  }

  it("begins with the newest match and walks with Enter and Shift+Enter", async () => {
    await find("line");
    expect(panel.host.asked("find")).toEqual([{ do: "find", query: "line", caseSensitive: false }]);
    expect(panel.text).toContain("2 of 2");
    await panel.press("Enter");
    expect(panel.text).toContain("1 of 2");
    await panel.press("Enter", { shiftKey: true });
    expect(panel.transcript.revealed.map(({ rowId }) => rowId)).toEqual(["a:t1", "p:t1", "a:t1"]);
  });

  it("begins where the person reads", async () => {
    await show("findOpen");
    panel.transcript.place = { rowId: "p:t1", offset: 0 };
    const input = panel.get("searchbox", "Find in chat");
    if (input instanceof HTMLInputElement) await panel.type("line", input);
    await panel.pass(advance, 150);
    expect(panel.transcript.revealed.map(({ rowId }) => rowId)).toEqual(["p:t1"]);
  });

  it("tells when there is nothing, and heeds case if asked", async () => {
    await find("line");
    panel.host.answering = false;
    expect(panel.get("button", "Match case").title, "two letters alone say little").toBe("Match case");
    await panel.click("button", "Match case");
    await panel.pass(advance, 150);
    expect(panel.host.asked("find").at(-1)).toEqual({ do: "find", query: "line", caseSensitive: true });
    panel.host.questions.at(-1)?.settle({ matches: [] });
    await settle();
    expect(panel.text).toContain("No results");
  });

  it("looks anew in another chat, though that has as many rows", async () => {
    await find("line");
    await panel.state({ session: { sessionId: "another", title: "" } });
    await panel.pass(advance, 150);
    expect(panel.host.asked("find")).toHaveLength(2);
  });

  it("ends with Esc: marks go, the focus returns", async () => {
    await show("idle");
    panel.prompt.focus();
    await panel.take({ type: "command", command: { do: "find" } });
    await panel.press("Escape");
    expect(panel.has("search")).toBe(false);
    expect(panel.transcript.received).toContain("clear");
    expect(document.activeElement).toBe(panel.prompt);
  });
});

describe("a question", () => {
  it("makes the rest inert, has the focus on the answer that changes nothing, and is answered no by Esc", async () => {
    await show("idle");
    panel.prompt.focus();
    const answer = panel.shell.confirm("Really?", "Do It");
    await settle();
    expect(document.activeElement?.textContent).toBe("Cancel");
    expect(document.querySelector("footer")?.hasAttribute("inert")).toBe(true);
    await panel.press("Escape");
    expect(await answer).toBe(false);
    await settle();
    expect(document.querySelector("footer")?.hasAttribute("inert")).toBe(false);
    expect(document.activeElement).toBe(panel.prompt);
  });

  it("about a chat is answered no when another chat takes its place", async () => {
    await show("idle");
    const answer = panel.shell.confirm("Really?");
    await panel.state({ session: { sessionId: "another", title: "" } });
    expect(await answer).toBe(false);
  });
});

describe("messages of the host", () => {
  it("that do not fit what is there ask for everything anew", async () => {
    await show("streaming");
    panel.transcript.deltasFit = false;
    await panel.take({ type: "delta", rowId: "a:t2", version: 2, field: "text", at: 9_999, text: "x" });
    expect(panel.host.resyncs).toBe(1);
  });

  it("are told to screen readers as the setting says", async () => {
    await show("streaming");
    const row = {
      kind: "answer",
      id: "a:t2",
      version: 3,
      turnId: "t2",
      model: "m",
      state: "done",
      text: "Two words.",
      thoughts: "",
      tools: [],
      attempt: 1,
    } as const;
    await panel.take({ type: "rows", total: 4, from: 3, rows: [row] });
    expect(panel.all("status").map((region) => region.textContent)).toContain("Answer finished, 2 words");
    await panel.state({ settings: { ...baseState.settings, announce: "off" } });
    await panel.take({ type: "rows", total: 4, from: 3, rows: [{ ...row, version: 4, state: "stopped" }] });
    expect(panel.all("status").map((region) => region.textContent)).toContain("Answer finished, 2 words");
  });
});

describe("a chat that is being opened", () => {
  it("says so, under its title, where nothing else is there to read", async () => {
    const { session: _, ...without } = baseState;
    panel = new Mounted();
    await panel.render();
    await panel.take({
      type: "sync",
      state: { ...without, coming: { title: "Fix the tokenizer" } },
      total: 0,
      from: 0,
      rows: [],
      strings: {},
      draft: { draft: 1, text: "half a prompt", scroll: "end" },
    });
    await settle();
    expect(panel.text).toContain("Opening Fix the tokenizer");
    expect(panel.text).toContain("Your chat is being opened…");
    expect(panel.text).not.toContain("Ask about your code");
  });

  it("can be left for the one that is still shown", async () => {
    panel = await Mounted.with({ coming: { title: "Another" } });
    expect(panel.text).toContain("Opening Another");
  });
});

describe("the list of chats", () => {
  it("says how those stand that were left, and the button that leads there that one wants to be looked at", async () => {
    panel = await Mounted.with({
      others: [
        { sessionId: "s2", state: "waiting", queued: 2 },
        { sessionId: "s3", state: "answered", queued: 0 },
      ],
    });
    expect(panel.has("img", "Another chat asks you something")).toBe(true);
    await panel.click("button", /show all chats|Fix the tokenizer/);
    await advance(0);
    expect(panel.text).toContain("Asks you something · 2 prompts wait");
  });
});

describe("an alert ends", () => {
  const alert = (): string => panel.shell.assertive.value.text;
  const idle = { kind: "idle" } as const;

  it("with the question that it told of, once that is answered", async () => {
    panel = await Mounted.with({ work: { ...baseState.work, questions: 1 } });
    panel.shell.announce("Gemini asks: Run make test", true);
    await panel.take({ type: "state", state: { ...baseState, work: { ...baseState.work, questions: 1 } } });
    expect(alert()).toBe("Gemini asks: Run make test");
    await panel.take({ type: "state", state: baseState });
    expect(alert()).toBe("");
  });

  it("with the failure that it told of, once something else runs, and not before", async () => {
    panel = await Mounted.with({ job: { kind: "turn", id: "t1" } });
    panel.shell.announce("The model's safety filter refused the prompt.", true);
    await panel.take({ type: "state", state: { ...baseState, job: idle } });
    expect(alert()).not.toBe("");
    await panel.take({ type: "state", state: { ...baseState, job: { kind: "turn", id: "t2" } } });
    expect(alert()).toBe("");
  });

  it("with the notice that it told of, once that is put away", async () => {
    panel = await Mounted.with({});
    panel.shell.show(new Error("a defect"));
    await settle();
    expect(alert()).not.toBe("");
    await panel.click("button", "Dismiss");
    expect(alert()).toBe("");
  });
});
