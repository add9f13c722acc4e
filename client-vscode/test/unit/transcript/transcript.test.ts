// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { DividerRow, FromPage, HiddenRun, PanelState, Row } from "../../../src/panel/contract.js";
import { Transcript } from "../../../webview/transcript/transcript.js";
import { answerRow, conversation, panelState, promptRow } from "../../browser/rows.js";
import { t } from "./support.js";

let root: HTMLElement;
let sent: FromPage[];
let asked: [number, number][];
let announced: string[];
let confirmed: boolean;
let transcript: Transcript;

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date(2026, 4, 3, 14, 2));
  root = document.createElement("div");
  document.body.replaceChildren(root);
  sent = [];
  asked = [];
  announced = [];
  confirmed = true;
  transcript = new Transcript(root, {
    send: (message) => sent.push(message),
    loadRows: (from, to) => asked.push([from, to]),
    announce: (text) => announced.push(text),
    confirm: () => Promise.resolve(confirmed),
    t,
  });
  transcript.setState(panelState());
  return () => {
    transcript.dispose();
    vi.useRealTimers();
  };
});

function show(...rows: readonly Row[]): void {
  transcript.reset(rows.length, 0, rows);
}

function article(name: string | RegExp): HTMLElement {
  const found = [...root.querySelectorAll<HTMLElement>("article")].find((one) => {
    const heading = document.getElementById(one.getAttribute("aria-labelledby") ?? "");
    return typeof name === "string" ? heading?.textContent === name : name.test(heading?.textContent ?? "");
  });
  if (found === undefined) throw new Error(`no article ${String(name)}`);
  return found;
}

function press(label: string, inside: ParentNode = root): void {
  const found = [...inside.querySelectorAll<HTMLElement>("button")].find((one) => one.textContent === label && one.closest("[hidden]") === null);
  if (found === undefined) throw new Error(`no button ${label}`);
  found.click();
}

function type(key: string, held: KeyboardEventInit = {}): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held }));
}

const result = {
  status: "COMPRESSED", trigger: "manual", originalTokenCount: 812_340, newTokenCount: 96_120, tokenCountSource: "api", modelCalls: 2, durationMs: 9_000, message: "",
  retention: { score: 0.94, facts: 50 },
} as const;

function divider(change: Partial<DividerRow> = {}): DividerRow {
  return { kind: "divider", id: "c:1", version: 1, compactionId: "1", state: "compressed", trigger: "manual", result, hiddenTurns: 2, canUndo: true, ...change };
}

describe("the list", () => {
  it("is a feed of articles with their place among all", () => {
    transcript.reset(300, 100, conversation(100, 20));
    const feed = root.querySelector("[role=feed]");
    expect(feed?.getAttribute("aria-label")).toBe("Conversation");
    const last = root.querySelector('article[aria-posinset="300"]');
    expect(last?.getAttribute("aria-setsize")).toBe("300");
    expect(root.querySelectorAll("article").length).toBeLessThan(100);
  });

  it("asks for rows that are not here, and puts them in their place", () => {
    transcript.reset(300, 200, conversation(50, 20));
    transcript.scrollTo({ rowId: "p:t0", offset: -200 });
    expect(asked).toEqual([[0, 199]]);
    expect(root.querySelector("article.placeholder")?.getAttribute("aria-busy")).toBe("true");
    const before = [...conversation(150, 20)].slice(0, 200).map((row) => ({ ...row, id: `x${row.id}` }));
    transcript.setRows(300, 0, before);
    expect(root.querySelector("article.placeholder")).toBeNull();
  });

  it("keeps the nodes of rows that did not change through a snapshot", () => {
    const rows = conversation(3, 40);
    show(...rows);
    const kept = [...root.querySelectorAll("article")];
    transcript.reset(6, 0, rows.map((row) => ({ ...row })));
    expect([...root.querySelectorAll("article")]).toEqual(kept);
    expect(root.querySelector("article")).toBe(kept[0]);
  });

  it("is busy while a turn runs", () => {
    transcript.setState(panelState({ job: { kind: "turn", id: "t" } }));
    expect(transcript.feed.getAttribute("aria-busy")).toBe("true");
  });

  it("remembers where the reader is by a row", () => {
    transcript.reset(100, 0, conversation(50, 20));
    expect(transcript.anchor()).toBe("end");
    transcript.scrollTo({ rowId: "a:t10", offset: 14 });
    expect(transcript.anchor()).toEqual({ rowId: "a:t10", offset: 14 });
    transcript.reset(100, 0, conversation(50, 20));
    expect(transcript.anchor()).toEqual({ rowId: "a:t10", offset: 14 });
    transcript.scrollTo({ rowId: "a:gone", offset: 3 });
    expect(transcript.anchor()).toBe("end");
  });
});

