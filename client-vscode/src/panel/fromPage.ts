/** What the page posts. It shows what a model wrote, so it is not trusted: whatever is not exactly one of these is dropped. */
import * as v from "valibot";
import { STRATEGIES } from "./compressionWords.js";
import { digestSchema, LONGEST_PICTURE } from "./pictures.js";
import { LONGEST_FACT, LONGEST_RULE } from "./limits.js";
import { actionSchema } from "./rows.js";
import { index, nameIn, text, word, type Of } from "./schema.js";
import { scrollSchema } from "./state.js";
import { COMPRESSION_ACTIONS } from "./statuses.js";
import { MODES } from "./tools.js";
import { enclosedEntries } from "./written.js";

const ruleState = v.picklist(["proposed", "inForce", "released"]);

const ask = <D extends string, E extends v.ObjectEntries>(name: D, entries: E) =>
  v.object({ do: v.literal(name), ...entries });

const requestSchema = v.variant("do", [
  /** Rows by index, both ends included; at most 200. */
  ask("rows", { from: index, to: index }),
  /** What `@` can name. */
  ask("files", { query: word }),
  /** What a prompt names with `@`. */
  ask("check", { prompt: text }),
  ask("sessions", { query: word, cursor: v.exactOptional(word) }),
  ask("keep", { sessionId: word, on: v.boolean() }),
  ask("context", {}),
  /** What the open chat did and cost, or with `all` every chat of the project. */
  ask("stats", { all: v.exactOptional(v.boolean()) }),
  ask("rules", {}),
  /** Without an id the text is made a new rule. */
  ask("setRule", {
    constraintId: v.exactOptional(word),
    state: ruleState,
    scope: v.exactOptional(v.picklist(["session", "project"])),
    text: v.exactOptional(v.pipe(text, v.maxLength(LONGEST_RULE))),
  }),
  /** What a compression keeps word for word; without an id the newest in force. */
  ask("kept", { compressionId: v.exactOptional(word) }),
  ask("keepStatement", { statementId: word, isKept: v.boolean() }),
  /** The rules of consent. */
  ask("toolRules", {}),
  ask("revokeToolRule", { ruleId: word }),
  /** The memory files; with `reload` they are read anew. */
  ask("memory", { reload: v.boolean() }),
  ask("addMemory", { fact: v.pipe(text, v.maxLength(LONGEST_FACT)), scope: v.picklist(["global", "project"]) }),
  /** The daemon's slash commands. */
  ask("commands", {}),
  ask("skills", {}),
  ask("enableSkill", { name: word, enabled: v.boolean() }),
  /** The MCP servers. */
  ask("servers", {}),
  /** With `digest`: what is agreed to. */
  ask("serverAction", {
    server: word,
    action: v.picklist(["enable", "disable", "agree", "restart", "login", "logout"]),
    digest: v.exactOptional(word),
  }),
  ask("serverLog", { server: word }),
  /** Everything ever said in the project. */
  ask("recall", { query: word }),
  /** Whether a compression would be worth it now; `null` where there is nothing to say. */
  ask("verdict", {}),
  /** Find in the open chat. */
  ask("find", { query: word, caseSensitive: v.boolean() }),
  /** The user's prompts, newest first, for ↑. */
  ask("prompts", {}),
  ask("compressions", {}),
  /** A picture that was pasted or dropped, in base64. What the host keeps of it goes along with a prompt. */
  ask("addPicture", { name: word, data: v.pipe(v.string(), v.maxLength(LONGEST_PICTURE)) }),
  /** The bytes of a picture, once for all rows that show it. */
  ask("picture", { digest: digestSchema }),
]);

/** Questions of the page; each is answered by one `result`, of the shape in `results.ts`. */
export type PageRequest = Of<typeof requestSchema>;

/** `chat` is the number of the chat that the page shows; the bridge puts it into every message. */
const post = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
  v.object({ type: v.literal(type), chat: v.exactOptional(index), ...entries });

