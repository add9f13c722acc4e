import { describe, expect, it } from "vitest";
import type { AnswerRow, DividerRow, Row } from "../../../src/panel/contract.js";
import { measure, Announcer } from "../../../webview/shell/announcer.js";
import { commandAsked, commandRow, lookedAt } from "../../panel/toolRows.js";

const settings = { announce: "summary", locale: "en" } as const;
function answer(change: Partial<AnswerRow>): AnswerRow {
  return {
    kind: "answer",
    id: "a:1",
    version: 1,
    turnId: "1",
    model: "m",
    state: "sending",
    text: "",
    thoughts: "",
    tools: [],
    attempt: 1,
    ...change,
  };
}
function divider(change: Partial<DividerRow>): DividerRow {
  return { kind: "divider", id: "c:1", version: 1, compressionId: "1", state: "running", trigger: "manual", ...change };
}
function told(
  rows: readonly Row[],
  how: { readonly announce: "off" | "summary" | "answer"; readonly locale: string } = settings,
): readonly string[] {
  const desk = new Announcer();
  desk.learn([]);
  return rows.flatMap((row) => desk.read([row], how).map(({ text, assertive }) => (assertive ? `! ${text}` : text)));
}

describe("what is told of an answer", () => {
  it("is its start once and its end with its size, never what comes between", () => {
    const text = "Two words.\n\n```py\nx = 1\n```\n";
    const rows = [
      answer({}),
      answer({ state: "thinking" }),
      answer({ state: "streaming", text: "Two" }),
      answer({ state: "streaming", text }),
      answer({ state: "done", text }),
    ];
    expect(told(rows)).toEqual(["Gemini is answering", "Answer finished, 2 words, 1 code block"]);
  });

  it("is the whole answer at its end if that is wanted, and nothing if nothing is", () => {
    const rows = [answer({}), answer({ state: "done", text: "Two words." })];
    expect(told(rows, { announce: "answer", locale: "en" }).at(-1)).toBe("Gemini: Two words.");
    expect(told(rows, { announce: "off", locale: "en" })).toEqual([]);
  });

  it("is an error at once, whatever the setting", () => {
    const error = { kind: "x", message: "It failed.", hint: "Try again.", retryable: true, actions: [] };
    expect(told([answer({}), answer({ state: "failed", error })], { announce: "off", locale: "en" })).toEqual([
      "! It failed. Try again.",
    ]);
  });

  it("is its end too where the page learns of it with a sync, and nothing of what it never showed", () => {
    const announcer = new Announcer();
    announcer.learn([answer({}), answer({ id: "a:0", state: "done", text: "Long ago." })]);
    const rows = [
      answer({ id: "a:0", state: "done", text: "Long ago." }),
      answer({ state: "done", text: "Two words." }),
      divider({ id: "c:0", state: "compressed" }),
    ];
    expect(announcer.catchUp(rows, settings)).toEqual([{ text: "Answer finished, 2 words", assertive: false }]);
    expect(announcer.catchUp(rows, settings)).toEqual([]);
  });

  it("is an interruption once, however often its chat is opened, until the answer has gone on", () => {
    const announcer = new Announcer();
    const error = { kind: "unfinished", message: "It was interrupted.", hint: "", retryable: false, actions: [] };
    // The log comes first, whose finished rounds look like an answer that is done; then that it never was.
    const open = () => {
      announcer.learn([answer({ id: "a:other", state: "done", text: "Another chat." })]);
      announcer.learn([answer({ state: "done", text: "Half." })]);
      return announcer.read([answer({ state: "failed", text: "Half.", error, canGoOn: true })], settings);
    };
    expect(open()).toEqual([{ text: "It was interrupted.", assertive: true }]);
    expect(open()).toEqual([]);
    announcer.learn([answer({ state: "streaming", text: "Half." })]);
    expect(announcer.read([answer({ state: "failed", text: "Half.", error })], settings)).toHaveLength(1);
  });

  it("is the stop, and the question of a tool", () => {
    expect(
      told([
        answer({}),
        answer({ state: "waiting", tools: [commandAsked] }),
        answer({ state: "streaming", tools: [commandAsked] }),
        answer({ state: "stopping", tools: [{ ...commandRow, state: "interrupted" }] }),
        answer({ state: "stopped", tools: [{ ...commandRow, state: "interrupted" }] }),
      ]),
    ).toEqual([
      "Gemini is answering",
      "! Gemini asks: Run pytest -q tests && rm -rf build",
      "Interrupted: Run pytest -q tests && rm -rf build",
      "Stopping",
      "Stopped",
    ]);
  });

  it("is how a tool that changed or ran something ended, and not that one looked", () => {
    const [read] = lookedAt;
    expect(
      told([
        answer({}),
        answer({ state: "working", tools: [{ ...read, state: "running" }, commandRow] }),
        answer({ state: "working", tools: [read, { ...commandRow, state: "running" }] }),
        answer({ state: "working", tools: [read, { ...commandRow, state: "ok", summary: "exit code 0" }] }),
      ]),
    ).toEqual(["Gemini is answering", "Done: Run pytest -q tests && rm -rf build, exit code 0"]);
  });

  it("is nothing for what a sync brought, nor for an old answer that is loaded later", () => {
    const desk = new Announcer();
    desk.learn([answer({ state: "done", text: "old" })]);
    expect(desk.read([answer({ state: "done", text: "old", version: 2 })], settings)).toEqual([]);
    expect(desk.read([answer({ id: "a:0", state: "done", text: "older" })], settings)).toEqual([]);
  });
});

describe("what is told of a compression", () => {
  it("is its start and what came of it", () => {
    const result = {
      status: "COMPRESSED",
      trigger: "manual",
      originalTokenCount: 812_340,
      newTokenCount: 96_120,
      tokenCountSource: "api",
      modelCalls: 1,
      durationMs: 1,
      message: "Done.",
    } as const;
    expect(told([divider({}), divider({ phase: "verifying" }), divider({ state: "compressed", result })])).toEqual([
      "Compressing the chat",
      "Chat compressed to 96,120 tokens",
    ]);
    expect(
      told([
        divider({}),
        divider({ state: "unchanged", result: { ...result, status: "NOOP", message: "Too short." } }),
      ]).at(-1),
    ).toBe("Chat not compressed. Too short.");
    expect(told([divider({}), divider({ state: "cancelled" })]).at(-1)).toBe("Compression cancelled");
    expect(told([divider({ state: "undone" })])).toEqual(["Compression undone"]);
  });

  it("is not the start of one in the background", () => {
    expect(told([divider({ trigger: "background" })])).toEqual([]);
  });
});

describe("the size of an answer", () => {
  it.each([
    ["", 0, 0],
    ["- one, *two* - three", 3, 0],
    ["a\n```\nb c\n```\nd", 2, 1],
    ["~~~~\nx\n~~~\ny\n~~~~\nz", 1, 1],
    ["```py\nopen", 0, 1],
    ["`code` `here`", 2, 0],
  ])("of %j is %i words and %i code blocks", (text, words, codeBlocks) => {
    expect(measure(text)).toEqual({ words, codeBlocks });
  });
});
