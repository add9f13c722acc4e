/** Everything that the panel shows around the transcript. */
import * as v from "valibot";
import { modelInfo } from "../protocol.schemas.gen.js";
import { errorSchema } from "./rows.js";
import { nameIn, type Of } from "./schema.js";
import { NOTICE_LEVELS } from "./statuses.js";
import { workSchema } from "./tools.js";
import { enclosedEntries } from "./written.js";

const daemonSchema = v.variant("kind", [
  v.object({ kind: v.literal("starting"), detail: v.string() }),
  v.object({ kind: v.literal("ready"), version: v.string() }),
  v.object({ kind: v.literal("lost"), attempt: v.number(), retryAt: v.number() }),
  v.object({
    kind: v.literal("failed"),
    reason: v.picklist(["noPython", "notFound", "versionMismatch", "crashed", "environment"]),
    error: errorSchema,
  }),
]);

/** Where the daemon is. */
export type DaemonView = Of<typeof daemonSchema>;

const chipSchema = v.object({
  uri: v.string(),
  /** `tokenizer.py:80-94` for a selection, else the name. */
  label: v.string(),
  /** The path inside the workspace. */
  detail: v.string(),
  isActive: v.boolean(),
  /** False if the person took it out. */
  included: v.boolean(),
  /** How much of it goes along, such as `lines 1–358 of 500`; absent until the daemon has said it. */
  sends: v.exactOptional(v.string()),
  /** Why it is not more, and what was masked. */
  note: v.exactOptional(v.string()),
  /** Why the daemon withholds it, if it does. */
  withheld: v.exactOptional(v.string()),
});

/** An open file as the next prompt would take it along. */
export type Chip = Of<typeof chipSchema>;

const queuedPromptSchema = v.object({ id: v.string(), text: v.string(), ...enclosedEntries });

export type QueuedPrompt = Of<typeof queuedPromptSchema>;

const hiddenRunSchema = v.object({ from: v.number(), to: v.number(), compressionId: v.string(), turns: v.number() });

/** A run of rows that a compression hides; `from` to `to`, both included, are row indexes. */
export type HiddenRun = Of<typeof hiddenRunSchema>;

const meterSchema = v.object({
  used: v.number(),
  limit: v.number(),
  source: v.picklist(["api", "estimate"]),
  /** Tokens at which compression starts by itself; absent while that is off. */
  compressionAt: v.exactOptional(v.number()),
  /** What happens there: it starts by itself, or the chat says that it is due. */
  mode: v.picklist(["auto", "remind", "off"]),
  /** A compression is made beside the chat, or is ready and takes effect at `compressionAt`. */
  background: v.exactOptional(v.picklist(["preparing", "prepared"])),
  /** Tokens that the prepared one frees. */
  saves: v.exactOptional(v.number()),
});

export type MeterView = Of<typeof meterSchema>;

const otherChatSchema = v.object({
  sessionId: v.string(),
  /** `idle`: nothing but prompts that wait until somebody comes back. */
  state: v.picklist(["running", "waiting", "answered", "failed", "idle"]),
  queued: v.number(),
});

/** A chat that was left, and in which something runs, waits, or was not seen yet. */
export type OtherChat = Of<typeof otherChatSchema>;

const settingsSchema = v.object({
  sendWith: v.picklist(["enter", "ctrlEnter"]),
  /** Single letters act on a focused message (WCAG 2.1.4: can be turned off). */
  messageKeys: v.boolean(),
  announce: v.picklist(["off", "summary", "answer"]),
  /** `mac` shows ⌘ in hints. */
  platform: v.picklist(["mac", "other"]),
  /** BCP 47, for numbers and times. */
  locale: v.string(),
});

export type PanelSettings = Of<typeof settingsSchema>;

const jobFields = { id: v.string(), stoppingSince: v.exactOptional(v.number()) };

export const stateSchema = v.object({
  /** Which chat is shown: another number with every chat that takes the place of one. */
  chat: v.number(),
  others: v.exactOptional(v.array(otherChatSchema)),
  /** Another chat is being opened, and takes the place of the one that is shown; its title is empty where it is not known. */
  coming: v.exactOptional(v.object({ title: v.string() })),
  daemon: daemonSchema,
  trusted: v.boolean(),
  /** What answers runs on this machine, without a network: the built-in model, or one of the person's own. */
  isLocal: v.boolean(),
  /** The name of the person's own model, if that is what answers. */
  localModel: v.exactOptional(v.string()),
  /** Why this model answers, and what to do to change it; empty if there is nothing to say. */
  providerHint: v.string(),
  /** Settings files that cannot be read now; what each last held stays in force, or everything is asked about. */
  unread: v.exactOptional(v.array(v.string())),
  session: v.exactOptional(
    v.object({
      sessionId: v.string(),
      title: v.string(),
      /** Another process holds it: it can be read, forked or taken over. */
      heldBy: v.exactOptional(v.number()),
    }),
  ),
  /** What runs now. */
  job: v.variant("kind", [
    v.object({ kind: v.literal("idle") }),
    v.object({ kind: v.literal("turn"), ...jobFields }),
    v.object({ kind: v.literal("compression"), ...jobFields }),
  ]),
  /** The turn whose prompt can be sent again. */
  retryTurn: v.exactOptional(v.string()),
  meter: v.exactOptional(meterSchema),
  chips: v.array(chipSchema),
  /** How many rules there are, pins among those in force. */
  rules: v.object({ inForce: v.number(), proposed: v.number() }),
  /** Rises whenever memory files, slash commands or skills have changed. */
  sourceChanges: v.exactOptional(v.number()),
  /** Rises whenever MCP servers were started, ended, failed, or offer other tools. */
  serverChanges: v.exactOptional(v.number()),
  queue: v.array(queuedPromptSchema),
  work: workSchema,
  models: v.object({ current: v.string(), asked: v.exactOptional(v.string()), list: v.array(modelInfo) }),
  hidden: v.array(hiddenRunSchema),
  /** Above the composer: what is wrong now and what mends it. */
  banner: v.exactOptional(v.object({ ...errorSchema.entries, level: nameIn(NOTICE_LEVELS) })),
  canUndo: v.boolean(),
  examples: v.array(v.string()),
  settings: settingsSchema,
});

/** Everything but the rows. Sent whole whenever something of it changes. */
export type PanelState = Of<typeof stateSchema>;

export const scrollSchema = v.union([
  v.literal("end"),
  v.object({ rowId: v.string(), offset: v.pipe(v.number(), v.finite()) }),
]);

/** Where the reader was: an offset in px below the top of a row, or at the end. */
export type ScrollAnchor = Of<typeof scrollSchema>;
