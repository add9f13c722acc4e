// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Receipt } from "../../../src/panel/contract.js";
import { answerRow, conversation, panelState, promptRow } from "../../browser/rows.js";
import { announced, article, asked, divider, press, root, sent, show, transcript } from "./mountedTranscript.js";

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

  it("keeps the nodes of rows that did not change through a sync", () => {
    const rows = conversation(3, 40);
    show(...rows);
    const kept = [...root.querySelectorAll("article")];
    transcript.reset(
      6,
      0,
      rows.map((row) => ({ ...row })),
    );
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

  it("goes there with the first rows that come, unless a prompt was sent before them", () => {
    const place = { rowId: "a:t10", offset: 14 };
    transcript.reset(0, 0, [], place);
    expect(transcript.anchor()).toEqual(place);
    transcript.reset(100, 0, conversation(50, 20));
    expect(transcript.anchor()).toEqual(place);
    transcript.reset(0, 0, []);
    expect(transcript.anchor()).toBe("end");
    transcript.reset(0, 0, [], place);
    transcript.promptSent();
    transcript.reset(100, 0, conversation(50, 20));
    expect(transcript.anchor()).toBe("end");
    transcript.reset(0, 0, [], place);
    transcript.setRows(2, 0, conversation(1, 20));
    transcript.reset(100, 0, conversation(50, 20));
    expect(transcript.anchor()).toBe("end");
  });
});

describe("a prompt", () => {
  it("is plain text, with what was sent along", () => {
    const receipt = {
      kind: "full",
      files: ["src/a.py", "src/b.py"],
      selectionChars: 14,
      withheld: [{ name: ".env", reason: "a key file" }],
      mentioned: [],
    } as const;
    show({ ...promptRow(0, "<b>Why</b>\n**not**?"), time: Date.now(), receipt });
    const you = article("You");
    expect(you.querySelector(".prompt-text")?.textContent).toBe("<b>Why</b>\n**not**?");
    expect(you.querySelector("summary")?.textContent).toBe("Sent: 2 paths, 14 characters selected, 1 left out");
    expect(you.querySelector(".withheld")?.textContent).toBe(".env left out: a key file");
    press("src/b.py", you);
    expect(sent).toEqual([{ type: "open", href: "src/b.py" }]);
  });

  it("says how much of each file was sent, and what of the editor was not", () => {
    show({
      ...promptRow(0, "q"),
      receipt: {
        kind: "full",
        files: ["src/a.py", "src/b.py", "blob.bin"],
        texts: [
          { path: "src/a.py", extent: "lines", lines: [1, 358], lineCount: 500, unsaved: true },
          { path: "blob.bin", extent: "path", reason: "not a text file" },
        ],
        selectionChars: 16_000,
        selectionCut: { sent: [1, 358], selected: [1, 500] },
        moreOpenFiles: 54,
        withheld: [],
        mentioned: [],
      },
    });
    const you = article("You");
    expect(you.querySelector("summary")?.textContent).toBe(
      "Sent: 1 file, 2 paths, 16,000 characters selected, selection cut: lines 1–358 of 1–500, 54 left out",
    );
    expect([...you.querySelectorAll(".receipt li")].map((item) => item.textContent)).toEqual([
      "src/a.py lines 1–358 of 500, unsaved text",
      "src/b.py path only",
      "blob.bin path only: not a text file",
      "54 more open files left out: too many",
    ]);
  });

  it("counts as files what text was sent of, with words that say so where nothing was", () => {
    const receipt = {
      kind: "full",
      files: ["a.py", "b.py", "c.py"],
      selectionChars: 0,
      withheld: [],
      mentioned: [],
    } as const;
    let version = 1;
    const summary = (row: Receipt): string | undefined => {
      show({ ...promptRow(0, "q"), version: (version += 1), receipt: row });
      return article("You").querySelector("summary")?.textContent;
    };
    expect(summary({ ...receipt, texts: [{ path: "a.py", extent: "whole" }] })).toBe("Sent: 1 file, 2 paths");
    expect(summary({ ...receipt, files: ["a.py"] })).toBe("Sent: 1 path");
    expect(summary({ ...receipt, kind: "delta", texts: [{ path: "b.py", extent: "lines", asChanges: true }] })).toBe(
      "Sent, as changes: 1 file, 2 paths",
    );
    expect(summary({ ...receipt, mentioned: ["b.py"] })).toBe("Sent: 1 file, 2 paths");
    const withheld = [{ name: "Untitled-1", reason: "not saved yet" }];
    expect(summary({ ...receipt, kind: "delta", files: [], withheld })).toBe("Sent: nothing of the editor, 1 left out");
  });

  it("tells what an MCP server said from files, and leads to none for it", () => {
    const mentioned = ["tickets:issue://7", "/tickets:summary", "src/a.py", "C:\\b.py"];
    show({
      ...promptRow(0, "q"),
      receipt: { kind: "full", files: [], selectionChars: 0, withheld: [], mentioned },
    });
    const you = article("You");
    expect(you.querySelector("summary")?.textContent).toBe("Sent: 2 files, 2 texts of MCP servers");
    expect([...you.querySelectorAll(".receipt button")].map((one) => one.textContent)).toEqual(mentioned.slice(2));
    expect(you.querySelector(".receipt li")?.textContent).toBe("tickets:issue://7 (named in the prompt)");
  });

  it("does not count files as sent that are open no more", () => {
    const receipt = {
      kind: "delta",
      files: ["a.py", "b.py"],
      closed: ["a.py", "b.py"],
      selectionChars: 0,
      withheld: [{ name: "a.py", reason: "not on disk" }],
      mentioned: [],
    } as const;
    show({ ...promptRow(0, "q"), receipt });
    expect(article("You").querySelector("summary")?.textContent).toBe("Sent, as changes: 2 no longer open, 1 left out");
  });

  it("is pinned and unpinned, and its answer says so too", () => {
    show(promptRow(0, "q"), answerRow(0, "a"));
    press("Pin", article("You"));
    transcript.reset(2, 0, [
      { ...promptRow(0, "q"), version: 2, pinId: "7" },
      { ...answerRow(0, "a"), version: 2, pinId: "7" },
    ]);
    press("Unpin", article("Gemini"));
    expect(sent).toEqual([
      { type: "turn", do: "pin", turnId: "t0" },
      { type: "turn", do: "unpin", turnId: "t0" },
    ]);
  });
});

