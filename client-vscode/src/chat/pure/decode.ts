/** What the page posts, decoded. The page shows what a model wrote, so it is not trusted: whatever is not exactly a known message is dropped. */
import type { Action, ActionId, FromPage, PageRequest, ScrollAnchor } from "../../panel/contract.js";

type Raw = Readonly<Record<string, unknown>>;
type Fields<T> = { readonly [K in keyof T]-?: (value: unknown) => boolean };

/** Longest text that a message may carry, characters: a prompt, or a code block. */
export const LONGEST_TEXT = 4_000_000;

const text = (value: unknown): value is string => typeof value === "string" && value.length <= LONGEST_TEXT;
const word = (value: unknown): value is string => typeof value === "string" && value.length <= 4_096;
const flag = (value: unknown): value is boolean => typeof value === "boolean";
const index = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const optional =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || test(value);
const oneOf =
  <T extends string>(...words: readonly T[]) =>
  (value: unknown): value is T =>
    words.some((known) => known === value);
const listOf =
  (test: (value: unknown) => boolean, most: number) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length <= most && value.every(test);

function shaped<T>(raw: Raw, fields: Fields<T>): boolean {
  return Object.entries<(value: unknown) => boolean>(fields).every(([name, test]) => test(raw[name]));
}

function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const ACTIONS: Readonly<Record<ActionId, true>> = {
  setApiKey: true,
  retry: true,
  compress: true,
  openSettingsFile: true,
  openSettings: true,
  manageTrust: true,
  restartDaemon: true,
  showLog: true,
  choosePython: true,
  forkSession: true,
  takeOver: true,
  newSession: true,
  useOffline: true,
  installUpdate: true,
  reloadWindow: true,
  openWalkthrough: true,
  continueAnyway: true,
};

function isAction(value: unknown): value is Action {
  return isRaw(value) && typeof value["id"] === "string" && Object.hasOwn(ACTIONS, value["id"]) && optional(word)(value["argument"]);
}

function isAnchor(value: unknown): value is ScrollAnchor {
  return value === "end" || (isRaw(value) && word(value["rowId"]) && typeof value["offset"] === "number" && Number.isFinite(value["offset"]));
}

const REQUESTS: { readonly [D in PageRequest["do"]]: Fields<Omit<Extract<PageRequest, { do: D }>, "do">> } = {
  rows: { from: index, to: index },
  files: { query: word },
  sessions: { query: word, cursor: optional(word) },
  context: {},
  stats: {},
  pins: {},
  unpin: { pinId: word },
  find: { query: word, caseSensitive: flag },
  prompts: {},
  compactions: {},
};

function isRequest(value: unknown): value is PageRequest {
  if (!isRaw(value) || typeof value["do"] !== "string" || !Object.hasOwn(REQUESTS, value["do"])) return false;
  return shaped(value, REQUESTS[value["do"] as PageRequest["do"]]); // `hasOwn` has just tested the name
}

const MESSAGES: { readonly [T in FromPage["type"]]: Fields<Omit<Extract<FromPage, { type: T }>, "type">> } = {
  ready: { boot: flag },
  draft: { text, scroll: isAnchor },
  focus: { focused: flag },
  send: { text, now: optional(flag) },
  stop: {},
  action: { action: isAction },
  chip: { uri: word, included: flag },
  queue: { do: oneOf("edit", "sendNow", "remove"), id: word, text: optional(text) },
  model: { name: word },
  code: { do: oneOf("copy", "insert", "apply"), text, language: word },
  copy: { text },
  open: { href: word },
  turn: { do: oneOf("retry", "fork", "pin", "unpin", "copy"), turnId: word },
  compaction: {
    do: oneOf("view", "compare", "edit", "apply", "discard", "undo", "cancel", "rate"),
    compactionId: word,
    rating: optional((value) => index(value) && value >= 1 && value <= 5),
  },
  compress: { preview: flag, guided: flag },
  chat: { do: oneOf("new", "openAsMarkdown", "export", "rename", "delete"), sessionId: optional(word) },
  openSession: { sessionId: word },
  drop: { uris: listOf(word, 100) },
  call: { call: index, request: isRequest },
  defect: { message: word },
};

/** The message, or `undefined` for anything else. Never throws. */
export function decodeFromPage(value: unknown): FromPage | undefined {
  if (!isRaw(value) || typeof value["type"] !== "string" || !Object.hasOwn(MESSAGES, value["type"])) return undefined;
  const fields = MESSAGES[value["type"] as FromPage["type"]]; // `hasOwn` has just tested the name
  return shaped(value, fields) ? (value as unknown as FromPage) : undefined; // every field was tested
}