describe("a prompt", () => {
  it("is plain text, with what was sent along", () => {
    const receipt = { kind: "full", files: ["src/a.py", "src/b.py"], selectionChars: 14, withheld: [{ name: ".env", reason: "a key file" }], mentioned: [] } as const;
    show({ ...promptRow(0, "<b>Why</b>\n**not**?"), time: Date.now(), receipt });
    const you = article("You");
    expect(you.querySelector(".prompt-text")?.textContent).toBe("<b>Why</b>\n**not**?");
    expect(you.querySelector("summary")?.textContent).toBe("Sent: 2 files, 14 characters selected, 1 left out");
    expect(you.querySelector(".withheld")?.textContent).toBe(".env left out: a key file");
    press("src/b.py", you);
    expect(sent).toEqual([{ type: "open", href: "src/b.py" }]);
  });

  it("is pinned and unpinned, and its answer says so too", () => {
    show(promptRow(0, "q"), answerRow(0, "a"));
    press("Pin", article("You"));
    transcript.setRows(2, 0, [{ ...promptRow(0, "q"), version: 2, pinId: "7" }]);
    press("Unpin", article("Gemini"));
    expect(sent).toEqual([{ type: "turn", do: "pin", turnId: "t0" }, { type: "turn", do: "unpin", turnId: "t0" }]);
  });
});

describe("an answer", () => {
  it("shows its Markdown, its model and its tokens, and what can be done with it", () => {
    const usage = { promptTokens: 9_000, cachedTokens: 0, thoughtTokens: 0, outputTokens: 1_204, totalTokens: 10_204 };
    show(promptRow(0, "q"), { ...answerRow(0, "**yes**"), usage, thoughts: "hm", thoughtMs: 6_000 });
    const gemini = article("Gemini");
    expect(gemini.querySelector("strong")?.textContent).toBe("yes");
    expect(gemini.querySelector(".model")?.textContent).toBe("gemini-3-pro");
    expect(gemini.querySelector(".usage")?.textContent).toBe("1,204 tokens");
    expect(gemini.querySelector("summary")?.textContent).toBe("Thought for 6 s");
    press("Copy", gemini);
    expect(announced).toEqual(["Copied"]);
    press("Retry", gemini);
    press("Fork here", gemini);
    expect(sent).toEqual([
      { type: "copy", text: "**yes**" },
      { type: "turn", do: "retry", turnId: "t0" },
      { type: "turn", do: "fork", turnId: "t0" },
    ]);
  });

  it("grows by deltas and refuses one that does not fit", () => {
    show(promptRow(0, "q"), answerRow(0, "", "streaming"));
    const delta = { rowId: "a:t0", version: 2, field: "text", at: 0, text: "one\n\ntwo\n" } as const;
    expect(transcript.appendDelta(delta)).toBe(true);
    expect(transcript.appendDelta(delta)).toBe(false);
    vi.advanceTimersByTime(50);
    expect(article("Gemini").querySelector(":scope > .markdown")?.textContent).toBe("onetwo");
  });

  it("counts the time that stopping takes", () => {
    show(answerRow(0, "part", "stopping"));
    transcript.setRows(1, 0, [{ ...answerRow(0, "part", "stopping"), version: 2, since: Date.now() }]);
    expect(root.querySelector(".state span")?.textContent).toBe("Stopping…");
    vi.advanceTimersByTime(1_000);
    expect(root.querySelector(".state span")?.textContent).toBe("Still stopping…");
  });

  it("keeps what came when it was stopped, and offers to retry", () => {
    show(promptRow(0, "q"), answerRow(0, "a part", "stopped"));
    expect(article("Gemini").textContent).toContain("a part");
    press("Retry");
    expect(sent).toEqual([{ type: "turn", do: "retry", turnId: "t0" }]);
  });

  it("says what went wrong and what mends it, and counts down to a retry", () => {
    const retry = { id: "retry", label: "Retry", argument: "t0" } as const;
    const error = { kind: "overloaded", message: "Gemini is overloaded", hint: "Wait a little.", retryable: true, retryAt: Date.now() + 12_000, actions: [retry] };
    show(promptRow(0, "q"), { ...answerRow(0, "", "failed"), error });
    expect(article("Gemini").textContent).toContain("Gemini is overloaded");
    expect(root.querySelector("[data-action=retry]")?.textContent).toBe("Retry in 12 s");
    vi.advanceTimersByTime(10_000);
    expect(root.querySelector("[data-action=retry]")?.textContent).toBe("Retry in 2 s");
    vi.advanceTimersByTime(2_000);
    press("Retry", root.querySelector(".problem") ?? root);
    expect(sent).toEqual([{ type: "action", action: retry }]);
  });

  it("hands its code to the host, and its links", () => {
    show(answerRow(0, "[there](src/a.ts)\n\n```js\nlet a;\n```"));
    press("Insert");
    root.querySelector<HTMLElement>("a[data-href]")?.click();
    expect(sent).toEqual([
      { type: "code", do: "insert", text: "let a;", language: "js" },
      { type: "open", href: "src/a.ts" },
    ]);
  });

  it("offers nothing that changes a session which another window holds", () => {
    transcript.setState(panelState({ session: { sessionId: "s", title: "", heldBy: 4 } }));
    show(promptRow(0, "q"), answerRow(0, "a"), divider());
    const labels = [...root.querySelectorAll("button")].filter((one) => one.closest("[hidden]") === null).map((one) => one.textContent);
    expect(labels).toContain("Copy");
    expect(labels).toContain("Fork here");
    for (const label of ["Pin", "Retry", "Undo"]) expect(labels).not.toContain(label);
  });
});