const fromPageSchema = v.variant("type", [
  post("ready", { boot: v.boolean() }),
  /**
   * What is typed, debounced, at once on blur; where the reader is; and what of the text is shown as attachments. `draft` is the number
   * that came with the text that stood there first: what was typed belongs to that chat, whichever the host shows by now.
   */
  post("draft", { draft: v.number(), text, scroll: scrollSchema, ...enclosedEntries }),
  post("focus", { focused: v.boolean() }),
  /** `now` ends what runs and goes ahead of the queue; else a prompt that comes while something runs is queued. */
  /** `steer` sends it into the turn that runs. */
  post("send", { text, ...enclosedEntries, now: v.exactOptional(v.boolean()), steer: v.exactOptional(v.boolean()) }),
  post("stop", {}),
  post("action", { action: v.object({ ...actionSchema.entries, label: word, argument: v.exactOptional(word) }) }),
  post("chip", { uri: word, included: v.boolean() }),
  post("queue", {
    do: v.picklist(["edit", "sendNow", "remove"]),
    id: word,
    text: v.exactOptional(text),
    ...enclosedEntries,
  }),
  post("model", { name: word }),
  post("code", { do: v.picklist(["copy", "insert", "apply"]), text, language: word }),
  post("copy", { text }),
  /** A text of the composer, to be read in an editor. */
  post("read", { name: word, text }),
  /** A picture of a prompt, to be looked at in an editor. */
  post("openPicture", { digest: digestSchema }),
  /** A link of an answer, or a file of a receipt. The host decides what may be opened. */
  post("open", { href: word }),
  /** A memory file, by its path in the answer to `memory`. The host asks the daemon whether it is one. */
  post("openMemory", { path: word }),
  /** A skill's file or a command's, by its path in the answer to `skills` or `commands`. The host asks the daemon whether it is one. */
  post("openSource", { path: word }),
  post("turn", { do: v.picklist(["retry", "fork", "pin", "unpin", "copy", "goBack", "showSent"]), turnId: word }),
  /** `output` asks for what a call put out, which its row does not have yet. */
  post("tool", { do: v.picklist(["stop", "openDiff", "output"]), callId: word }),
  /** The answer to the question of a call. `edited` is the command line or the arguments as JSON, `words` are what a rule would allow. */
  post("answerTool", {
    callId: word,
    outcome: v.picklist(["once", "session", "always", "reject"]),
    reason: v.exactOptional(text),
    edited: v.exactOptional(text),
    rule: v.exactOptional(text),
  }),
  /** The answer to what the model asks; none if the person would not say. */
  post("answerUser", { callId: word, answer: v.exactOptional(text) }),
  post("mode", { mode: nameIn(MODES) }),
  /** About files that tools changed; without a path all of them. */
  post("changes", { do: v.picklist(["keep", "undo", "diff"]), path: v.exactOptional(word) }),
  post("compression", {
    do: nameIn(COMPRESSION_ACTIONS),
    compressionId: word,
    rating: v.exactOptional(v.pipe(index, v.minValue(1), v.maxValue(5))),
  }),
  /**
   * `preview` opens the preview, `guided` asks for a strategy and guidance first. `upTo` folds all turns through this one, `from` this one
   * and all after it.
   */
  post("compress", {
    preview: v.boolean(),
    guided: v.boolean(),
    strategy: v.exactOptional(nameIn(STRATEGIES)),
    upTo: v.exactOptional(word),
    from: v.exactOptional(word),
  }),
  post("rule", { constraintId: word, state: ruleState }),
  /** Show a place, of this chat or of another one; `words` are what it says, as far as known. */
  post("place", {
    sessionId: v.exactOptional(word),
    turnId: v.exactOptional(word),
    entryId: v.exactOptional(word),
    words: word,
  }),
  post("chat", {
    do: v.picklist(["new", "openAsMarkdown", "export", "rename", "delete"]),
    sessionId: v.exactOptional(word),
  }),
  post("openSession", { sessionId: word }),
  /** Files dropped on the composer, as `text/uri-list`. The host answers with an `insert` command. */
  post("drop", { uris: v.pipe(v.array(word), v.maxLength(100)) }),
  post("call", { call: index, request: requestSchema }),
  /** A defect of the page, for the log: never text of the chat. */
  post("defect", { message: word }),
]);

export type FromPage = Of<typeof fromPageSchema>;

/** The message, or `undefined` for anything else. Never throws. */
export function decodeFromPage(value: unknown): FromPage | undefined {
  const parsed = v.safeParse(fromPageSchema, value);
  return parsed.success ? parsed.output : undefined;
}
