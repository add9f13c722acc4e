/** What `panel.mjs` drives: the whole panel, with a host that does nothing by itself. */
import type { FromPage, PanelState, Row, ToolRow, ToPage, Unnumbered } from "../../src/panel/contract.js";
import type { Picture } from "../../src/panel/pictures.js";
import { CHANGED, TASKS, commandAsked, commandRow, editAsked, lookedAt, personAsked } from "../panel/toolRows.js";
import { answerRow, conversation, panelState } from "./rows.js";
import { answers } from "../panel/answers.js";
import { longPrompt } from "./heavyRows.js";
import { painted } from "./measuring.js";

const sent: FromPage[] = [];
let rows: Row[] = [];
let state = panelState();
let rev = 0;
let version = 1;

function post(message: Unnumbered): void {
  const numbered: ToPage = { ...message, rev: (rev += 1) };
  window.postMessage(numbered, location.origin);
}

function receive(message: FromPage): void {
  sent.push(message);
  if (message.type === "ready") {
    sync();
    Object.assign(window, { tests });
  }
  if (message.type === "call") post({ type: "result", call: message.call, ok: true, value: answerTo(message) });
}

function answerTo({ request }: Extract<FromPage, { readonly type: "call" }>): unknown {
  if (request.do === "rows") return { from: request.from, rows: rows.slice(request.from, request.to + 1) };
  if (request.do === "stats" || request.do === "picture" || request.do === "addPicture") return answers[request.do];
  return request.do === "find" ? { matches: matchesOf(request.query) } : {};
}

function matchesOf(query: string): unknown[] {
  return rows.flatMap((row, index) => {
    const start = row.kind === "divider" ? -1 : row.text.indexOf(query);
    return start === -1 ? [] : [{ row: index, rowId: row.id, start, length: query.length }];
  });
}

function sync(): void {
  post({ type: "sync", state, total: rows.length, from: 0, rows, strings: {} });
}

function show(shown: readonly Row[], change: Partial<PanelState> = {}): void {
  rows = [...shown];
  state = panelState(change);
  sync();
}

function change(changed: Partial<PanelState>): void {
  state = { ...state, ...changed };
  post({ type: "state", state });
}

function add(...added: readonly Row[]): void {
  const from = rows.length;
  rows.push(...added);
  post({ type: "rows", total: rows.length, from, rows: added });
}

/** Appends text to the newest answer, which is made if it does not stream yet. */
function stream(text: string): void {
  let row = rows.at(-1);
  if (row?.kind !== "answer" || row.state !== "streaming") {
    row = answerRow(rows.length, "", "streaming");
    add(row);
    change({ job: { kind: "turn", id: row.turnId } });
  }
  const at = row.text.length;
  rows[rows.length - 1] = { ...row, text: row.text + text };
  post({ type: "delta", rowId: row.id, version: (version += 1), field: "text", at, text });
}

/** The newest answer has these calls of tools. */
function callTools(...tools: readonly ToolRow[]): void {
  const at = rows.length - 1;
  const row = rows[at];
  if (row?.kind !== "answer") throw new Error("No answer to call tools.");
  const changed = { ...row, tools, state: "waiting", version: (version += 1) } as const;
  rows[at] = changed;
  post({ type: "rows", total: rows.length, from: at, rows: [changed] });
}

/** A running tool of the newest answer puts more out. */
function putOut(callId: string, output: string): void {
  const row = rows.at(-1);
  if (row !== undefined) post({ type: "output", rowId: row.id, version: (version += 1), callId, output });
}

/** A text area like the composer's, but nobody listens to it. */
function bareArea(): void {
  const area = document.createElement("textarea");
  area.id = "bare";
  area.style.cssText = "position: fixed; inset: 0 0 auto; block-size: 40vh";
  document.body.append(area);
}

/** Resolves when what was done has been painted, and what it put off to later frames too. */
async function idle(): Promise<void> {
  for (let frame = 0; frame < 20; frame++) await painted();
}

const feed = (): Element => document.querySelector("[role=feed]") ?? document.body;

/** In the window as soon as the page takes messages. */
const tests = {
  sent,
  show,
  change,
  add,
  stream,
  conversation,
  /** Two prompts that have the same pictures. */
  withPictures: (pictures: readonly Picture[]) =>
    conversation(2, 100).map((row) => (row.kind === "prompt" ? { ...row, pictures, version: (version += 1) } : row)),
  /** Puts it into the clipboard, and returns it. */
  copyLongPrompt: async () => {
    await navigator.clipboard.writeText(longPrompt());
    return longPrompt();
  },
  bareArea,
  idle,
  callTools,
  putOut,
  tools: { CHANGED, TASKS, commandAsked, commandRow, editAsked, lookedAt, personAsked },
  command: (command: Extract<ToPage, { readonly type: "command" }>["command"]) => post({ type: "command", command }),
  fromEnd: () => feed().scrollHeight - feed().clientHeight - feed().scrollTop,
};

Object.assign(window, {
  acquireVsCodeApi: () => ({ postMessage: receive, getState: () => undefined, setState: () => undefined }),
});
void import("../../webview/main.js");
