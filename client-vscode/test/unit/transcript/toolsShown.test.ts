// @vitest-environment jsdom
/** Calls of tools and their questions on the page. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { AnswerRow, ToolRow } from "../../../src/panel/contract.js";
import { commandAsked, commandRow, editAsked, editRow, lookedAt, personAsked } from "../../panel/toolRows.js";
import { answerRow } from "../../browser/rows.js";
import { article, press, root, sent, show, transcript, type } from "./mountedTranscript.js";

let version = 1;

function live(tools: readonly ToolRow[], more: Partial<AnswerRow> = {}): AnswerRow {
  version += 1;
  return { ...answerRow(1, ""), state: "waiting", tools, version, ...more };
}

function lines(): string[] {
  return [...root.querySelectorAll(".tools > * summary")]
    .filter((one) => one.parentElement?.parentElement?.closest("details:not([open])") === null)
    .map((one) => one.textContent);
}

function question(): HTMLElement {
  const found = root.querySelector<HTMLElement>(".question:not([hidden])");
  if (found === null) throw new Error("nothing is asked");
  return found;
}

/** A button of the question, by its words without the key. */
function button(label: string): HTMLButtonElement {
  const found = [...question().querySelectorAll("button")].find((one) => one.firstChild?.textContent === label);
  if (found === undefined) throw new Error(`no button ${label}`);
  return found;
}

function asks(more: Partial<NonNullable<ToolRow["question"]>>, of: ToolRow = commandAsked): ToolRow {
  if (of.question === undefined) throw new Error("it asks nothing");
  return { ...of, question: { ...of.question, ...more } };
}

/** Later than what keeps a question deaf. */
function later(): void {
  vi.advanceTimersByTime(600);
}

describe("a reason of a question", () => {
  const reasons = () =>
    [...question().querySelectorAll(":scope > .question-reason, .question-parts li")].map((one) => one.textContent);

  it("is said once, at the part that it is about, with code as code", () => {
    show(live([commandAsked]));
    expect(reasons()).toEqual(["rm -rf build no rule allows rm"]);
    expect([...question().querySelectorAll(".question-parts code")].map((one) => one.textContent)).toEqual([
      "rm -rf build",
      "rm",
    ]);
  });

  it("of the whole line, or of its only part, stands by itself", () => {
    show(live([asks({ reason: "it writes outside of the workspace" })]));
    expect(reasons()).toEqual(["rm -rf build no rule allows rm", "it writes outside of the workspace"]);
    const [, part] = commandAsked.question?.parts ?? [];
    show(live([asks({ parts: part === undefined ? [] : [part], reason: "no rule allows `rm" })]));
    expect(reasons()).toEqual(["no rule allows `rm"]);
  });
});

