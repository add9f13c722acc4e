/** A chat of one turn, and the rows that the states of `fixtures` are made of. */
import { outlookedAt, produced } from "./produced.js";
import daemonTexts from "./daemonTexts.json" with { type: "json" };
import type { AnswerRow, DividerRow, PanelState, PromptRow, Row } from "../../src/panel/contract.js";
import type { CompressionResult, Constraint } from "../../src/protocol.gen.js";

/** A Wednesday afternoon; rows have this day's times, so that pictures do not change with the clock. */
export const afternoon = Date.UTC(2026, 2, 11, 13, 2);

export const baseState: PanelState = {
  chat: 1,
  daemon: { kind: "ready", version: "1.0.0" },
  trusted: true,
  isLocal: false,
  providerHint: "",
  session: { sessionId: "s1", title: "Fix the tokenizer" },
  job: { kind: "idle" },
  meter: { used: 412_310, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "auto" },
  chips: [
    {
      uri: "file:///ws/src/tokenizer.py",
      label: "tokenizer.py:80-94",
      detail: "src/tokenizer.py",
      isActive: true,
      included: true,
    },
    { uri: "file:///ws/src/parser.py", label: "parser.py", detail: "src/parser.py", isActive: false, included: true },
  ],
  rules: { inForce: 2, proposed: 0 },
  queue: [],
  work: {
    mode: "ask",
    tasks: [],
    changes: { files: [], added: 0, removed: 0, note: "" },
    questions: 0,
    canSteer: false,
  },
  models: {
    current: "gemini-3-pro",
    list: [
      { name: "gemini-3-pro", tokenLimit: 1_048_576, description: "Strongest at code" },
      { name: "gemini-3-flash", tokenLimit: 1_048_576, description: "Quick answers" },
      { name: "offline", tokenLimit: 32_768, description: "Answers from your files, without a network" },
    ],
  },
  hidden: [],
  canUndo: false,
  examples: produced(outlookedAt("src/tokenizer.py")).examples,
  settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
};

export const prompt: PromptRow = {
  kind: "prompt",
  id: "p:t1",
  version: 1,
  time: afternoon,
  turnId: "t1",
  text: "Why does the tokenizer drop the last line?",
  receipt: {
    kind: "full",
    files: ["src/tokenizer.py", "src/parser.py"],
    selectionChars: 412,
    withheld: [{ name: "secrets.env", reason: daemonTexts.secret }],
    mentioned: [],
  },
};

export const answer: AnswerRow = {
  kind: "answer",
  id: "a:t1",
  version: 1,
  time: afternoon + 9_000,
  turnId: "t1",
  model: "gemini-3-pro",
  state: "done",
  text: [
    "The loop ends **before** `flush()` is called, so whatever is still in the buffer is lost.",
    "",
    "```python",
    "def tokens(self):",
    "    for line in self.lines:",
    "        yield from self.feed(line)",
    "    yield from self.flush()  # the last line",
    "```",
    "",
    "Two things follow from this:",
    "",
    "1. A file *without* a final newline loses its last token.",
    "2. An empty file is not affected.",
  ].join("\n"),
  thoughts: "The buffer is only written when a newline comes. So the end of the file needs a flush of its own.",
  thoughtMs: 6_000,
  tools: [
    {
      id: "c1",
      name: "read_file",
      kind: "read",
      title: "Read src/tokenizer.py",
      state: "ok",
      at: 0,
      args: "",
      output: "class Tokenizer:",
      summary: "220 lines",
      durationMs: 12,
      href: "src/tokenizer.py",
    },
  ],
  usage: {
    promptTokens: 9_870,
    cachedTokens: 4_096,
    thoughtTokens: 210,
    outputTokens: 1_204,
    totalTokens: 11_284,
  },
  durationMs: 9_000,
  finishReason: "STOP",
  attempt: 1,
};

export const nextPrompt: PromptRow = {
  kind: "prompt",
  id: "p:t2",
  version: 1,
  time: afternoon + 60_000,
  turnId: "t2",
  text: "Write a test that fails without the fix.",
};
export const nextAnswer: AnswerRow = {
  kind: "answer",
  id: "a:t2",
  version: 1,
  turnId: "t2",
  model: "gemini-3-pro",
  state: "streaming",
  text: 'Here is a test that fails today, since the last token never comes:\n\n```python\ndef test_last_line_without_newline():\n    assert list(Tokenizer("a\\nb").tokens())',
  thoughts: "",
  tools: [],
  attempt: 1,
};
export const turn = { kind: "turn", id: "t2" } as const;

export const retention: NonNullable<CompressionResult["retention"]> = {
  score: 0.94,
  facts: 50,
  kept: 47,
  repaired: 0,
  missing: [
    { kind: "directive", text: "Run make lint before a commit." },
    { kind: "path", text: "tests/data/empty.txt" },
    { kind: "path", text: "tests/data/crlf.txt" },
  ],
  appended: 2,
  unsupported: [{ kind: "path", text: "src/lexer.py" }],
};

export const result: CompressionResult = {
  status: "COMPRESSED",
  trigger: "manual",
  originalTokenCount: 812_340,
  newTokenCount: 96_120,
  tokenCountSource: "api",
  modelCalls: 3,
  durationMs: 14_200,
  message: daemonTexts.compressed,
  compressionId: "k1",
  snapshot: "<state_snapshot>…</state_snapshot>",
  retention,
  appendix: "Rules\n- Never change the public names of the tokenizer.\nFiles\n- src/tokenizer.py",
  strategy: "split",
};
export const divider: DividerRow = {
  kind: "divider",
  id: "c:k1",
  version: 1,
  time: afternoon + 30_000,
  compressionId: "k1",
  state: "compressed",
  trigger: "manual",
  result,
  hiddenTurns: 38,
  canUndo: true,
};

export const rule: Constraint = {
  constraintId: "n3",
  text: "never touch generated/",
  scope: "session",
  state: "inForce",
  createdAt: afternoon,
  turnId: "t1",
  source: "prompt",
};
export const ruledPrompt: PromptRow = {
  ...prompt,
  text: "Never touch generated/. Why does the tokenizer drop the last line?",
};

export const done: readonly Row[] = [prompt, answer];