describe("a compression", () => {
  it("says what it did", () => {
    show(divider());
    const text = article("Chat compressed").textContent;
    expect(text).toContain("812,340 → 96,120 tokens, 88% less");
    expect(text).toContain("Kept 94% of facts");
  });

  it("says nothing of facts that nobody counted", () => {
    show(divider({ result: { ...result, retention: { score: "many" } } }));
    expect(article("Chat compressed").textContent).not.toContain("facts");
  });

  it("counts its seconds and can be cancelled while it runs", () => {
    show(divider({ state: "running", phase: "verifying", block: 2, blocks: 3, startedAt: Date.now() }));
    expect(article("Compressing").textContent).toContain("verifying · block 2 of 3 · 1 s");
    vi.advanceTimersByTime(12_000);
    expect(article("Compressing").textContent).toContain("12 s");
    press("Cancel");
    expect(sent).toEqual([{ type: "compaction", do: "cancel", compactionId: "1" }]);
  });

  it.each([
    ["preview", ["Apply", "Edit", "Compare", "Discard"]],
    ["compressed", ["View snapshot", "Compare", "Undo"]],
    ["truncated", ["Undo"]],
    ["unchanged", []],
    ["cancelled", []],
    ["failed", []],
  ] as const)("offers what fits its state: %s", (state, labels) => {
    show(divider({ state }));
    expect([...root.querySelectorAll(".divider .row-buttons > button")].map((one) => one.textContent)).toEqual(labels);
  });

  it("gives the reason when nothing was changed", () => {
    show(divider({ state: "unchanged", result: { ...result, message: "There is too little to compress." } }));
    expect(article("Not compressed").textContent).toContain("There is too little to compress.");
  });

  it("is undone only after a question", async () => {
    show(divider());
    confirmed = false;
    press("Undo");
    await Promise.resolve();
    expect(sent).toEqual([]);
    confirmed = true;
    press("Undo");
    await Promise.resolve();
    expect(sent).toEqual([{ type: "compaction", do: "undo", compactionId: "1" }]);
  });

  it("is rated from 1 to 5", () => {
    show(divider());
    const group = root.querySelector("[role=radiogroup]");
    expect(group?.querySelectorAll("input")).toHaveLength(5);
    group?.querySelectorAll<HTMLInputElement>("input")[3]?.click();
    expect(sent).toEqual([{ type: "compaction", do: "rate", compactionId: "1", rating: 4 }]);
  });

  it("folds the turns that it hides, and shows them on request", () => {
    const hidden: HiddenRun[] = [{ from: 0, to: 3, compactionId: "1", turns: 2 }];
    transcript.setState(panelState({ hidden }));
    show(...conversation(2, 20), divider(), promptRow(9, "new"));
    expect(root.querySelectorAll("article")).toHaveLength(3);
    expect(article(/^2 earlier turns/).getAttribute("aria-posinset")).toBe("1");
    expect(article("You").getAttribute("aria-posinset")).toBe("6");
    press("2 turns folded");
    expect(root.querySelectorAll("article")).toHaveLength(7);
    press("Hide");
    expect(root.querySelectorAll("article")).toHaveLength(3);
  });
});

