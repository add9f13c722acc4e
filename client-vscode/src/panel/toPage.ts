/** What the host posts to the page, and the answers to the page's questions. */
import * as v from "valibot";
import {
  compressionList,
  constraint,
  constraintList,
  contextReport,
  keptReport,
  mcpList,
  mcpLog,
  memoryAdded,
  memoryList,
  promptCheck,
  recallResult,
  ruleList,
  sessionInfo,
  sessionList,
  skillList,
  slashCommandList,
  stats,
  verdict,
} from "../protocol.schemas.gen.js";
import type { PageRequest } from "./fromPage.js";
import { errorSchema, rowSchema } from "./rows.js";
import type { Of } from "./schema.js";
import { scrollSchema, stateSchema } from "./state.js";
import { pictureSchema } from "./pictures.js";
import { enclosedEntries } from "./written.js";

const commandSchema = v.variant("do", [
  v.object({ do: v.literal("focusComposer") }),
  /** Text at the caret of the composer; with `send` what stands there then is sent at once. */
  v.object({ do: v.literal("insert"), text: v.string(), send: v.exactOptional(v.boolean()) }),
  /**
   * A text for the composer. That of another draft, by its number, takes the place of what stands there: another chat is shown. Else it
   * comes back to the chat that is shown, and what was written there meanwhile stays.
   */
  v.object({
    do: v.literal("setDraft"),
    draft: v.number(),
    text: v.string(),
    ...enclosedEntries,
  }),
  v.object({ do: v.literal("find") }),
  v.object({ do: v.literal("openMeter") }),
  /** With a query, everything ever said is searched for it. */
  v.object({ do: v.literal("openSessions"), query: v.exactOptional(v.string()) }),
  v.object({ do: v.literal("openRules") }),
  /** Without an id of the newest compression in force. */
  v.object({ do: v.literal("openKept"), compressionId: v.exactOptional(v.string()) }),
  v.object({ do: v.literal("openMemory") }),
  v.object({ do: v.literal("openStatistics") }),
  v.object({ do: v.literal("openSkills") }),
  v.object({ do: v.literal("openServers") }),
  v.object({ do: v.literal("openMode") }),
  v.object({ do: v.literal("openToolRules") }),
  /** The focus goes to what waits for an answer, oldest first; `row` is the index of its row. */
  v.object({ do: v.literal("toQuestion"), row: v.number(), callId: v.string() }),
  /** A place in the text of a row, by the row's index; the whole row if `length` is 0. */
  v.object({ do: v.literal("showPlace"), row: v.number(), rowId: v.string(), start: v.number(), length: v.number() }),
  /** What a person asked for stands in a row: that comes into sight, and the focus stays where it is. */
  v.object({ do: v.literal("showRow"), row: v.number(), rowId: v.string() }),
]);

/** A command of the palette or a key wants something of the page. */
export type PageCommand = Of<typeof commandSchema>;

const post = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
  v.object({ type: v.literal(type), rev: v.number(), ...entries });

const toPageSchema = v.variant("type", [
  /** Everything: after `ready`, after the view showed again, after another session was opened. */
  post("sync", {
    state: stateSchema,
    total: v.number(),
    /** The newest rows (up to 200), beginning at index `from`. */
    from: v.number(),
    rows: v.array(rowSchema),
    /** Only in the answer to a booting page's `ready`; a page that is alive keeps its own. */
    draft: v.exactOptional(
      v.object({
        draft: v.number(),
        text: v.string(),
        scroll: scrollSchema,
        ...enclosedEntries,
      }),
    ),
    /** Strings of the interface in the person's language, by their English text; empty for English. */
    strings: v.record(v.string(), v.string()),
  }),
  post("state", { state: stateSchema }),
  /** Rows changed or were added; `total` is the new number of rows. */
  post("rows", { total: v.number(), from: v.number(), rows: v.array(rowSchema) }),
  /** Text is appended to an answer; `at` is the length that the page must have there (else it asks for the row again). `version` is the row's new one. */
  post("delta", {
    rowId: v.string(),
    version: v.number(),
    field: v.picklist(["text", "thoughts"]),
    at: v.number(),
    text: v.string(),
  }),
  /** The output of a running tool, as much of it as is shown. */
  post("output", { rowId: v.string(), version: v.number(), callId: v.string(), output: v.string() }),
  /** The answer to a `call`. */
  post("result", { call: v.number(), ok: v.literal(true), value: v.unknown() }),
  post("result", { call: v.number(), ok: v.literal(false), error: errorSchema }),
  post("command", { command: commandSchema }),
  /** To be read out by a screen reader at once. */
  post("announce", { text: v.string(), assertive: v.boolean() }),
]);

export type ToPage = Of<typeof toPageSchema>;

/** A message of the host before it gets its number. */
export type Unnumbered<M = ToPage> = M extends unknown ? Omit<M, "rev"> : never;

const resultSchemas = {
  rows: v.object({ from: v.number(), rows: v.array(rowSchema) }),
  files: v.object({ files: v.array(v.object({ path: v.string(), label: v.string() })) }),
  check: promptCheck,
  sessions: sessionList,
  keep: sessionInfo,
  context: contextReport,
  stats,
  rules: constraintList,
  setRule: constraint,
  kept: keptReport,
  keepStatement: v.null(),
  toolRules: ruleList,
  revokeToolRule: ruleList,
  commands: slashCommandList,
  skills: skillList,
  enableSkill: skillList,
  memory: memoryList,
  addMemory: memoryAdded,
  servers: mcpList,
  serverAction: mcpList,
  serverLog: mcpLog,
  recall: recallResult,
  verdict: v.nullable(verdict),
  /** Offsets into the row's text; at most 1,000. `row` is its index. */
  find: v.object({
    matches: v.array(v.object({ row: v.number(), rowId: v.string(), start: v.number(), length: v.number() })),
  }),
  prompts: v.object({ prompts: v.array(v.object({ text: v.string(), ...enclosedEntries })) }),
  compressions: compressionList,
  addPicture: pictureSchema,
  /** In base64; `null` where it is not kept any more. */
  picture: v.object({ type: v.string(), data: v.nullable(v.string()) }),
} as const satisfies Readonly<Record<PageRequest["do"], v.GenericSchema>>;

export type PageResults = { readonly [D in PageRequest["do"]]: Of<(typeof resultSchemas)[D]> };

type ResultSchemas = { readonly [D in PageRequest["do"]]: v.GenericSchema<unknown, PageResults[D]> };
const RESULTS: ResultSchemas = resultSchemas;

/** A message, or where it is wrong: a path such as `message.state.job`, never a value. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly path: string };

/** Checks a message of the host before anything is made of it. */
export function decodeToPage(data: unknown): Decoded<ToPage> {
  return decode(toPageSchema, data, "message");
}

/** Checks the answer to a question. */
export function decodeResult<D extends PageRequest["do"]>(asked: D, value: unknown): Decoded<PageResults[D]> {
  return decode(RESULTS[asked], value, asked);
}

function decode<T>(schema: v.GenericSchema<unknown, T>, value: unknown, name: string): Decoded<T> {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return { ok: true, value: parsed.output };
  const path = v.getDotPath(parsed.issues[0]);
  return { ok: false, path: path === null ? name : `${name}.${path}` };
}