describe("the rows of tools", () => {
  it("say what was done, what came of it and how long it took", () => {
    show(live([{ ...commandRow, state: "failed", summary: "exit code 1", durationMs: 4_200 }]));
    expect(lines()).toEqual(["Run pytest -q tests && rm -rf build · failed · exit code 1 · 4 s"]);
  });

  it("of neighbours that only looked are one row, which names what was read, and opens", () => {
    const READ = "Read src/tokenizer.py, Read src/parser.py, Read tests/test_tokenizer.py";
    show(live([...lookedAt, { ...commandRow, state: "ok" }]));
    expect(lines()).toEqual([`Looked at 3 things: ${READ} · 1 s`, "Run pytest -q tests && rm -rf build"]);
    root.querySelector<HTMLDetailsElement>(".tool-group")?.setAttribute("open", "");
    expect(lines()).toHaveLength(5);
    const many = [...lookedAt, ...lookedAt].map((tool, at) => ({ ...tool, id: `m${at}` }));
    show(live(many));
    expect(lines()[0]).toBe(`Looked at 6 things: ${READ}, Read src/tokenizer.py and 2 more · 1 s`);
  });

  it("join a group when they are done, and keep what was unfolded", () => {
    const [first, second] = lookedAt;
    show(live([first, { ...second, state: "running" }]));
    expect(root.querySelector(".tool-group")).toBeNull();
    root.querySelector<HTMLDetailsElement>(".tool details")?.setAttribute("open", "");
    transcript.setRows(1, 0, [live([first, second])]);
    expect(root.querySelectorAll(".tool-group .tool")).toHaveLength(2);
    expect(root.querySelectorAll(".tool-members details[open]")).toHaveLength(1);
  });

  it("stand between the texts of their rounds, and so does what was said meanwhile", () => {
    show(
      live([{ ...commandRow, state: "ok", at: 5 }], {
        text: "First\n\nSecond",
        steers: [{ text: "and lint", at: 5 }],
        state: "done",
      }),
    );
    const order = [...(root.querySelector(".answer-body")?.children ?? [])]
      .map((one) => one.textContent.trim())
      .filter(Boolean);
    expect(order).toEqual(["First", expect.stringContaining("Run pytest"), "You, meanwhileand lint", "Second"]);
  });

  it("open the file at the place", () => {
    show(live([{ ...lookedAt[0], href: "src/tokenizer.py#L7" }]));
    press("Open");
    expect(sent).toEqual([{ type: "open", href: "src/tokenizer.py#L7" }]);
  });

  it("of a running command count the seconds, show its output as it comes, and stop it", () => {
    const running: ToolRow = { ...commandRow, state: "running", startedAt: Date.now() };
    show(live([running], { state: "working" }));
    vi.advanceTimersByTime(3_100);
    expect(lines()[0]).toContain("running · 3 s");
    transcript.setOutput({ rowId: answerRow(1, "").id, version: version + 1, callId: "c3", output: "41 passed" });
    vi.advanceTimersByTime(50);
    expect(root.querySelector("[aria-label=Output]")?.textContent).toBe("41 passed");
    press("Stop");
    expect(sent).toEqual([{ type: "tool", do: "stop", callId: "c3" }]);
  });

  it("ask for what a call put out when somebody unfolds it, and again while it has not come", () => {
    show(live([{ ...commandRow, state: "ok" }]));
    const details = root.querySelector<HTMLDetailsElement>(".tool details");
    const toggle = (open: boolean): void => {
      if (details) details.open = open;
      details?.dispatchEvent(new Event("toggle"));
    };
    const asked = { type: "tool", do: "output", callId: "c3" };
    toggle(true);
    expect(sent).toEqual([asked]);
    toggle(false);
    toggle(true);
    expect(sent).toEqual([asked, asked]);
    show(live([{ ...commandRow, state: "ok", output: "41 passed", isTold: true }]));
    toggle(false);
    toggle(true);
    expect(sent).toEqual([asked, asked]);
  });
});

describe("a call that has ended", () => {
  it("shows what it changed, as a question did before, and of several files their names", () => {
    const diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+two\n";
    const lines = (): string[] => [...root.querySelectorAll(".tool-diff .diff-line")].map((line) => line.textContent);
    show(live([{ ...editRow, state: "ok", diff, isTold: true }]));
    expect(lines()).toEqual(["@@ -1 +1 @@\n", "-one\n", "+two\n"]);
    expect(root.querySelector(".tool-diff .diff-added")?.textContent).toBe("+two\n");
    const gone = "--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-- -- x\n";
    show(live([{ ...editRow, state: "ok", diff: diff + gone, isTold: true }]));
    expect(lines()).toEqual([
      "@@ a.py\n",
      "@@ -1 +1 @@\n",
      "-one\n",
      "+two\n",
      "@@ b.py\n",
      "@@ -1 +0,0 @@\n",
      "-- -- x\n",
    ]);
  });

  it("has no box for what there is nothing of", () => {
    show(live([{ ...editRow, state: "ok", args: "", isTold: true }]));
    expect([...root.querySelectorAll<HTMLElement>(".tool pre")].every((box) => box.hidden)).toBe(true);
  });

  it("shows no diff twice while it is asked about", () => {
    show(live([{ ...editAsked, diff: "+x" }]));
    expect(root.querySelector<HTMLElement>(".tool-diff")?.hidden).toBe(true);
  });
});

