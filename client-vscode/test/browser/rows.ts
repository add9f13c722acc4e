/** Conversations for the pages of the tests. The same every time: numbers come from a generator with a seed. */
import type { AnswerRow, PanelState, PromptRow, Row } from "../../src/panel/contract.js";

const WORDS =
  "the loop ends before flush is called so the last token stays in the buffer while parser and writer wait for each other in a queue that nobody reads".split(
    " ",
  );

/** Numbers from 0 to 1, the same ones for the same seed. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x1_0000_0000;
  };
}

/** Markdown of about `size` characters with everything that answers have. */
export function markdown(size: number, seed: number): string {
  const next = numbers(seed);
  const words = (count: number): string =>
    Array.from({ length: count }, () => WORDS[Math.floor(next() * WORDS.length)] ?? "").join(" ");
  const blocks = [
    () =>
      `${words(12)} **${words(2)}** ${words(20)} \`${words(1)}\` ${words(14)} [${words(2)}](https://example.org/${words(1)}).`,
    () => `## ${words(4)}`,
    () => Array.from({ length: 5 }, () => `- ${words(9)}`).join("\n"),
    () => `1. ${words(6)}\n2. ${words(6)}\n   - ${words(5)}`,
    () =>
      `\`\`\`python\ndef ${words(1)}(${words(1)}):\n${Array.from({ length: 12 }, () => `    ${words(1)} = "${words(3)}"  # ${words(3)}`).join("\n")}\n\`\`\``,
    () =>
      `| ${words(1)} | ${words(1)} |\n| --- | ---: |\n${Array.from({ length: 4 }, () => `| ${words(2)} | ${Math.floor(next() * 999)} |`).join("\n")}`,
    () => `> ${words(18)}`,
  ];
  let text = "";
  while (text.length < size) text += `${blocks[Math.floor(next() * blocks.length)]?.() ?? ""}\n\n`;
  return text.slice(0, size);
}

export function promptRow(turn: number, text: string): PromptRow {
  return { kind: "prompt", id: `p:t${turn}`, version: 1, turnId: `t${turn}`, text };
}

export function answerRow(turn: number, text: string, state: AnswerRow["state"] = "done"): AnswerRow {
  return {
    kind: "answer",
    id: `a:t${turn}`,
    version: 1,
    turnId: `t${turn}`,
    model: "gemini-3-pro",
    state,
    text,
    thoughts: "",
    tools: [],
    attempt: 1,
  };
}

/** `turns` prompts with their answers of about `size` characters. */
export function conversation(turns: number, size: number): Row[] {
  return Array.from({ length: turns }, (_, turn) => [
    promptRow(turn, `Question ${turn}: why is that?`),
    answerRow(turn, markdown(size, turn + 1)),
  ]).flat();
}

export function panelState(change: Partial<PanelState> = {}): PanelState {
  return {
    chat: 1,
    daemon: { kind: "ready", version: "1" },
    trusted: true,
    isLocal: false,
    providerHint: "",
    session: { sessionId: "s", title: "Test" },
    job: { kind: "idle" },
    chips: [],
    rules: { inForce: 0, proposed: 0 },
    queue: [],
    work: {
      mode: "ask",
      tasks: [],
      changes: { files: [], added: 0, removed: 0, note: "" },
      questions: 0,
      canSteer: false,
    },
    models: { current: "gemini-3-pro", list: [] },
    hidden: [],
    canUndo: false,
    examples: [],
    settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
    ...change,
  };
}
