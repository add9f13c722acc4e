// @vitest-environment jsdom
/** The rules under a prompt, what a compression kept and lost, places that are shown, and compressing from a message. */
import { describe, expect, it } from "vitest";
import type { PromptRow } from "../../../src/panel/contract.js";
import { answerRow, conversation, panelState, promptRow } from "../../browser/rows.js";
import { constraint } from "../chat/scriptedEvents.js";
import { article, divider, press, result, root, sent, show, transcript, type } from "./mountedTranscript.js";

type Rule = NonNullable<PromptRow["rules"]>[number];

const ruled = (...rules: readonly Rule[]): PromptRow => ({ ...promptRow(1, "Never touch generated/. Go."), rules });
const again = (row: PromptRow): void => transcript.setRows(2, 0, [{ ...row, version: row.version + 1 }]);
const line = (): string => article("You").querySelector(".rules li")?.textContent ?? "";

describe("a rule under its prompt", () => {
  it("says that it is kept, and is released by the button that names it", () => {
    show(ruled(constraint()), answerRow(1, "Yes."));
    expect(line()).toBe("Rule kept: never touch generated/Release");
    const release = article("You").querySelector<HTMLElement>("[aria-label='Release: never touch generated/']");
    release?.click();
    expect(sent).toEqual([{ type: "rule", constraintId: "r1", state: "released" }]);
  });

  it("is a question while it is only proposed", () => {
    show(ruled(constraint({ state: "proposed" })), answerRow(1, "Yes."));
    expect(line()).toContain("Keep as a rule? never touch generated/");
    press("Keep");
    press("Not Now");
    expect(sent).toEqual([
      { type: "rule", constraintId: "r1", state: "inForce" },
      { type: "rule", constraintId: "r1", state: "released" },
    ]);
  });

  it("is a question about an earlier rule where it may take that one's place", () => {
    show(ruled(constraint({ state: "proposed", replaces: "r0", text: "you can push now" })), answerRow(1, "Yes."));
    expect(line()).toContain("Does this replace an earlier rule? you can push now");
    press("Replace It");
    expect(sent).toEqual([{ type: "rule", constraintId: "r1", state: "inForce" }]);
  });

  it("keeps the focus where it is decided", () => {
    show(ruled(constraint()), answerRow(1, "Yes."));
    article("You").querySelector<HTMLElement>(".rules button")?.focus();
    again(ruled(constraint({ state: "released" })));
    expect(line()).toContain("Not a rule: never touch generated/");
    expect(document.activeElement?.textContent).toBe("Keep");
    again({ ...ruled(constraint({ state: "released", replacedBy: "r2" })), version: 2 });
    expect(line()).toBe("Replaced by a later rule: never touch generated/");
    expect(document.activeElement).toBe(article("You"));
  });

  it("is one of many in one line that opens", () => {
    const rules = ["a", "b", "c", "d"].map((name) => constraint({ constraintId: name, text: `never ${name}` }));
    show(ruled(...rules, constraint({ state: "proposed" })), answerRow(1, "Yes."));
    expect(article("You").querySelector(".rules summary")?.textContent).toBe("5 rules, 1 to be decided");
    expect(article("You").querySelectorAll(".rules li")).toHaveLength(5);
  });

  it("can only be read where another window holds the chat", () => {
    transcript.setState(panelState({ session: { sessionId: "s", title: "", heldBy: 7 } }));
    show(ruled(constraint()), answerRow(1, "Yes."));
    expect(line()).toBe("Rule kept: never touch generated/");
  });

  it("shows what it says as text, whatever that is", () => {
    show(ruled(constraint({ text: "<img src=x onerror=alert(1)>" })), answerRow(1, "Yes."));
    expect(root.querySelector("img")).toBe(null);
    expect(line()).toContain("<img src=x onerror=alert(1)>");
  });
});

