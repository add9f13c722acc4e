// Generated from the server's types by `python -m schemas.generate`. Do not edit.

import * as v from "valibot";
import type { Requests, ServerNotifications, ServerRequests } from "./protocol.gen.js";

const integer = v.pipe(v.number(), v.integer());

export const faultData = v.object({
  kind: v.string(),
  message: v.string(),
  hint: v.string(),
  retryable: v.boolean(),
  retryAfterMs: v.exactOptional(integer),
  path: v.exactOptional(v.string()),
});

export const turnStarted = v.object({
  type: v.literal("turnStarted"),
  prompt: v.array(v.record(v.string(), v.unknown())),
  model: v.string(),
  steerId: v.exactOptional(v.string()),
});

export const promptQueued = v.object({
  type: v.literal("promptQueued"),
  position: integer,
  because: v.picklist(["compression", "turn"]),
});

export const waitingForSlot = v.object({
  type: v.literal("waitingForSlot"),
  kind: v.picklist(["model", "process"]),
  isOver: v.exactOptional(v.boolean()),
});

export const modelLoading = v.object({
  type: v.literal("modelLoading"),
  model: v.string(),
});

export const messageDelta = v.object({
  type: v.literal("messageDelta"),
  text: v.string(),
  attempt: integer,
});

export const thoughtDelta = v.object({
  type: v.literal("thoughtDelta"),
  text: v.string(),
  attempt: integer,
});

export const messageDiscarded = v.object({
  type: v.literal("messageDiscarded"),
  attempt: integer,
  reason: v.string(),
});

export const toolCallStarted = v.object({
  type: v.literal("toolCallStarted"),
  toolCallId: v.string(),
  name: v.string(),
  args: v.record(v.string(), v.unknown()),
  title: v.exactOptional(v.string()),
  state: v.exactOptional(v.picklist(["running", "waiting"])),
});

export const toolCallProgress = v.object({
  type: v.literal("toolCallProgress"),
  toolCallId: v.string(),
  output: v.string(),
});

export const toolCallCompleted = v.object({
  type: v.literal("toolCallCompleted"),
  toolCallId: v.string(),
  outcome: v.picklist(["declined", "failed", "interrupted", "ok", "timedOut"]),
  summary: v.string(),
  durationMs: integer,
  consent: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
});

export const questionPart = v.object({
  text: v.string(),
  decision: v.picklist(["allow", "ask", "deny"]),
  reason: v.exactOptional(v.string()),
});

export const toolRule = v.object({
  tool: v.string(),
  decision: v.picklist(["allow", "ask", "deny"]),
  path: v.exactOptional(v.nullable(v.string())),
  command: v.exactOptional(v.nullable(v.array(v.string()))),
  exact: v.exactOptional(v.boolean()),
  workspace: v.exactOptional(v.nullable(v.string())),
});

export const toolQuestion = v.object({
  sessionId: v.string(),
  turnId: v.string(),
  toolCallId: v.string(),
  name: v.string(),
  args: v.record(v.string(), v.unknown()),
  title: v.string(),
  risk: v.string(),
  argsText: v.exactOptional(v.string()),
  path: v.exactOptional(v.string()),
  diff: v.exactOptional(v.string()),
  newContent: v.exactOptional(v.string()),
  command: v.exactOptional(v.string()),
  parts: v.exactOptional(v.array(questionPart)),
  cwd: v.exactOptional(v.string()),
  sandbox: v.exactOptional(v.string()),
  mode: v.exactOptional(v.picklist(["acceptEdits", "ask", "plan"])),
  reason: v.exactOptional(v.string()),
  warnings: v.exactOptional(v.array(v.string())),
  irreversible: v.exactOptional(v.string()),
  rule: v.exactOptional(toolRule),
  ruleText: v.exactOptional(v.string()),
  askedAt: v.exactOptional(integer),
  agent: v.exactOptional(v.string()),
});

export const toolQuestionAsked = v.object({
  type: v.literal("toolQuestionAsked"),
  question: toolQuestion,
});

export const toolQuestionAnswered = v.object({
  type: v.literal("toolQuestionAnswered"),
  toolCallId: v.string(),
  outcome: v.picklist(["always", "gone", "once", "reject", "session", "timeout"]),
});

export const promptSteered = v.object({
  type: v.literal("promptSteered"),
  prompt: v.array(v.record(v.string(), v.unknown())),
  steerId: v.exactOptional(v.string()),
});

export const maxToolRoundsReached = v.object({
  type: v.literal("maxToolRoundsReached"),
  limit: integer,
});

export const modeChanged = v.object({
  type: v.literal("modeChanged"),
  mode: v.picklist(["acceptEdits", "ask", "plan"]),
});

export const todo = v.object({
  description: v.string(),
  status: v.picklist(["cancelled", "completed", "in_progress", "pending"]),
});

export const todosChanged = v.object({
  type: v.literal("todosChanged"),
  todos: v.array(todo),
});

export const changesChanged = v.object({
  type: v.literal("changesChanged"),
  files: integer,
  added: integer,
  removed: integer,
  paths: v.exactOptional(v.array(v.string())),
});

export const backgroundCommand = v.object({
  toolCallId: v.string(),
  command: v.string(),
  cwd: v.string(),
  startedAt: integer,
  state: v.picklist(["exited", "running", "stopped"]),
  exitCode: v.exactOptional(integer),
  output: v.exactOptional(v.string()),
});

export const commandsChanged = v.object({
  type: v.literal("commandsChanged"),
  commands: v.array(backgroundCommand),
});

