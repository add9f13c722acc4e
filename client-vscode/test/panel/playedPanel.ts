/** The panel's page with a host that plays one of the fixtures and answers each prompt with some Markdown. */
import type { FromPage, PageRequest, Row, ToPage, Unnumbered } from "../../src/panel/contract.js";
import { answers } from "./answers.js";
import { baseState } from "./chatRows.js";
import { fixtures, type FixtureName } from "./fixtures.js";

const ANSWER = `The loop ends before \`flush()\`, so **the last line** is dropped.

| step | what happens |
| --- | --- |
| 1 | the buffer is read |
| 2 | the rest is forgotten |

\`\`\`python
def flush(self) -> None:
    self._emit(self._rest)
\`\`\`
`;

const chosen = new URLSearchParams(location.search);
document.documentElement.dataset["theme"] = chosen.get("theme") ?? "dark";
document.body.className = chosen.get("theme") === "high-contrast" ? "vscode-high-contrast" : "";
const isFixture = (name: string): name is FixtureName => Object.hasOwn(fixtures, name);
const name = chosen.get("state") ?? "idle";
const messages: readonly ToPage[] = isFixture(name) ? fixtures[name] : fixtures.idle;

let rev = 0;
let total = 0;
let turns = 0;

function post(message: Unnumbered): void {
  if (message.type === "sync" || message.type === "rows") total = message.total;
  rev += 1;
  window.postMessage({ ...message, rev }, location.origin);
}

function receive(message: FromPage): void {
  if (message.type === "ready") for (const fixture of messages) post(fixture);
  else if (message.type === "call")
    post({ type: "result", call: message.call, ok: true, value: answerTo(message.request) });
  else if (message.type === "send") void answer(message.text);
}

function answerTo(request: PageRequest): unknown {
  return request.do === "rows" ? { from: request.from, rows: [] } : answers[request.do];
}

/** A prompt and its answer, which streams. */
async function answer(text: string): Promise<void> {
  const turnId = `played-${(turns += 1)}`;
  const time = Date.now();
  const answering = {
    kind: "answer",
    id: `a:${turnId}`,
    turnId,
    model: "gemini-3-pro",
    time,
    tools: [],
    attempt: 1,
  } as const;
  const rows: Row[] = [
    { kind: "prompt", id: `p:${turnId}`, version: 1, turnId, text, time },
    { ...answering, version: 1, state: "streaming", text: "", thoughts: "" },
  ];
  const at = total;
  post({ type: "rows", total: at + 2, from: at, rows });
  post({ type: "state", state: { ...baseState, job: { kind: "turn", id: turnId } } });
  let shown = "";
  for (const [index, piece] of (ANSWER.match(/\S+\s*/g) ?? []).entries()) {
    post({ type: "delta", rowId: `a:${turnId}`, version: index + 2, field: "text", at: shown.length, text: piece });
    shown += piece;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  post({
    type: "rows",
    total: at + 2,
    from: at + 1,
    rows: [{ ...answering, version: 1_000, state: "done", text: shown, thoughts: "" }],
  });
  post({ type: "state", state: baseState });
}

Object.assign(window, {
  acquireVsCodeApi: () => ({ postMessage: receive, getState: () => undefined, setState: () => undefined }),
});
void import("../../webview/main.js");
