// @vitest-environment jsdom
import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { HiddenRun, PanelState } from "../../../src/panel/contract.js";
import { beginning } from "../../../webview/transcript/rows/folding.js";
import { answerRow, conversation, panelState, promptRow } from "../../browser/rows.js";
import { photo, screenshot } from "../../panel/pictures.js";
import {
  answerQuestions,
  article,
  divider,
  press,
  result,
  root,
  sent,
  show,
  transcript,
  type,
} from "./mountedTranscript.js";

describe("a prompt", () => {
  const log = Array.from({ length: 4_000 }, (_, line) => `line ${line}: something was logged here`).join("\n");

  it("that is long shows how it begins and ends, and all of it to who asks", () => {
    show(promptRow(1, log), answerRow(1, "Yes."));
    const text = (): string => article("You").querySelector(".prompt-text")?.textContent ?? "";
    expect(text().length).toBeLessThan(2_000);
    const [start = "", end = ""] = text().split(" …\n… ");
    expect([start, end].every((part) => part.length > 100)).toBe(true);
    expect(log.startsWith(start) && log.endsWith(end)).toBe(true);
    press("Show all 146,889 characters");
    expect(text()).toBe(log);
    press("Show less");
    expect(text().length).toBeLessThan(2_000);
    press("Copy", article("You"));
    expect(sent).toEqual([{ type: "copy", text: log }]);
  });

  it("that is short stands word for word", () => {
    show(promptRow(1, "Why?\nSay it in short."));
    expect(article("You").querySelector(".prompt-text")?.textContent).toBe("Why?\nSay it in short.");
    expect(article("You").querySelector("[aria-expanded]")?.closest("[hidden]")).not.toBe(null);
  });

  it("shows its pictures with name and size, whether or not there is a small one of them, and opens one", () => {
    const more = { ...promptRow(1, "See."), pictures: [screenshot, { ...photo, name: "" }] };
    show(more, answerRow(1, "Yes."));
    const list = article("You").querySelector("[aria-label=Pictures]");
    expect([...(list?.querySelectorAll("button") ?? [])].map(({ textContent }) => textContent)).toEqual([
      "screenshot.png 0.2 kB",
      "HEIC picture 2.3 MB",
    ]);
    press("screenshot.png 0.2 kB");
    expect(sent).toEqual([{ type: "openPicture", digest: screenshot.digest }]);
    transcript.setRows(2, 0, [{ ...more, version: 9 }]);
    expect(article("You").querySelector("[aria-label=Pictures]")).toBe(list);
  });

  it("shows what was typed, and what was pasted as in the composer: it opens in an editor", () => {
    const text = `Look: ${log}\n\nWhat went wrong?`;
    const pasted = [{ start: 6, length: log.length }];
    show({ ...promptRow(1, text), pasted }, answerRow(1, "Yes."));
    const shown = (): string => article("You").querySelector(".prompt-text")?.textContent ?? "";
    expect(shown()).toBe("Look: [Pasted text 1: 4,000 lines]\n\nWhat went wrong?");
    press("[Pasted text 1: 4,000 lines]");
    expect(sent).toEqual([{ type: "read", name: "Pasted text 1.txt", text: log }]);
    transcript.revealMatch({ row: 0, rowId: "p:t1", start: text.indexOf("What went"), length: 9 });
    expect(shown()).toContain("[Pasted text 1");
    transcript.revealMatch({ row: 0, rowId: "p:t1", start: text.indexOf("line 7:"), length: 6 });
    expect(shown()).toBe(text);
    press("Show less");
    press("Copy", article("You"));
    expect(sent.at(-1)).toEqual({ type: "copy", text });
  });

  it("is unfolded by the find bar where the match is in what was folded", () => {
    show(promptRow(1, log), answerRow(1, "Yes."));
    const text = (): string => article("You").querySelector(".prompt-text")?.textContent ?? "";
    transcript.revealMatch({ row: 0, rowId: "p:t1", start: 0, length: 4 });
    expect(text().length).toBeLessThan(2_000);
    transcript.revealMatch({ row: 0, rowId: "p:t1", start: log.indexOf("line 3999"), length: 9 });
    expect(text()).toBe(log);
  });

  it("and a block of code too, where the match is in the lines that were folded", () => {
    const code = Array.from({ length: 3_000 }, (_, line) => `value_${line} = ${line}`).join("\n");
    const text = `\`\`\`\n${code}\n\`\`\`\n`;
    show(promptRow(1, "All of it"), answerRow(1, text));
    const folded = (): Element | null => article("Gemini").querySelector("code[hidden]");
    transcript.revealMatch({ row: 1, rowId: "a:t1", start: text.indexOf("value_7 "), length: 7 });
    expect(folded()).not.toBe(null);
    transcript.revealMatch({ row: 1, rowId: "a:t1", start: text.indexOf("value_2900"), length: 10 });
    expect(folded()).toBe(null);
  });

  it("begins with whole characters and the same way for any text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", " ", "\n", "😀", "words"), { maxLength: 4_000, size: "max" }),
        (pieces) => {
          const text = pieces.join("");
          const start = beginning(text);
          expect(text.startsWith(start)).toBe(true);
          expect(start === text || start.length <= 1_200).toBe(true);
          expect(start).not.toMatch(/[\uD800-\uDBFF]$/);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("a compression", () => {
  it("says what it did", () => {
    show(divider());
    const text = article("Chat compressed").textContent;
    expect(text).toContain("812,340 → 96,120 tokens, 88% less");
    expect(text).toContain("Kept 47 of 50 facts");
  });

  it("says so where the built-in summariser wrote what the model could not", () => {
    const told = "The model wrote no usable snapshot, so the built-in summariser wrote it.";
    show(divider());
    expect(article("Chat compressed").textContent).not.toContain(told);
    show(divider({ result: { ...result, builtIn: true } }));
    expect(article("Chat compressed").textContent).toContain(told);
  });

  it("says nothing of facts that nobody counted", () => {
    const { retention: _, ...uncounted } = result;
    show(divider({ result: uncounted }));
    expect(article("Chat compressed").textContent).not.toContain("facts");
    show(divider({ result: { ...result, retention: { ...result.retention, facts: 0, kept: 0, missing: [] } } }));
    expect(article("Chat compressed").textContent).not.toContain("facts");
  });

  it("counts its seconds and can be cancelled while it runs", () => {
    show(divider({ state: "running", phase: "verifying", block: 2, blocks: 3, startedAt: Date.now() }));
    expect(article("Compressing").textContent).toContain("verifying · block 2 of 3 · 1 s");
    vi.advanceTimersByTime(12_000);
    expect(article("Compressing").textContent).toContain("12 s");
    press("Cancel");
    expect(sent).toEqual([{ type: "compression", do: "cancel", compressionId: "1" }]);
  });

  it.each([
    ["preview", ["Apply", "Edit", "Compare", "Discard"]],
    ["compressed", ["View snapshot", "Compare", "Undo"]],
    ["truncated", ["Undo"]],
    ["outdated", ["New preview", "Discard"]],
    ["unchanged", []],
    ["cancelled", []],
    ["failed", []],
  ] as const)("offers what fits its state: %s", (state, labels) => {
    show(divider({ state }));
    expect([...root.querySelectorAll(".divider .row-buttons > button")].map((one) => one.textContent)).toEqual(labels);
  });

  it.each([
    [{ state: "compressed", canUndo: true }, true],
    [{ state: "preview" }, true],
    [{ state: "compressed", canUndo: false }, false],
    [{ state: "undone" }, false],
  ] as const)("lists what it keeps word for word while that stands: %j", (change, lists) => {
    show(divider({ ...change, result: { ...result, strategy: "record" } }));
    const labels = [...root.querySelectorAll(".divider .row-buttons > button")].map((one) => one.textContent);
    expect(labels.includes("What is kept")).toBe(lists);
    if (!lists) return;
    press("What is kept");
    expect(sent).toEqual([{ type: "compression", do: "kept", compressionId: "1" }]);
  });

  it("gives the reason when nothing was changed", () => {
    show(divider({ state: "unchanged", result: { ...result, message: "There is too little to compress." } }));
    expect(article("Not compressed").textContent).toContain("There is too little to compress.");
  });

  it("is undone only after a question", async () => {
    show(divider());
    answerQuestions(false);
    press("Undo");
    await Promise.resolve();
    expect(sent).toEqual([]);
    answerQuestions(true);
    press("Undo");
    await Promise.resolve();
    expect(sent).toEqual([{ type: "compression", do: "undo", compressionId: "1" }]);
  });

  it("says that its undo waits; the button that was pressed keeps the focus and calls it off", async () => {
    show(divider());
    const undo = root.querySelectorAll<HTMLElement>(".divider .row-buttons > button")[2];
    undo?.focus();
    show(divider({ version: 2, undoWaits: true }));
    expect(document.activeElement).toBe(undo);
    const rating = root.querySelector<HTMLElement>(".rating");
    expect([undo?.textContent, rating?.hidden]).toEqual(["Cancel undo", true]);
    expect(article("Chat compressed").textContent).toContain("Undone when the answer is complete.");
    press("Cancel undo");
    await Promise.resolve();
    expect(sent).toEqual([{ type: "compression", do: "cancelUndo", compressionId: "1" }]);
    show(divider({ version: 3, undoWaits: false }));
    expect(rating?.hidden).toBe(false);
    press("Undo");
    await Promise.resolve();
    expect(sent.at(-1)).toEqual({ type: "compression", do: "undo", compressionId: "1" });
  });

  it("is rated from 1 to 5", () => {
    show(divider());
    const group = root.querySelector("[role=radiogroup]");
    expect(group?.querySelectorAll("input")).toHaveLength(5);
    group?.querySelectorAll<HTMLInputElement>("input")[3]?.click();
    expect(sent).toEqual([{ type: "compression", do: "rate", compressionId: "1", rating: 4 }]);
  });

  it("folds the turns that it hides, and shows them on request", () => {
    const hidden: HiddenRun[] = [{ from: 0, to: 3, compressionId: "1", turns: 2 }];
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
    show({
      kind: "notice",
      id: "n:1",
      version: 1,
      level: "warning",
      text: "The turn limit is reached",
      actions: [action],
    });
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
    transcript.setState(panelState({ retryTurn: "t2" }));
    for (const key of ["c", "r", "f", "p"]) type(key);
    expect(sent.map((message) => (message.type === "turn" ? message.do : message.type))).toEqual([
      "copy",
      "retry",
      "fork",
      "pin",
    ]);
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
    expect(sent.map((message) => message.type === "compression" && message.do)).toEqual(["view", "undo"]);
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

  it("keeps the focus through a sync and through rows that come", () => {
    type("k");
    const before = document.activeElement;
    transcript.reset(6, 0, conversation(3, 20));
    transcript.setRows(8, 6, conversation(4, 20).slice(6));
    expect(document.activeElement).toBe(before);
  });
});