export const outputsMasked = v.object({
  type: v.literal("outputsMasked"),
  outputs: integer,
  tokensSaved: integer,
});

export const usage = v.object({
  promptTokens: integer,
  cachedTokens: integer,
  thoughtTokens: integer,
  outputTokens: integer,
  totalTokens: integer,
  utilityTokens: v.exactOptional(integer),
});

export const turnCompleted = v.object({
  type: v.literal("turnCompleted"),
  finishReason: v.string(),
  usage: usage,
  durationMs: integer,
  turnUsage: v.exactOptional(usage),
});

export const errorData = v.object({
  code: integer,
  kind: v.string(),
  message: v.string(),
  hint: v.string(),
  retryable: v.boolean(),
});

export const turnFailed = v.object({
  type: v.literal("turnFailed"),
  error: errorData,
});

export const turnCancelled = v.object({
  type: v.literal("turnCancelled"),
  by: v.string(),
});

export const modelChanged = v.object({
  type: v.literal("modelChanged"),
  from: v.string(),
  to: v.string(),
  reason: v.string(),
});

export const usageUpdated = v.object({
  type: v.literal("usageUpdated"),
  tokenCount: integer,
  tokenLimit: integer,
  source: v.picklist(["api", "estimate"]),
  tokensUntilCompression: v.exactOptional(integer),
  isDue: v.exactOptional(v.boolean()),
});

export const withheld = v.object({
  name: v.string(),
  reason: v.string(),
});

export const textExtent = v.object({
  path: v.string(),
  extent: v.picklist(["lines", "part", "path", "whole"]),
  lines: v.exactOptional(v.tuple([integer, integer])),
  lineCount: v.exactOptional(integer),
  unsaved: v.exactOptional(v.boolean()),
  asChanges: v.exactOptional(v.boolean()),
  reason: v.exactOptional(v.string()),
});

export const selectionCut = v.object({
  sent: v.tuple([integer, integer]),
  selected: v.tuple([integer, integer]),
});

export const ideContextSent = v.object({
  type: v.literal("ideContextSent"),
  kind: v.picklist(["delta", "full"]),
  files: v.array(v.string()),
  selectionChars: integer,
  withheld: v.array(withheld),
  closed: v.exactOptional(v.array(v.string())),
  texts: v.exactOptional(v.array(textExtent)),
  selectionCut: v.exactOptional(selectionCut),
  moreOpenFiles: v.exactOptional(integer),
});

export const attachment = v.object({
  path: v.string(),
  lines: v.exactOptional(v.tuple([integer, integer])),
  truncated: v.exactOptional(v.boolean()),
});

export const filesAttached = v.object({
  type: v.literal("filesAttached"),
  files: v.array(attachment),
  withheld: v.array(withheld),
});

export const contextWindowWillOverflow = v.object({
  type: v.literal("contextWindowWillOverflow"),
  estimatedRequestTokenCount: integer,
  remainingTokenCount: integer,
  message: v.exactOptional(v.string()),
});

export const compressionStarted = v.object({
  type: v.literal("compressionStarted"),
  compressionId: v.string(),
  trigger: v.picklist(["auto", "background", "manual"]),
  behindTurn: v.exactOptional(v.string()),
});

export const compressionProgress = v.object({
  type: v.literal("compressionProgress"),
  compressionId: v.string(),
  phase: v.picklist(["counting", "hook", "installing", "repairing", "summarising", "truncating", "verifying"]),
  elapsedMs: integer,
  block: v.exactOptional(integer),
  blocks: v.exactOptional(integer),
});

export const missingFact = v.object({
  kind: v.string(),
  text: v.string(),
});

export const retention = v.object({
  score: v.number(),
  facts: integer,
  kept: integer,
  repaired: integer,
  missing: v.array(missingFact),
  appended: integer,
  unsupported: v.array(missingFact),
});

export const verdict = v.object({
  isWorthIt: v.exactOptional(v.boolean()),
  savedPerTurn: v.exactOptional(integer),
  summaryTokens: v.exactOptional(integer),
  lostCacheTokens: v.exactOptional(integer),
  expectedTurns: v.exactOptional(v.number()),
  netTokens: v.exactOptional(integer),
  message: v.exactOptional(v.string()),
});