describe("an answer", () => {
  beforeEach(() => transcript.setState(panelState({ retryTurn: "t0" })));

  it("offers to be given anew only while it can be", () => {
    const offers = (): string[] =>
      [...root.querySelectorAll<HTMLElement>("button")]
        .filter((one) => one.textContent === "Retry" && one.closest("[hidden]") === null)
        .map((one) => one.closest("article")?.getAttribute("aria-posinset") ?? "");
    show(promptRow(0, "q"), answerRow(0, "a"), promptRow(1, "r"), answerRow(1, "b", "stopped"));
    expect(offers()).toEqual(["2"]);
    transcript.setState(panelState({ retryTurn: "t1" }));
    expect(offers()).toEqual(["4"]);
    transcript.setState(panelState());
    expect(offers()).toEqual([]);
  });

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
    expect(article("Gemini").querySelector(".answer-body > .markdown")?.textContent).toBe("onetwo");
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
    const error = {
      kind: "overloaded",
      message: "Gemini is overloaded",
      hint: "Wait a little.",
      retryable: true,
      retryAt: Date.now() + 12_000,
      actions: [retry],
    };
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
    const labels = [...root.querySelectorAll("button")]
      .filter((one) => one.closest("[hidden]") === null)
      .map((one) => one.textContent);
    expect(labels).toContain("Copy");
    expect(labels).toContain("Fork here");
    for (const label of ["Pin", "Retry", "Undo"]) expect(labels).not.toContain(label);
  });
});