describe("a question", () => {
  it("shows the whole line with what needs the yes marked, where it would run, and what cannot be taken back", () => {
    show(live([commandAsked]));
    const text = question().textContent;
    expect(question().querySelector(".question-command")?.textContent).toBe("pytest -q tests && rm -rf build");
    expect([...question().querySelectorAll("mark")].map((one) => one.textContent)).toEqual(["rm -rf build"]);
    for (const part of [
      "in /ws",
      "among this chat's commands · mode: Ask first",
      "Ask first",
      "⚠ What it does outside of files in the workspace cannot be taken back.",
    ])
      expect(text).toContain(part);
  });

  it("never takes the focus, and leaves it where it is when it goes", () => {
    const field = document.body.appendChild(document.createElement("input"));
    field.focus();
    show(live([commandAsked]));
    later();
    expect(document.activeElement).toBe(field);
    transcript.setRows(1, 0, [live([{ ...commandRow, state: "running" }])]);
    expect(document.activeElement).toBe(field);
    expect(root.querySelector(".question:not([hidden])")).toBeNull();
  });

  it("is deaf for the first moment after it got the focus", () => {
    show(live([commandAsked]));
    later();
    expect(transcript.focusQuestion(0, "c3")).toBe(true);
    expect(document.activeElement).toBe(button("No"));
    vi.advanceTimersByTime(400);
    type("y");
    expect(sent).toEqual([]);
    expect(question().querySelector("[role=status]")?.textContent).toContain("too soon");
    vi.advanceTimersByTime(400);
    type("y");
    expect(sent).toEqual([]);
    later();
    type("y");
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "once" }]);
  });

  it("is deaf to a click in the moment it came", () => {
    show(live([commandAsked]));
    const yes = [...question().querySelectorAll("button")][0];
    const click = (): unknown => yes?.dispatchEvent(new MouseEvent("click", { detail: 1, bubbles: true }));
    click();
    expect(sent).toEqual([]);
    later();
    click();
    expect(sent).toHaveLength(1);
  });

  it("brings whoever comes by keys to No, from whichever side", () => {
    show(live([commandAsked]));
    for (const first of [button("Yes"), question().querySelector<HTMLElement>("pre"), button("Edit…")]) {
      article("Gemini").focus();
      type("Tab");
      first?.focus();
      expect(document.activeElement).toBe(button("No"));
    }
    button("Yes").focus();
    expect(document.activeElement).toBe(button("Yes"));
  });

  it("is answered by no key that is typed without a pause, wherever the focus goes meanwhile", () => {
    show(live([commandAsked, editAsked, personAsked]));
    later();
    const places = [...root.querySelectorAll<HTMLElement>(".question button, .question, .question pre, article")];
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom("y", "Y", "a", "e", "1", "2", "Enter", " ", "Tab", "n", "d", "x"),
            fc.nat(places.length - 1),
            fc.integer({ min: 1, max: 450 }),
          ),
          { minLength: 50, maxLength: 200 },
        ),
        (keys) => {
          for (const [key, at, ms] of keys) {
            if (key === "Tab") places[at]?.focus();
            vi.advanceTimersByTime(ms);
            type(key);
            // As a browser does with the keys of a button.
            if (key === "Enter" || key === " ") (document.activeElement as HTMLElement).click();
          }
        },
      ),
      { numRuns: 20 },
    );
    expect(sent.filter(({ type: kind }) => /^answer|^tool$/.test(kind))).toEqual([]);
  });

  it("takes no second click for another question, which moved to where the first one was", () => {
    const other = { ...commandAsked, id: "c9" };
    show(live([commandAsked, other]));
    later();
    const click = (): unknown => button("Yes").dispatchEvent(new MouseEvent("click", { detail: 2, bubbles: true }));
    click();
    transcript.setRows(1, 0, [live([{ ...commandRow, state: "running" }, other])]);
    click();
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "once" }]);
    later();
    click();
    expect(sent).toHaveLength(2);
  });

  it("loses the focus when something else is asked in its place", () => {
    show(live([commandAsked]));
    transcript.focusQuestion(0, "c3");
    later();
    transcript.setRows(1, 0, [live([asks({ command: "rm -rf /", parts: [] })])]);
    expect(document.activeElement).toBe(article("Gemini"));
    later();
    type("y");
    expect(sent).toEqual([]);
  });

  it("shows all of a diff, however long: the rest comes before the end is reached", () => {
    const lines = Array.from({ length: 5_000 }, (_, line) => `+line ${line}`);
    show(live([asks({ diff: ["@@ -0,0 +1,5000 @@", ...lines].join("\n"), path: "/ws/a/long/path.py" }, editAsked)]));
    const box = question().querySelector(".question-diff");
    for (let times = 0; times < 8; times += 1) box?.dispatchEvent(new Event("scroll"));
    expect(box?.textContent).toBe(["@@ -0,0 +1,5000 @@", ...lines, ""].join("\n"));
    expect(question().textContent).toContain("5,001 lines; scroll to read them all");
    expect(question().textContent).toContain("/ws/a/long/path.py");
  });

  it("shows all of its warnings, and everything that cannot be seen as an escape", () => {
    const warnings = Array.from({ length: 40 }, (_, at) => `warning ${at} ${"long ".repeat(200)}end`);
    const hidden = "echo a\u202eb\u200b\rc\u00a0d\u{e0041}";
    show(
      live([
        asks({
          command: hidden,
          parts: [
            { text: hidden, decision: "ask", reason: "x\u2028y" },
            { text: "ls", decision: "deny" },
          ],
          warnings: [...warnings, "looks\nlike\ttwo"],
          cwd: "/ws/\u2066x",
          sandbox: "no\u0007 network.",
          reason: "rule\u001b[2K",
          irreversible: "not\ufeff back",
          ruleText: "of\u034f",
        }),
      ]),
    );
    const text = question().textContent;
    for (const warning of warnings) expect(text).toContain(warning);
    expect(question().querySelector(".question-command")?.textContent).toBe(
      String.raw`echo a\u{202e}b\u{200b}\rc\u{a0}d\u{e0041}`,
    );
    for (const shown of [
      String.raw`x\u{2028}y`,
      String.raw`looks\nlike\ttwo`,
      String.raw`/ws/\u{2066}x`,
      String.raw`no\u{7} network`,
      String.raw`rule\u{1b}[2K`,
      String.raw`not\u{feff} back`,
      String.raw`of\u{34f}`,
    ])
      expect(text).toContain(shown);
    expect(text).not.toMatch(/[^\P{C}\n]|\u2028|\u00a0|\p{Default_Ignorable_Code_Point}/u);
  });

  it("shows the arguments of a tool that nobody here knows, whatever its kind and its risk", () => {
    const args = JSON.stringify({ made: ["hooks/x"], text: "z".repeat(9_000) });
    if (editAsked.question === undefined) throw new Error("it asks nothing");
    const { diff: _diff, rule: _rule, ...bare } = editAsked.question;
    const tool: ToolRow = {
      ...commandRow,
      name: "obey_files",
      kind: "other",
      title: "obey_files",
      question: { ...bare, risk: "something new", args },
    };
    show(live([tool]));
    expect(question().querySelector("[aria-label=Arguments]")?.textContent).toBe(args);
    transcript.focusQuestion(0, "c3");
    later();
    type("n");
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "reject" }]);
  });

  it("takes N for no, and D for the diff, from wherever in it the focus is", () => {
    show(live([editAsked]));
    transcript.focusQuestion(0, "c2");
    later();
    type("d");
    later();
    type("n");
    expect(sent).toEqual([
      { type: "tool", do: "openDiff", callId: "c2" },
      { type: "answerTool", callId: "c2", outcome: "reject" },
    ]);
  });

  it("opens the rule with A, to be made narrower or wider", () => {
    show(live([commandAsked]));
    transcript.focusQuestion(0, "c3");
    later();
    type("a");
    const input = document.activeElement;
    if (!(input instanceof HTMLInputElement)) throw new Error("no rule to edit");
    expect(input.value).toBe("pytest -q");
    type("y");
    expect(sent).toEqual([]);
    input.value = "pytest";
    later();
    press("Always Allow");
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "always", rule: "pytest" }]);
  });

  it("runs the command as it was edited", () => {
    show(live([commandAsked]));
    transcript.focusQuestion(0, "c3");
    later();
    type("e");
    const area = document.activeElement;
    if (!(area instanceof HTMLTextAreaElement)) throw new Error("no command to edit");
    area.value = "pytest -q tests";
    type("Enter", { ctrlKey: true });
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "once", edited: "pytest -q tests" }]);
  });

  it("says why not", () => {
    show(live([commandAsked]));
    transcript.focusQuestion(0, "c3");
    later();
    press("No, Because…");
    const input = document.activeElement;
    if (!(input instanceof HTMLInputElement)) throw new Error("no reason to write");
    input.value = "use make clean";
    type("Enter");
    expect(sent).toEqual([{ type: "answerTool", callId: "c3", outcome: "reject", reason: "use make clean" }]);
  });

  it("keeps what is being written though the row changes otherwise", () => {
    show(live([commandAsked]));
    transcript.focusQuestion(0, "c3");
    later();
    type("e");
    const area = document.activeElement;
    transcript.setRows(1, 0, [live([{ ...commandAsked }], { text: "More." })]);
    expect(document.activeElement).toBe(area);
  });

  it("of another window has no buttons", () => {
    const { question: asked } = commandAsked;
    show(live([{ ...commandAsked, ...(asked ? { question: { ...asked, isOurs: false } } : {}) }]));
    expect(question().querySelectorAll("button")).toHaveLength(0);
  });

  it("of the model has its options as buttons, with numbers as keys, and a field", () => {
    show(live([personAsked]));
    transcript.focusQuestion(0, "c4");
    later();
    type("2");
    expect(sent).toEqual([{ type: "answerUser", callId: "c4", answer: "With each line" }]);
    const field = question().querySelector("input");
    if (field) field.value = "both";
    press("Answer");
    expect(sent.at(-1)).toEqual({ type: "answerUser", callId: "c4", answer: "both" });
  });

  it("stands in the message that it belongs to, under a name of its own", () => {
    show(live([commandAsked]));
    expect(article("Gemini").contains(question())).toBe(true);
    expect(question().getAttribute("aria-label")).toBe("Gemini asks: Run pytest -q tests && rm -rf build");
  });
});