export const compressionResult = v.object({
  status: v.picklist(["COMPRESSED", "COMPRESSION_FAILED_EMPTY_SUMMARY", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", "COMPRESSION_FAILED_LOW_RETENTION", "COMPRESSION_FAILED_TOKEN_COUNT_ERROR", "CONTENT_TRUNCATED", "NOOP", "PREVIEW", "UNDONE"]),
  trigger: v.picklist(["auto", "background", "manual"]),
  originalTokenCount: integer,
  newTokenCount: integer,
  tokenCountSource: v.picklist(["api", "estimate"]),
  modelCalls: integer,
  durationMs: integer,
  message: v.string(),
  compressionId: v.exactOptional(v.string()),
  splitAt: v.exactOptional(integer),
  keptContents: v.exactOptional(integer),
  snapshot: v.exactOptional(v.string()),
  builtIn: v.exactOptional(v.boolean()),
  undone: v.exactOptional(v.array(v.string())),
  appendix: v.exactOptional(v.string()),
  retention: v.exactOptional(retention),
  strategy: v.exactOptional(v.picklist(["assemble", "hierarchical", "record", "reserve", "selective", "semantic", "split", "userMessages"])),
  verdict: v.exactOptional(verdict),
});

export const compressionCompleted = v.object({
  type: v.literal("compressionCompleted"),
  compressionId: v.string(),
  result: compressionResult,
});

export const compressionFailed = v.object({
  type: v.literal("compressionFailed"),
  compressionId: v.string(),
  result: compressionResult,
});

export const compressionCancelled = v.object({
  type: v.literal("compressionCancelled"),
  compressionId: v.string(),
});

export const compressionPrepared = v.object({
  type: v.literal("compressionPrepared"),
  compressionId: v.string(),
  tokensBefore: integer,
  tokensAfter: integer,
});

export const compressionUndone = v.object({
  type: v.literal("compressionUndone"),
  undone: v.array(v.string()),
});

export const chatCompressed = v.object({
  type: v.literal("chatCompressed"),
  tokensBefore: integer,
  tokensAfter: integer,
  trigger: v.picklist(["auto", "background", "manual"]),
});

export const loopDetected = v.object({
  type: v.literal("loopDetected"),
  kind: v.picklist(["noProgress", "repeatedCalls", "repeatedText"]),
  detail: v.string(),
  outcome: v.picklist(["stopped", "told"]),
});

export const budgetUsed = v.object({
  type: v.literal("budgetUsed"),
  scope: v.picklist(["day", "session"]),
  unit: v.picklist(["cost", "tokens"]),
  spent: v.number(),
  limit: v.number(),
  outcome: v.picklist(["stopped", "warned"]),
  setting: v.string(),
});

export const maxTurnsReached = v.object({
  type: v.literal("maxTurnsReached"),
  limit: integer,
});

export const mcpServerState = v.object({
  name: v.string(),
  state: v.picklist(["consentNeeded", "disabled", "excluded", "failed", "held", "loginNeeded", "off", "ready", "restarting", "starting", "untrusted"]),
  tools: integer,
  error: v.string(),
});

export const mcpServersChanged = v.object({
  type: v.literal("mcpServersChanged"),
  servers: v.array(mcpServerState),
});

export const memoryChanged = v.object({
  type: v.literal("memoryChanged"),
  paths: v.array(v.string()),
});

export const callRecord = v.object({
  callId: v.string(),
  name: v.string(),
  outcome: v.picklist(["declined", "failed", "interrupted", "ok", "timedOut"]),
  summary: v.exactOptional(v.string()),
  durationMs: v.exactOptional(integer),
  editedArgs: v.exactOptional(v.record(v.string(), v.unknown())),
  consent: v.exactOptional(v.string()),
  agentSessionId: v.exactOptional(v.string()),
});

export const commandUse = v.object({
  name: v.string(),
  scope: v.picklist(["builtIn", "extension", "server", "user", "workspace"]),
  owner: v.exactOptional(v.string()),
  path: v.exactOptional(v.string()),
  parts: v.exactOptional(integer),
  files: v.exactOptional(v.array(attachment)),
  withheld: v.exactOptional(v.array(withheld)),
  calls: v.exactOptional(v.array(callRecord)),
});

export const commandExpanded = v.object({
  type: v.literal("commandExpanded"),
  command: commandUse,
});

export const slashCommandsChanged = v.object({
  type: v.literal("slashCommandsChanged"),
});

export const skillsChanged = v.object({
  type: v.literal("skillsChanged"),
});

export const settingsChanged = v.object({
  type: v.literal("settingsChanged"),
  keys: v.array(v.string()),
});

export const constraint = v.object({
  constraintId: v.string(),
  text: v.string(),
  scope: v.picklist(["project", "session"]),
  state: v.picklist(["inForce", "proposed", "released"]),
  createdAt: integer,
  source: v.picklist(["client", "memory", "pin", "prompt"]),
  turnId: v.exactOptional(v.string()),
  replaces: v.exactOptional(v.string()),
  replacedBy: v.exactOptional(v.string()),
  note: v.exactOptional(v.string()),
});

export const constraintsChanged = v.object({
  type: v.literal("constraintsChanged"),
  constraints: v.array(constraint),
});

export const hookRan = v.object({
  type: v.literal("hookRan"),
  event: v.string(),
  name: v.string(),
  outcome: v.picklist(["asked", "changed", "denied", "failed", "ok", "stopped", "timedOut"]),
  durationMs: integer,
  message: v.exactOptional(v.string()),
  isNotable: v.exactOptional(v.boolean()),
});

export const agentActivity = v.object({
  type: v.literal("agentActivity"),
  toolCallId: v.string(),
  agent: v.string(),
  agentSessionId: v.string(),
  kind: v.picklist(["compressed", "ended", "said", "started", "tool", "toolEnded"]),
  text: v.exactOptional(v.string()),
  tokens: v.exactOptional(integer),
});

export const titleChanged = v.object({
  type: v.literal("titleChanged"),
  title: v.string(),
});

export const trustChanged = v.object({
  type: v.literal("trustChanged"),
  trusted: v.boolean(),
});

export const eventParams = v.object({
  sessionId: v.string(),
  seq: integer,
  time: integer,
  event: v.variant("type", [turnStarted, promptQueued, waitingForSlot, modelLoading, messageDelta, thoughtDelta, messageDiscarded, toolCallStarted, toolCallProgress, toolCallCompleted, toolQuestionAsked, toolQuestionAnswered, promptSteered, maxToolRoundsReached, modeChanged, todosChanged, changesChanged, commandsChanged, outputsMasked, turnCompleted, turnFailed, turnCancelled, modelChanged, usageUpdated, ideContextSent, filesAttached, contextWindowWillOverflow, compressionStarted, compressionProgress, compressionCompleted, compressionFailed, compressionCancelled, compressionPrepared, compressionUndone, chatCompressed, loopDetected, budgetUsed, maxTurnsReached, mcpServersChanged, memoryChanged, commandExpanded, slashCommandsChanged, skillsChanged, settingsChanged, constraintsChanged, hookRan, agentActivity, titleChanged, trustChanged]),
  turnId: v.exactOptional(v.string()),
});

export const compressionStatusReport = v.object({
  sessionId: v.string(),
  state: v.picklist(["idle", "prepared", "preparing", "running"]),
  hasFailedCompressionAttempt: v.boolean(),
  forceFullIdeContext: v.boolean(),
  tokenCount: integer,
  tokenCountSource: v.picklist(["api", "estimate"]),
  tokenLimit: integer,
  threshold: v.number(),
  tokensUntilCompression: v.nullable(integer),
  compressions: integer,
  canUndo: v.boolean(),
  phase: v.exactOptional(v.string()),
  elapsedMs: v.exactOptional(integer),
  compressionId: v.exactOptional(v.string()),
  preparedSaves: v.exactOptional(integer),
  last: v.exactOptional(compressionResult),
  mode: v.picklist(["auto", "off", "remind"]),
  isDue: v.boolean(),
  thresholdReason: v.exactOptional(v.string()),
  verdict: v.exactOptional(verdict),
  compressionAt: v.exactOptional(integer),
});

export const sessionIdParams = v.object({
  sessionId: v.string(),
});

export const confirmToolParams = v.object({
  sessionId: v.string(),
  turnId: v.string(),
  toolCallId: v.string(),
  name: v.string(),
  args: v.record(v.string(), v.unknown()),
  title: v.string(),
  risk: v.string(),
  argsText: v.exactOptional(v.string()),
  path: v.exactOptional(v.string()),
  diff: v.exactOptional(v.string()),
  newContent: v.exactOptional(v.string()),
  command: v.exactOptional(v.string()),
  parts: v.exactOptional(v.array(questionPart)),
  cwd: v.exactOptional(v.string()),
  sandbox: v.exactOptional(v.string()),
  mode: v.exactOptional(v.picklist(["acceptEdits", "ask", "plan"])),
  reason: v.exactOptional(v.string()),
  warnings: v.exactOptional(v.array(v.string())),
  irreversible: v.exactOptional(v.string()),
  rule: v.exactOptional(toolRule),
  ruleText: v.exactOptional(v.string()),
  askedAt: v.exactOptional(integer),
  agent: v.exactOptional(v.string()),
  text: v.exactOptional(v.string()),
});

export const askUserParams = v.object({
  sessionId: v.string(),
  toolCallId: v.string(),
  question: v.string(),
  options: v.exactOptional(v.array(v.string())),
  allowsText: v.exactOptional(v.boolean()),
});

export const diagnosticsParams = v.object({
  paths: v.array(v.string()),
  waitMs: v.exactOptional(integer),
});

export const saveDocumentParams = v.object({
  path: v.string(),
});

export const openDiffParams = v.object({
  path: v.string(),
  newContent: v.string(),
});

export const sessionInfo = v.object({
  sessionId: v.string(),
  title: v.string(),
  model: v.string(),
  createdAt: integer,
  updatedAt: integer,
  turns: integer,
  tokenCount: integer,
  workspaceFolders: v.array(v.string()),
  tokenCountSource: v.exactOptional(v.picklist(["api", "estimate"])),
  parent: v.exactOptional(v.string()),
  heldBy: v.exactOptional(integer),
  runningTurn: v.exactOptional(v.string()),
  warnings: v.exactOptional(v.array(v.string())),
  mode: v.exactOptional(v.picklist(["acceptEdits", "ask", "plan"])),
  size: v.exactOptional(integer),
  isKept: v.exactOptional(v.boolean()),
  leavesAt: v.exactOptional(integer),
});

export const sessionList = v.object({
  sessions: v.array(sessionInfo),
  nextCursor: v.exactOptional(v.string()),
  unindexed: v.exactOptional(integer),
});

export const exported = v.object({
  content: v.string(),
});

export const shown = v.object({
  text: v.exactOptional(v.string()),
  thoughts: v.exactOptional(v.string()),
});

export const contextReceipt = v.object({
  kind: v.picklist(["delta", "full"]),
  files: v.array(v.string()),
  selectionChars: integer,
  withheld: v.array(withheld),
  closed: v.exactOptional(v.array(v.string())),
  texts: v.exactOptional(v.array(textExtent)),
  selectionCut: v.exactOptional(selectionCut),
  moreOpenFiles: v.exactOptional(integer),
});

export const historyItem = v.object({
  role: v.picklist(["model", "user"]),
  parts: v.array(v.record(v.string(), v.unknown())),
  entryId: v.string(),
  kind: v.string(),
  seq: integer,
  entryIds: v.exactOptional(v.array(v.string())),
  turnId: v.exactOptional(v.string()),
  time: v.exactOptional(integer),
  outcome: v.exactOptional(v.string()),
  endSeq: v.exactOptional(integer),
  hiddenBy: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
  by: v.exactOptional(v.string()),
  shown: v.exactOptional(shown),
  hookContexts: v.exactOptional(integer),
  command: v.exactOptional(commandUse),
  attachments: v.exactOptional(v.array(attachment)),
  withheld: v.exactOptional(v.array(withheld)),
  receipt: v.exactOptional(contextReceipt),
  calls: v.exactOptional(v.array(callRecord)),
  model: v.exactOptional(v.string()),
  finishReason: v.exactOptional(v.string()),
  usage: v.exactOptional(usage),
  durationMs: v.exactOptional(integer),
});

export const newestContents = v.object({
  session: sessionInfo,
  contents: v.array(historyItem),
});

export const historyPage = v.object({
  contents: v.array(historyItem),
  version: integer,
  epoch: integer,
  nextCursor: v.exactOptional(v.string()),
});

export const chatResult = v.object({
  sessionId: v.string(),
  turnId: v.string(),
  text: v.string(),
  finishReason: v.string(),
  model: v.string(),
  usage: usage,
  turnUsage: v.exactOptional(usage),
  compression: v.exactOptional(compressionResult),
  stopped: v.exactOptional(v.picklist(["blocked", "budget", "contextWindowWillOverflow", "loopDetected", "maxToolRounds", "maxTurns"])),
  prompt: v.exactOptional(v.array(v.record(v.string(), v.unknown()))),
  message: v.exactOptional(v.string()),
});

export const cancelResult = v.object({
  cancelled: v.boolean(),
});

export const compressionInfo = v.object({
  compressionId: v.string(),
  status: v.picklist(["COMPRESSED", "COMPRESSION_FAILED_EMPTY_SUMMARY", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", "COMPRESSION_FAILED_LOW_RETENTION", "COMPRESSION_FAILED_TOKEN_COUNT_ERROR", "CONTENT_TRUNCATED", "NOOP", "PREVIEW", "UNDONE"]),
  trigger: v.picklist(["auto", "background", "manual"]),
  time: integer,
  originalTokenCount: integer,
  newTokenCount: integer,
  state: v.picklist(["covered", "inForce", "outdated", "preview", "undone"]),
  hides: v.exactOptional(v.tuple([integer, integer])),
  covers: v.exactOptional(v.array(v.string())),
  seq: v.exactOptional(integer),
  hiddenTurns: v.exactOptional(integer),
  message: v.exactOptional(v.string()),
  cuts: v.exactOptional(integer),
  snapshot: v.exactOptional(v.string()),
  appendix: v.exactOptional(v.string()),
  retention: v.exactOptional(retention),
  strategy: v.exactOptional(v.picklist(["assemble", "hierarchical", "record", "reserve", "selective", "semantic", "split", "userMessages"])),
  rating: v.exactOptional(integer),
  note: v.exactOptional(v.string()),
  tokenCountSource: v.exactOptional(v.picklist(["api", "estimate"])),
  fromFile: v.exactOptional(v.boolean()),
});

export const compressionList = v.object({
  compressions: v.array(compressionInfo),
});

export const sourcedLine = v.object({
  line: integer,
  turnIds: v.array(v.string()),
  entryIds: v.array(v.string()),
});

export const compressionSources = v.object({
  compressionId: v.string(),
  lines: v.array(sourcedLine),
});

export const statement = v.object({
  statementId: v.string(),
  text: v.string(),
  turnId: v.string(),
  stands: v.picklist(["cut", "no", "whole"]),
  isKept: v.exactOptional(v.boolean()),
  constraintId: v.exactOptional(v.string()),
});

export const keptReport = v.object({
  compressionId: v.exactOptional(v.string()),
  statements: v.exactOptional(v.array(statement)),
  omitted: v.exactOptional(integer),
  whole: v.exactOptional(integer),
  tokens: v.exactOptional(integer),
  budget: v.exactOptional(integer),
  modelStatements: v.exactOptional(integer),
  calls: v.exactOptional(integer),
  isPreview: v.exactOptional(v.boolean()),
  isOutdated: v.exactOptional(v.boolean()),
});

export const requestParts = v.object({
  systemInstruction: integer,
  tools: integer,
  environment: integer,
  memory: integer,
  ideContext: integer,
  snapshot: integer,
  constraints: integer,
  messages: integer,
  toolOutputs: integer,
});

export const contextReport = v.object({
  sessionId: v.string(),
  model: v.string(),
  tokenCount: integer,
  tokenCountSource: v.picklist(["api", "estimate"]),
  tokenLimit: integer,
  byPart: requestParts,
  free: integer,
  threshold: v.number(),
  tokensUntilCompression: v.nullable(integer),
  compressionAt: v.exactOptional(integer),
});

export const promptSection = v.object({
  name: v.string(),
  tokens: integer,
});

export const systemPromptReport = v.object({
  text: v.string(),
  tokens: integer,
  source: v.picklist(["GEMINI_SYSTEM_MD", "builtIn", "session"]),
  sections: v.array(promptSection),
});

export const contextFile = v.object({
  uri: v.string(),
  name: v.string(),
  extent: v.picklist(["lines", "none", "part", "path", "whole"]),
  isActive: v.exactOptional(v.boolean()),
  lines: v.exactOptional(v.tuple([integer, integer])),
  lineCount: v.exactOptional(integer),
  unsaved: v.exactOptional(v.boolean()),
  selectionCut: v.exactOptional(selectionCut),
  reason: v.exactOptional(v.string()),
});

export const contextPreview = v.object({
  kind: v.picklist(["delta", "full", "none"]),
  files: v.array(v.string()),
  withheld: v.array(withheld),
  selectionChars: integer,
  text: v.exactOptional(v.string()),
  closed: v.exactOptional(v.array(v.string())),
  texts: v.exactOptional(v.array(textExtent)),
  selectionCut: v.exactOptional(selectionCut),
  moreOpenFiles: v.exactOptional(integer),
  openFiles: v.exactOptional(v.array(contextFile)),
});

export const workspaceFile = v.object({
  uri: v.string(),
  path: v.string(),
  isDirectory: v.exactOptional(v.boolean()),
});

export const workspaceFileList = v.object({
  files: v.array(workspaceFile),
  truncated: v.boolean(),
});

export const mentionCheck = v.object({
  written: v.string(),
  found: v.picklist(["file", "folder", "nothing", "resource"]),
  path: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
});

export const promptCheck = v.object({
  mentions: v.array(mentionCheck),
});

export const pin = v.object({
  pinId: v.string(),
  text: v.string(),
  createdAt: integer,
  turnId: v.exactOptional(v.string()),
});

export const pinList = v.object({
  pins: v.array(pin),
});

export const recallHit = v.object({
  sessionId: v.string(),
  sessionTitle: v.string(),
  turnId: v.string(),
  entryId: v.string(),
  role: v.picklist(["model", "tool", "user"]),
  time: integer,
  text: v.string(),
  score: v.exactOptional(v.number()),
  before: v.exactOptional(v.array(v.string())),
  after: v.exactOptional(v.array(v.string())),
  characters: v.exactOptional(integer),
  isHidden: v.exactOptional(v.boolean()),
});

export const recallResult = v.object({
  hits: v.array(recallHit),
  unindexed: v.exactOptional(integer),
});

export const constraintList = v.object({
  constraints: v.array(constraint),
});

export const memoryFileInfo = v.object({
  path: v.string(),
  scope: v.picklist(["extension", "global", "project", "subdirectory"]),
  tokenCount: integer,
  imports: v.array(v.string()),
  problem: v.exactOptional(v.string()),
});

export const memoryList = v.object({
  files: v.array(memoryFileInfo),
  tokenCount: integer,
});

export const memoryAdded = v.object({
  path: v.string(),
  diff: v.string(),
});

export const agentInfo = v.object({
  name: v.string(),
  description: v.exactOptional(v.string()),
  displayName: v.exactOptional(v.string()),
  source: v.exactOptional(v.picklist(["builtIn", "extension", "user", "workspace"])),
  path: v.exactOptional(v.string()),
  tools: v.exactOptional(v.array(v.string())),
  model: v.exactOptional(v.string()),
  maxTurns: v.exactOptional(integer),
  timeoutMinutes: v.exactOptional(v.number()),
  enabled: v.exactOptional(v.boolean()),
  problem: v.exactOptional(v.string()),
  line: v.exactOptional(integer),
});

export const agentList = v.object({
  agents: v.array(agentInfo),
});

export const lastRun = v.object({
  at: integer,
  outcome: v.picklist(["asked", "changed", "denied", "failed", "ok", "stopped", "timedOut"]),
  durationMs: integer,
  message: v.exactOptional(v.string()),
});

export const listedHook = v.object({
  event: v.picklist(["AfterAgent", "AfterModel", "AfterTool", "BeforeAgent", "BeforeModel", "BeforeTool", "BeforeToolSelection", "Notification", "PostCompress", "PreCompress", "SessionEnd", "SessionStart"]),
  name: v.string(),
  command: v.string(),
  matcher: v.string(),
  sequential: v.boolean(),
  timeoutMs: integer,
  source: v.string(),
  state: v.picklist(["off", "on", "withheld"]),
  file: v.exactOptional(v.string()),
  line: v.exactOptional(integer),
  lastRun: v.exactOptional(lastRun),
});

export const hookList = v.object({
  enabled: v.boolean(),
  hooks: v.array(listedHook),
  problems: v.array(v.string()),
});

export const mcpToolInfo = v.object({
  name: v.string(),
  wireName: v.string(),
  description: v.string(),
});

export const mcpServerInfo = v.object({
  name: v.string(),
  state: v.picklist(["consentNeeded", "disabled", "excluded", "failed", "held", "loginNeeded", "off", "ready", "restarting", "starting", "untrusted"]),
  source: v.string(),
  isPersonal: v.boolean(),
  transport: v.picklist(["http", "sse", "stdio"]),
  command: v.string(),
  digest: v.string(),
  isTrusted: v.boolean(),
  canLogIn: v.boolean(),
  warnings: v.array(v.string()),
  title: v.string(),
  error: v.string(),
  restarts: integer,
  tools: v.array(mcpToolInfo),
  prompts: integer,
  resources: integer,
});

export const mcpList = v.object({
  servers: v.array(mcpServerInfo),
  problems: v.array(v.string()),
});

export const mcpLog = v.object({
  lines: v.array(v.string()),
});

export const mcpResourceInfo = v.object({
  mention: v.string(),
  name: v.string(),
  description: v.string(),
});

export const mcpCompletions = v.object({
  resources: v.array(mcpResourceInfo),
});

export const modeResult = v.object({
  sessionId: v.string(),
  mode: v.picklist(["acceptEdits", "ask", "plan"]),
});

export const toolInfo = v.object({
  name: v.string(),
  title: v.string(),
  description: v.string(),
  risk: v.string(),
  decision: v.picklist(["allow", "ask", "deny"]),
});

export const unfinishedTurn = v.object({
  turnId: v.string(),
  outcome: v.picklist(["cancelled", "completed", "failed", "interrupted", "replaced", "stopped"]),
  reason: v.exactOptional(v.string()),
});

export const toolList = v.object({
  mode: v.picklist(["acceptEdits", "ask", "plan"]),
  tools: v.array(toolInfo),
  todos: v.exactOptional(v.array(todo)),
  questions: v.exactOptional(v.array(toolQuestion)),
  sandbox: v.exactOptional(v.string()),
  unfinished: v.exactOptional(unfinishedTurn),
});

export const shownCall = v.object({
  diff: v.exactOptional(v.string()),
  output: v.exactOptional(v.string()),
  isCut: v.exactOptional(v.boolean()),
});

export const storedRule = v.object({
  rule: toolRule,
  source: v.picklist(["default", "editor", "session", "system", "user", "workspace"]),
  ruleId: v.exactOptional(v.string()),
  text: v.exactOptional(v.string()),
});

export const ruleList = v.object({
  rules: v.array(storedRule),
});

export const commandArgument = v.object({
  name: v.string(),
  description: v.exactOptional(v.string()),
  isRequired: v.exactOptional(v.boolean()),
});

export const slashCommandInfo = v.object({
  name: v.string(),
  description: v.string(),
  scope: v.picklist(["builtIn", "extension", "server", "user", "workspace"]),
  owner: v.exactOptional(v.string()),
  hint: v.exactOptional(v.string()),
  arguments: v.exactOptional(v.array(commandArgument)),
  aliases: v.exactOptional(v.array(v.string())),
  path: v.exactOptional(v.string()),
  runsCommands: v.exactOptional(v.boolean()),
});

export const fileProblem = v.object({
  path: v.string(),
  line: integer,
  message: v.string(),
});

export const slashCommandList = v.object({
  commands: v.array(slashCommandInfo),
  problems: v.array(fileProblem),
});

export const sentText = v.object({
  line: v.string(),
  text: v.string(),
});

export const skillInfo = v.object({
  name: v.string(),
  description: v.string(),
  scope: v.picklist(["extension", "user", "workspace"]),
  path: v.string(),
  isEnabled: v.boolean(),
  owner: v.exactOptional(v.string()),
});

export const skillList = v.object({
  skills: v.array(skillInfo),
  problems: v.array(fileProblem),
  isEnabled: v.boolean(),
  tokenCount: integer,
});

export const commandList = v.object({
  commands: v.array(backgroundCommand),
});

export const stopResult = v.object({
  stopped: v.boolean(),
});

export const change = v.object({
  turnId: v.string(),
  path: v.string(),
  kind: v.picklist(["changed", "created", "deleted", "renamed"]),
  added: integer,
  removed: integer,
  diff: v.string(),
  fromPath: v.exactOptional(v.string()),
  state: v.exactOptional(v.picklist(["kept", "made", "reverted"])),
  canRevert: v.exactOptional(v.boolean()),
  reason: v.exactOptional(v.string()),
  byCommand: v.exactOptional(v.boolean()),
  agents: v.exactOptional(v.array(v.string())),
  hunks: v.exactOptional(integer),
});

export const changeList = v.object({
  changes: v.array(change),
  note: v.exactOptional(v.string()),
});

export const conflict = v.object({
  path: v.string(),
  reason: v.string(),
});

export const revertResult = v.object({
  reverted: v.array(v.string()),
  conflicts: v.array(conflict),
  changeId: v.exactOptional(v.string()),
  note: v.exactOptional(v.string()),
});

export const settingInForce = v.object({
  key: v.string(),
  value: v.exactOptional(v.unknown()),
  default: v.exactOptional(v.unknown()),
  layer: v.picklist(["commandLine", "default", "editor", "environment", "experiment", "system", "systemDefaults", "user", "workspace"]),
  file: v.exactOptional(v.string()),
  line: v.exactOptional(integer),
  variable: v.exactOptional(v.string()),
  also: v.exactOptional(v.array(v.picklist(["commandLine", "default", "editor", "environment", "experiment", "system", "systemDefaults", "user", "workspace"]))),
  description: v.exactOptional(v.string()),
});

export const settingList = v.object({
  settings: v.array(settingInForce),
  trusted: v.boolean(),
  problems: v.exactOptional(v.array(v.string())),
});

export const modelInfo = v.object({
  name: v.string(),
  tokenLimit: integer,
  description: v.string(),
});

export const modelReport = v.object({
  models: v.array(modelInfo),
  current: v.string(),
  default: v.string(),
  provider: v.string(),
  isLocal: v.boolean(),
  reason: v.string(),
  hint: v.string(),
  unread: v.exactOptional(v.array(v.string())),
});

export const latency = v.object({
  median: integer,
  p95: integer,
  calls: integer,
});

export const modelSums = v.object({
  model: v.string(),
  purpose: v.picklist(["answer", "compression", "condensing", "grounding", "loopCheck", "preparing", "routing", "title"]),
  calls: integer,
  failures: integer,
  promptTokens: integer,
  cachedTokens: integer,
  thoughtTokens: integer,
  outputTokens: integer,
  uncounted: integer,
  cost: v.exactOptional(v.number()),
  first: v.exactOptional(latency),
  whole: v.exactOptional(latency),
});

export const toolSums = v.object({
  name: v.string(),
  calls: integer,
  ok: integer,
  declined: integer,
  failed: integer,
  durationMs: integer,
  tokens: v.exactOptional(integer),
});

export const compressionSums = v.object({
  time: integer,
  status: v.picklist(["COMPRESSED", "COMPRESSION_FAILED_EMPTY_SUMMARY", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", "COMPRESSION_FAILED_LOW_RETENTION", "COMPRESSION_FAILED_TOKEN_COUNT_ERROR", "CONTENT_TRUNCATED", "NOOP", "PREVIEW", "UNDONE"]),
  tokensBefore: integer,
  tokensAfter: integer,
  modelCalls: integer,
  durationMs: integer,
  cost: v.number(),
  compressionId: v.exactOptional(v.string()),
  isUndone: v.exactOptional(v.boolean()),
});

export const turnSums = v.object({
  turnId: v.string(),
  time: integer,
  calls: integer,
  promptTokens: integer,
  cachedTokens: integer,
  outputTokens: integer,
  cost: v.number(),
  isCostComplete: v.boolean(),
});

export const requestPoint = v.object({
  time: integer,
  turnId: v.string(),
  tokens: integer,
  cachedTokens: integer,
  byPart: requestParts,
  tokenLimit: integer,
  compressionAt: v.exactOptional(integer),
});

export const stats = v.object({
  sessionId: v.exactOptional(v.string()),
  sessions: v.exactOptional(integer),
  unreadable: v.exactOptional(integer),
  turns: integer,
  loops: v.exactOptional(integer),
  calls: integer,
  failures: integer,
  promptTokens: integer,
  cachedTokens: integer,
  thoughtTokens: integer,
  outputTokens: integer,
  cachedShare: v.number(),
  compressions: integer,
  tokensSaved: integer,
  cost: v.number(),
  isCostComplete: v.boolean(),
  compressionCost: v.number(),
  pricesAsOf: v.string(),
  startedAt: v.exactOptional(integer),
  endedAt: v.exactOptional(integer),
  models: v.exactOptional(v.array(modelSums)),
  tools: v.exactOptional(v.array(toolSums)),
  compressionList: v.exactOptional(v.array(compressionSums)),
  turnList: v.exactOptional(v.array(turnSums)),
  requests: v.exactOptional(v.array(requestPoint)),
});

export const eventPage = v.object({
  events: v.array(v.record(v.string(), v.unknown())),
  truncated: v.boolean(),
});

/** By method. */
export const results = {
  "gemini/session/new": sessionInfo,
  "gemini/session/list": sessionList,
  "gemini/session/open": sessionInfo,
  "gemini/session/subscribe": v.null(),
  "gemini/session/fork": sessionInfo,
  "gemini/session/rename": sessionInfo,
  "gemini/session/keep": sessionInfo,
  "gemini/session/delete": v.null(),
  "gemini/session/export": exported,
  "gemini/session/import": sessionInfo,
  "gemini/session/newest": newestContents,
  "gemini/session/history": historyPage,
  "gemini/chat": chatResult,
  "gemini/chat/resume": chatResult,
  "gemini/cancel": cancelResult,
  "gemini/compress": compressionResult,
  "gemini/compressionStatus": compressionStatusReport,
  "gemini/compression/verdict": verdict,
  "gemini/compression/apply": compressionResult,
  "gemini/compression/discard": v.null(),
  "gemini/compression/undo": compressionResult,
  "gemini/compression/list": compressionList,
  "gemini/compression/sources": compressionSources,
  "gemini/compression/rate": v.null(),
  "gemini/kept": keptReport,
  "gemini/kept/set": v.null(),
  "gemini/context": contextReport,
  "gemini/systemPrompt": systemPromptReport,
  "gemini/context/preview": contextPreview,
  "gemini/files": workspaceFileList,
  "gemini/prompt/check": promptCheck,
  "gemini/pin": pin,
  "gemini/unpin": v.null(),
  "gemini/pins": pinList,
  "gemini/recall": recallResult,
  "gemini/constraints": constraintList,
  "gemini/constraints/set": constraint,
  "gemini/memory/list": memoryList,
  "gemini/memory/add": memoryAdded,
  "gemini/memory/reload": memoryList,
  "gemini/agents/list": agentList,
  "gemini/hooks": hookList,
  "gemini/hooks/set": hookList,
  "gemini/mcp/list": mcpList,
  "gemini/mcp/enable": mcpList,
  "gemini/mcp/agree": mcpList,
  "gemini/mcp/restart": mcpList,
  "gemini/mcp/login": mcpList,
  "gemini/mcp/logout": mcpList,
  "gemini/mcp/log": mcpLog,
  "gemini/mcp/complete": mcpCompletions,
  "gemini/session/mode": modeResult,
  "gemini/tools": toolList,
  "gemini/tools/shown": shownCall,
  "gemini/rules": ruleList,
  "gemini/rules/revoke": ruleList,
  "gemini/commands/list": slashCommandList,
  "gemini/commands/sent": sentText,
  "gemini/skills/list": skillList,
  "gemini/skills/enable": skillList,
  "gemini/commands": commandList,
  "gemini/commands/stop": stopResult,
  "gemini/changes": changeList,
  "gemini/changes/revert": revertResult,
  "gemini/changes/keep": changeList,
  "gemini/settings": settingList,
  "gemini/models": modelReport,
  "gemini/stats": stats,
  "gemini/events/replay": eventPage,
} as const satisfies { readonly [M in keyof Requests]: v.GenericSchema<unknown, Requests[M]["result"]> };

/** By method. */
export const notifications = {
  "gemini/event": eventParams,
  "gemini/compressionStatus/didChange": compressionStatusReport,
  "gemini/session/taken": sessionIdParams,
} as const satisfies { readonly [M in keyof ServerNotifications]: v.GenericSchema<unknown, ServerNotifications[M]> };

/** By method. */
export const serverRequests = {
  "gemini/confirmTool": confirmToolParams,
  "gemini/askUser": askUserParams,
  "gemini/diagnostics": diagnosticsParams,
  "gemini/saveDocument": saveDocumentParams,
  "gemini/openDiff": openDiffParams,
} as const satisfies { readonly [M in keyof ServerRequests]: v.GenericSchema<unknown, ServerRequests[M]["params"]> };
