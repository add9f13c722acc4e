/** A transcript in a page, made anew for every test of the file that imports this. */
import { beforeEach, vi } from "vitest";
import type { DividerRow, FromPage, Row } from "../../../src/panel/contract.js";
import { Transcript } from "../../../webview/transcript/transcript.js";
import { panelState } from "../../browser/rows.js";
import { t } from "./support.js";

export let root: HTMLElement;
export let sent: FromPage[];
export let asked: [number, number][];
export let announced: string[];
let confirmed: boolean;
export let transcript: Transcript;

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(new Date(2026, 4, 3, 14, 2));
  root = document.createElement("div");
  document.body.replaceChildren(root);
  sent = [];
  asked = [];
  announced = [];
  confirmed = true;
  transcript = new Transcript(root, {
    send: (message) => sent.push(message),
    loadRows: (from, to) => asked.push([from, to]),
    announce: (text) => announced.push(text),
    thumbnail: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(confirmed),
    t,
  });
  transcript.setState(panelState());
  return () => {
    transcript.dispose();
    vi.useRealTimers();
  };
});

export function show(...rows: readonly Row[]): void {
  transcript.reset(rows.length, 0, rows);
}

export function article(name: string | RegExp): HTMLElement {
  const found = [...root.querySelectorAll<HTMLElement>("article")].find((one) => {
    const heading = document.getElementById(one.getAttribute("aria-labelledby") ?? "");
    return typeof name === "string" ? heading?.textContent === name : name.test(heading?.textContent ?? "");
  });
  if (found === undefined) throw new Error(`no article ${String(name)}`);
  return found;
}

export function press(label: string, inside: ParentNode = root): void {
  const found = [...inside.querySelectorAll<HTMLElement>("button")].find(
    (one) => one.textContent === label && one.closest("[hidden]") === null,
  );
  if (found === undefined) throw new Error(`no button ${label}`);
  found.click();
}

export function type(key: string, held: KeyboardEventInit = {}): void {
  document.activeElement?.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held }),
  );
}

export const result = {
  status: "COMPRESSED",
  trigger: "manual",
  originalTokenCount: 812_340,
  newTokenCount: 96_120,
  tokenCountSource: "api",
  modelCalls: 2,
  durationMs: 9_000,
  message: "",
  retention: {
    score: 0.94,
    facts: 50,
    kept: 47,
    repaired: 0,
    missing: [{ kind: "directive", text: "Run make lint before a commit." }],
    appended: 0,
    unsupported: [],
  },
} as const;

export function divider(change: Partial<DividerRow> = {}): DividerRow {
  return {
    kind: "divider",
    id: "c:1",
    version: 1,
    compressionId: "1",
    state: "compressed",
    trigger: "manual",
    result,
    hiddenTurns: 2,
    canUndo: true,
    ...change,
  };
}

/** What the host answers to a question from now on. */
export function answerQuestions(yes: boolean): void {
  confirmed = yes;
}