describe("what a compression kept", () => {
  const judged = {
    ...result,
    retention: {
      ...result.retention,
      missing: [
        { kind: "directive", text: "Run make lint." },
        { kind: "path", text: "a.py" },
        { kind: "path", text: "b.py" },
      ],
      appended: 2,
      unsupported: [{ kind: "path", text: "src/lexer.py" }],
    },
    appendix: "Rules\n- never touch generated/",
    strategy: "semantic",
  } as const;

  it("is one line that opens to what is missing by kind, what was put back, and what was never said", () => {
    show(divider({ result: judged }));
    const facts = article("Chat compressed").querySelector("details.facts");
    expect(facts?.querySelector("summary")?.textContent).toBe("Kept 47 of 50 facts · 2 put back · 1 never said");
    const text = facts?.querySelector(".facts-body")?.textContent ?? "";
    expect(text).toContain("3 facts are missing");
    expect([...(facts?.querySelectorAll("dl")[0]?.children ?? [])].map((one) => one.textContent)).toEqual([
      "Rules",
      "Run make lint.",
      "Files",
      "a.py",
      "b.py",
    ]);
    expect(facts?.querySelector("pre")?.textContent).toBe("Rules\n- never touch generated/");
    expect(facts?.querySelector(".unsupported")?.textContent).toBe("⚠ src/lexer.py (not in the chat)");
    expect(text).toContain("Strategy: By topic");
  });

  it("counts statements where what was said is quoted, and says that it is", () => {
    show(divider({ result: { ...judged, strategy: "record" } }));
    const facts = article("Chat compressed").querySelector("details.facts");
    expect(facts?.querySelector("summary")?.textContent).toBe("Kept 47 of 50 statements word for word · 1 never said");
    expect(facts?.querySelector("pre")?.getAttribute("aria-label")).toBe("What is quoted");
    expect(facts?.querySelector(".facts-body")?.textContent).toContain("Quoted word for word beside the snapshot");
  });

  it("stays open while the row changes", () => {
    show(divider({ result: judged }));
    const facts = article("Chat compressed").querySelector<HTMLDetailsElement>("details.facts");
    if (facts) facts.open = true;
    transcript.setRows(1, 0, [divider({ result: judged, version: 2, rating: 4 })]);
    expect(article("Chat compressed").querySelector("details.facts")).toBe(facts);
    expect(facts?.open).toBe(true);
  });

  it("says why a snapshot that lost too much was refused, with what is missing", () => {
    const refused = { ...judged, status: "COMPRESSION_FAILED_LOW_RETENTION", message: "It kept too little." } as const;
    show(divider({ state: "unchanged", result: refused }));
    expect(article("Not compressed").textContent).toContain("It kept too little.");
    expect(article("Not compressed").querySelector(".facts-body")?.textContent).toContain("Run make lint.");
  });

  it("counts what is missing beyond the list", () => {
    show(divider({ result: { ...judged, retention: { ...judged.retention, facts: 500, kept: 100 } } }));
    expect(article("Chat compressed").querySelector(".facts-body")?.textContent).toContain("400 facts are missing");
  });
});

describe("a place that was asked for", () => {
  const words = (row: number): string => {
    const shown = conversation(3, 200)[row];
    return shown !== undefined && "text" in shown ? shown.text : "";
  };

  it("unfolds what hides it, has the focus, and is marked until the focus goes elsewhere", () => {
    transcript.setState(panelState({ hidden: [{ from: 0, to: 3, compressionId: "1", turns: 2 }] }));
    show(...conversation(2, 20), divider(), promptRow(9, "new"));
    transcript.showPlace({ row: 2, rowId: "p:t1", start: 0, length: 8 });
    expect(document.activeElement).toBe(root.querySelector("[data-place]"));
    expect(document.activeElement?.textContent).toContain("Question 1");
    type("PageDown");
    expect(document.activeElement?.textContent).not.toContain("Question 1");
    expect(root.querySelector("[data-place]")).toBe(null);
  });

  it("may be a row that only comes into sight: what hides it unfolds, and the focus stays", () => {
    transcript.setState(panelState({ hidden: [{ from: 0, to: 3, compressionId: "1", turns: 2 }] }));
    show(...conversation(2, 20), divider(), promptRow(9, "new"));
    const before = document.activeElement;
    transcript.showRow(2, "p:other");
    expect(root.textContent).not.toContain("Question 1");
    transcript.showRow(2, "p:t1");
    expect(root.textContent).toContain("Question 1");
    expect(document.activeElement).toBe(before);
  });

  it("waits for its row", () => {
    transcript.reset(6, 4, conversation(3, 200).slice(4));
    transcript.showPlace({ row: 0, rowId: "p:t0", start: 0, length: 4 });
    expect(root.querySelector("[data-place]")).toBe(null);
    transcript.setRows(6, 0, conversation(3, 200).slice(0, 4));
    expect(root.querySelector("[data-place]")?.textContent).toContain(words(0));
    expect(document.activeElement).toBe(root.querySelector("[data-place]"));
  });

  it("is not looked for in another chat", () => {
    transcript.reset(6, 4, conversation(3, 200).slice(4));
    transcript.showPlace({ row: 0, rowId: "p:t0", start: 0, length: 4 });
    show({ ...promptRow(7, "another chat"), id: "p:other" });
    expect(root.querySelector("[data-place]")).toBe(null);
  });
});

describe("compressing from a message", () => {
  it("previews everything up to it, or from it on", () => {
    show(promptRow(1, "Why?"), answerRow(1, "So."));
    press("Compress up to here", article("Gemini"));
    press("Compress from here", article("You"));
    expect(sent).toEqual([
      { type: "compress", preview: true, guided: false, upTo: "t1" },
      { type: "compress", preview: true, guided: false, from: "t1" },
    ]);
  });

  it("is not offered for what is folded already, nor where nothing may be changed", () => {
    show({ ...promptRow(1, "Why?"), hiddenBy: "1" });
    expect(article("You").querySelector<HTMLElement>(".row-more")?.hidden).toBe(true);
    transcript.setState(panelState({ session: { sessionId: "s", title: "", heldBy: 7 } }));
    show(promptRow(2, "Why?"));
    expect(article("You").querySelector<HTMLElement>(".row-more")?.hidden).toBe(true);
  });
});
