/** What `behaviour.mjs` drives: a transcript of 1,000 messages of which the newest 200 are here. */
import type { ScrollAnchor } from "../../src/panel/contract.js";
import { Transcript } from "../../webview/transcript/transcript.js";
import { answerRow, conversation, markdown, panelState, promptRow } from "./rows.js";

const TOTAL = 1_000;
const root = document.querySelector<HTMLElement>("#root") ?? document.body;
const rows = conversation(TOTAL / 2, 600);
const loads: [number, number][] = [];
let transcript: Transcript;
let version = 1;

function open(anchor?: ScrollAnchor): void {
  transcript = new Transcript(root, {
    send: () => undefined,
    announce: () => undefined,
    thumbnail: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(true),
    t: (text, ...args) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)])),
    loadRows: (from, to) => {
      loads.push([from, to]);
      setTimeout(() => transcript.setRows(rows.length, from, rows.slice(from, to + 1)), 20);
    },
  });
  transcript.setState(panelState());
  const from = rows.length - 200;
  transcript.reset(rows.length, from, rows.slice(from), anchor);
}

function box(posinset: number): { readonly top: number; readonly bottom: number } | undefined {
  const found = root.querySelector(`article[aria-posinset="${posinset}"]`)?.getBoundingClientRect();
  return found && { top: found.top, bottom: found.bottom };
}

/** The first message of which something is in sight, and where its top is. */
function inSight(): { readonly posinset: number; readonly top: number } {
  const all = [...root.querySelectorAll("article")].map((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return { posinset: Number(one.getAttribute("aria-posinset")), top, bottom };
  });
  const first = all
    .filter(({ bottom, top }) => bottom > 1 && top < root.clientHeight)
    .toSorted((one, other) => one.top - other.top)[0];
  return { posinset: first?.posinset ?? 0, top: first?.top ?? 0 };
}

/** Appends an answer, and text to it. */
function stream(text: string): boolean {
  let row = rows.at(-1);
  if (row?.kind !== "answer" || row.state !== "streaming") {
    row = answerRow(rows.length, "", "streaming");
    rows.push(row);
    transcript.setRows(rows.length, rows.length - 1, [row]);
  }
  const at = row.text.length;
  rows[rows.length - 1] = { ...row, text: row.text + text };
  return transcript.appendDelta({ rowId: row.id, version: ++version, field: "text", at, text });
}

function send(text: string): void {
  transcript.promptSent();
  const row = promptRow(rows.length, text);
  rows.push(row);
  transcript.setRows(rows.length, rows.length - 1, [row]);
}

function finish(): void {
  const row = rows.at(-1);
  if (row?.kind !== "answer") return;
  rows[rows.length - 1] = { ...row, state: "done", version: ++version };
  transcript.setRows(rows.length, rows.length - 1, rows.slice(-1));
}

function find(row: number, words: string): boolean {
  const found = rows[row];
  if (found === undefined || found.kind === "divider") return false;
  const start = found.text.toLowerCase().indexOf(words);
  const match = { row, rowId: found.id, start, length: words.length };
  transcript.highlightMatches([match]);
  transcript.revealMatch(match);
  return start >= 0;
}

function markedBox(): { readonly text: string; readonly top: number; readonly bottom: number } | undefined {
  for (const range of CSS.highlights.get("transcript-match-current") ?? []) {
    if (!(range instanceof Range)) continue;
    const { top, bottom } = range.getBoundingClientRect();
    return { text: range.toString(), top, bottom };
  }
  return undefined;
}

open();
Object.assign(window, {
  tests: {
    open,
    box,
    inSight,
    stream,
    send,
    finish,
    find,
    markedBox,
    loads,
    markdown,
    dispose: () => transcript.dispose(),
    anchor: () => transcript.anchor(),
    focusNewest: () => transcript.focusNewest(),
    total: () => rows.length,
    fromEnd: () => transcript.feed.scrollHeight - transcript.feed.clientHeight - transcript.feed.scrollTop,
    scrollTo: (share: number) => (transcript.feed.scrollTop = transcript.feed.scrollHeight * share),
  },
});
