/** Messages of the host, checked before anything is made of them. */
import type { PageRequest, PageResults, ToPage } from "../src/panel/contract.js";
import { anything, dictionary, flag, isRecord, list, number, oneOf, record, tagged, text, type Shape } from "./shapes.js";

const action = record({ id: text, label: text }, { argument: text });
const errorFields = { kind: text, message: text, hint: text, retryable: flag, actions: list(action) };
const error = record(errorFields, { retryAt: number });

const base = { id: text, version: number };
const baseOptional = { time: number, hiddenBy: text };
const receipt = record({
  kind: oneOf("full", "delta"),
  files: list(text),
  selectionChars: number,
  withheld: list(record({ name: text, reason: text })),
  mentioned: list(text),
});
const tool = record({ id: text, name: text, title: text, state: text, args: text, output: text }, { durationMs: number });
const usage = record({ promptTokens: number, cachedTokens: number, thoughtTokens: number, outputTokens: number, totalTokens: number });
const row = tagged("kind", {
  prompt: record({ ...base, turnId: text, text }, { ...baseOptional, receipt, outcome: text, pinId: text }),
  answer: record(
    { ...base, turnId: text, model: text, state: text, text, thoughts: text, tools: list(tool), attempt: number },
    { ...baseOptional, thoughtMs: number, usage, durationMs: number, finishReason: text, error, since: number },
  ),
  divider: record(
    { ...base, compactionId: text, state: text, trigger: text },
    { ...baseOptional, phase: text, block: number, blocks: number, startedAt: number, result: record({ status: text, message: text }), hiddenTurns: number, canUndo: flag, rating: number, error },
  ),
  notice: record({ ...base, level: oneOf("info", "warning", "error"), text, actions: list(action) }, baseOptional),
});

const daemon = tagged("kind", {
  starting: record({ detail: text }),
  ready: record({ version: text }),
  lost: record({ attempt: number, retryAt: number }),
  failed: record({ reason: text, error }),
});
const job = tagged("kind", {
  idle: anything,
  turn: record({ id: text }, { stoppingSince: number }),
  compression: record({ id: text }, { stoppingSince: number }),
});
const state = record(
  {
    daemon,
    trusted: flag,
    provider: oneOf("gemini", "offline"),
    providerHint: text,
    job,
    chips: list(record({ uri: text, label: text, detail: text, isActive: flag, included: flag }, { withheld: text })),
    pins: number,
    queue: list(record({ id: text, text })),
    models: record({ current: text, list: list(record({ name: text, tokenLimit: number, description: text })) }, { asked: text }),
    hidden: list(record({ from: number, to: number, compactionId: text, turns: number })),
    canUndo: flag,
    examples: list(text),
    settings: record({
      sendWith: oneOf("enter", "ctrlEnter"),
      messageKeys: flag,
      announce: oneOf("off", "summary", "answer"),
      platform: oneOf("mac", "other"),
      locale: text,
    }),
  },
  {
    session: record({ sessionId: text, title: text }, { heldBy: number }),
    meter: record({ used: number, limit: number, source: oneOf("api", "estimate") }, { compressionAt: number }),
    banner: record({ ...errorFields, level: oneOf("info", "warning", "error") }, { retryAt: number }),
  },
);
const scroll: Shape = (value, path) => (value === "end" ? undefined : record({ rowId: text, offset: number })(value, path));

const command = tagged("do", {
  focusComposer: anything,
  insert: record({ text }, { send: flag }),
  setDraft: record({ text }),
  find: anything,
  openMeter: anything,
  openSessions: anything,
  reveal: record({ rowId: text }),
});

const result: Shape = (value, path) => {
  if (!isRecord(value)) return path;
  return value["ok"] === true ? number(value["call"], `${path}.call`) : record({ call: number, error })(value, path);
};

const message = tagged("type", {
  snapshot: record(
    { state, total: number, from: number, rows: list(row), strings: dictionary(text) },
    { draft: record({ text, scroll }) },
  ),
  state: record({ state }),
  rows: record({ total: number, from: number, rows: list(row) }),
  delta: record({ rowId: text, version: number, field: oneOf("text", "thoughts"), at: number, text }),
  result,
  command: record({ command }),
  announce: record({ text, assertive: flag }),
});

/** A message, or where it is wrong: a path such as `message.state.job`, never a value. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly path: string };

export function decodeToPage(data: unknown): Decoded<ToPage> {
  const path = (isRecord(data) ? number(data["rev"], "message.rev") : "message") ?? message(data, "message");
  // The shapes above are the contract's types, field by field.
  return path === undefined ? { ok: true, value: data as ToPage } : { ok: false, path };
}

const session = record({ sessionId: text, title: text, model: text, createdAt: number, updatedAt: number, turns: number, tokenCount: number }, { heldBy: number });
const pin = record({ pinId: text, text, createdAt: number }, { turnId: text });
const results: { readonly [K in keyof PageResults]: Shape } = {
  rows: record({ from: number, rows: list(row) }),
  files: record({ files: list(record({ path: text, label: text })) }),
  sessions: record({ sessions: list(session) }, { nextCursor: text }),
  context: record({
    tokenCount: number,
    tokenLimit: number,
    free: number,
    threshold: number,
    tokenCountSource: oneOf("api", "estimate"),
    byPart: record({ systemInstruction: number, tools: number, environment: number, memory: number, ideContext: number, snapshot: number, messages: number, toolOutputs: number }),
  }),
  stats: record({ turns: number, calls: number, promptTokens: number, cachedTokens: number, thoughtTokens: number, outputTokens: number, compressions: number, tokensSaved: number }),
  pins: record({ pins: list(pin) }),
  unpin: anything,
  find: record({ matches: list(record({ row: number, rowId: text, start: number, length: number })) }),
  prompts: record({ prompts: list(text) }),
  compactions: record({ compactions: list(record({ compactionId: text, status: text, state: text, time: number })) }),
};

export function decodeResult<D extends PageRequest["do"]>(asked: D, value: unknown): Decoded<PageResults[D]> {
  const path = results[asked](value, asked);
  // As above.
  return path === undefined ? { ok: true, value: value as PageResults[D] } : { ok: false, path };
}