describe("a notice", () => {
  it("has its text and its actions", () => {
    const action = { id: "openSettings", label: "Open settings" } as const;
    show({ kind: "notice", id: "n:1", version: 1, level: "warning", text: "The turn limit is reached", actions: [action] });
    expect(article("Warning").textContent).toContain("The turn limit is reached");
    press("Open settings");
    expect(sent).toEqual([{ type: "action", action }]);
  });
});

describe("the keyboard", () => {
  function focused(): string {
    return document.activeElement?.getAttribute("aria-posinset") ?? document.activeElement?.textContent ?? "";
  }

  beforeEach(() => {
    show(...conversation(3, 20));
    transcript.focusNewest();
  });

  it("has one message in the order of the Tab key", () => {
    expect(root.querySelectorAll('article[tabindex="0"]')).toHaveLength(1);
    expect(root.querySelectorAll('button[tabindex="0"]')).toHaveLength(0);
  });

  it("walks by message, by prompt, and to both ends", () => {
    expect(focused()).toBe("6");
    type("k");
    expect(focused()).toBe("5");
    type("PageUp");
    expect(focused()).toBe("4");
    type("[");
    expect(focused()).toBe("3");
    type("]");
    expect(focused()).toBe("5");
    type("Home");
    expect(focused()).toBe("1");
    type("End", { ctrlKey: true });
    expect(focused()).toBe("6");
  });

  it("goes into a message and out again", () => {
    type("Enter");
    const inside = document.activeElement;
    expect(inside?.matches("button, summary, a")).toBe(true);
    expect(inside?.closest("article")?.querySelectorAll('button[tabindex="0"]').length).toBeGreaterThan(0);
    type("Escape");
    expect(focused()).toBe("6");
    expect(root.querySelectorAll('button[tabindex="0"]')).toHaveLength(0);
  });

  it("copies, retries, forks and pins the message with the focus", () => {
    for (const key of ["c", "r", "f", "p"]) type(key);
    expect(sent.map((message) => (message.type === "turn" ? message.do : message.type))).toEqual(["copy", "retry", "fork", "pin"]);
  });

  it("leaves single letters alone where they are turned off", () => {
    const settings: PanelState["settings"] = { ...panelState().settings, messageKeys: false };
    transcript.setState(panelState({ settings }));
    for (const key of ["c", "r", "k"]) type(key);
    expect(sent).toEqual([]);
    expect(focused()).toBe("6");
  });

  it("opens a compression's snapshot and undoes it", async () => {
    show(divider());
    transcript.focusNewest();
    expect(root.querySelectorAll('.divider button[tabindex="0"]').length).toBeGreaterThan(0);
    type("Enter");
    type("u");
    await Promise.resolve();
    expect(sent.map((message) => message.type === "compaction" && message.do)).toEqual(["view", "undo"]);
  });

  it("copies a whole block of code, and walks along its buttons", () => {
    show({ ...answerRow(0, "```js\nlet a;\n```"), version: 2 });
    root.querySelector<HTMLElement>("pre")?.focus();
    type("c", { ctrlKey: true });
    expect(sent).toEqual([{ type: "code", do: "copy", text: "let a;", language: "js" }]);
    root.querySelector<HTMLElement>("[data-code=copy]")?.focus();
    type("ArrowRight");
    expect(focused()).toBe("Insert");
  });

  it("keeps the focus through a snapshot and through rows that come", () => {
    type("k");
    const before = document.activeElement;
    transcript.reset(6, 0, conversation(3, 20));
    transcript.setRows(8, 6, conversation(4, 20).slice(6));
    expect(document.activeElement).toBe(before);
  });
});
