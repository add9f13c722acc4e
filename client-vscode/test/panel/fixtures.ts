/**
 * The states of the panel, as messages of the host: what the page is to be posted, in order. The screenshots, the accessibility runs and
 * the unit tests of the page all show these.
 */
import type { ToPage } from "../../src/panel/contract.js";
import { photo, screenshot } from "./pictures.js";
import daemonTexts from "./daemonTexts.json" with { type: "json" };
import { daemonStates } from "./daemonStates.js";
import { OFFLINE, produced } from "./produced.js";
import { answering, compressing, failure, faultView, show, withoutSession } from "./staging.js";
import {
  CHANGED,
  EDIT_DIFF,
  TASKS,
  commandAsked,
  commandRow,
  editAsked,
  editRow,
  lookedAt,
  personAsked,
} from "./toolRows.js";
import {
  afternoon,
  baseState,
  done,
  prompt,
  answer,
  nextPrompt,
  nextAnswer,
  turn,
  retention,
  result,
  divider,
  rule,
  ruledPrompt,
} from "./chatRows.js";

/** The states by name; `now` (Unix milliseconds) is what countdowns and elapsed times start from. */
export function makeFixtures(now: number) {
  return {
    ...daemonStates,
    empty: withoutSession({}),
    idle: show({}),
    sending: answering({ state: "sending", text: "", since: now }),
    thinking: answering({
      state: "thinking",
      text: "",
      thoughts: "The test needs an input without a final newline.",
      since: now,
    }),
    streaming: answering({}),
    toolWaiting: answering({ state: "waiting", tools: [editAsked] }),
    toolAsksCommand: answering({ state: "waiting", tools: [...lookedAt, commandAsked] }),
    toolAsksPerson: answering({ state: "waiting", text: "Two ways are open.", tools: [personAsked] }),
    toolRunning: answering(
      {
        state: "working",
        tools: [
          ...lookedAt,
          {
            ...commandRow,
            state: "running",
            startedAt: now - 12_000,
            output: "collected 41 items\n\ntests/test_tokenizer.py ........",
          },
        ],
      },
      { job: turn, work: { ...baseState.work, canSteer: true, tasks: TASKS, mode: "acceptEdits" } },
    ),
    toolsDone: answering(
      {
        state: "done",
        text: "I look at it first.\n\nNow the tests run.\n\nAll tests pass.",
        steers: [{ text: "and do not touch generated/", at: 19 }],
        tools: [
          ...lookedAt.map((tool) => ({ ...tool, at: 19 })),
          {
            ...editRow,
            state: "ok",
            at: 39,
            summary: "+3 −1",
            durationMs: 40,
            diff: EDIT_DIFF,
            isTold: true,
            consent: daemonTexts.forSession,
          },
          {
            ...commandRow,
            state: "failed",
            at: 39,
            summary: "exit code 1",
            durationMs: 4_200,
            output: "1 failed, 40 passed",
          },
          {
            ...commandRow,
            id: "c9",
            title: "Run rm -rf build",
            state: "declined",
            at: 39,
            consent: daemonTexts.saidNo,
          },
        ],
      },
      { work: { ...baseState.work, changes: CHANGED, tasks: TASKS } },
    ),
    stopping: answering({ state: "stopping", since: now }, { job: { ...turn, stoppingSince: now } }),
    stopped: answering({ state: "stopped" }, {}),
    failed: answering(
      {
        state: "failed",
        text: "",
        error: faultView("modelUnavailable", daemonTexts.serviceFailed, daemonTexts.later, { turnId: "t2" }),
      },
      {},
    ),
    overloaded: answering(
      {
        state: "failed",
        text: "",
        error: faultView("modelUnavailable", daemonTexts.overloaded, daemonTexts.later, {
          turnId: "t2",
          now,
          waits: 24_000,
        }),
      },
      {},
    ),
    blocked: answering(
      {
        state: "blocked",
        text: "",
        finishReason: "SAFETY",
        error: faultView("blocked", daemonTexts.blocked, daemonTexts.sayOtherwise, { turnId: "t2" }),
      },
      {},
    ),
    overflow: answering(
      {
        state: "failed",
        text: "",
        error: failure("contextOverflow", daemonTexts.full, "", [
          { id: "compress", label: "Compress" },
          { id: "newSession", label: "New Chat" },
        ]),
      },
      {},
    ),
    queued: answering(
      {},
      {
        job: turn,
        queue: [
          { id: "q1", text: "now the tests for the parser" },
          {
            id: "q2",
            text: "and then a changelog entry that says what changed for people who use the tokenizer directly",
          },
        ],
      },
    ),
    pictures: show(
      {
        job: turn,
        queue: [{ id: "q1", text: "and with this one?", pictures: [screenshot] }],
      },
      [
        ...done,
        { ...nextPrompt, text: "What does the build complain about?", pictures: [screenshot, photo] },
        { ...nextAnswer, text: "It cannot find the module.", state: "streaming" },
      ],
    ),
    compressing: compressing(
      { state: "running", phase: "verifying", startedAt: now - 12_000 },
      { job: { kind: "compression", id: "k1" } },
    ),
    compressed: show(
      {
        canUndo: true,
        hidden: [{ from: 0, to: 1, compressionId: "k1", turns: 38 }],
        meter: { used: 96_120, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "auto" },
      },
      [
        { ...prompt, hiddenBy: "k1" },
        { ...answer, hiddenBy: "k1" },
        divider,
        nextPrompt,
        { ...nextAnswer, state: "done" },
      ],
    ),
    notCompressed: compressing({
      state: "unchanged",
      result: {
        ...result,
        status: "NOOP",
        message: daemonTexts.nothing,
      },
    }),
    preview: compressing({
      state: "preview",
      result: { ...result, status: "PREVIEW", message: daemonTexts.preview },
      hiddenTurns: 38,
    }),
    previewOutdated: compressing({
      state: "outdated",
      result: { ...result, status: "PREVIEW", message: daemonTexts.preview },
    }),
    previewDiscarded: compressing({ state: "discarded" }),
    undoWaits: show({ job: turn }, [
      { ...prompt, hiddenBy: "k1" },
      { ...answer, hiddenBy: "k1" },
      { ...divider, undoWaits: true },
      nextPrompt,
      nextAnswer,
    ]),
    undone: compressing({ state: "undone", result: { ...result, status: "UNDONE" } }),
    truncated: compressing({
      state: "truncated",
      result: { ...result, status: "CONTENT_TRUNCATED", newTokenCount: 402_110 },
    }),
    ruleKept: show({}, [{ ...ruledPrompt, rules: [rule] }, answer]),
    ruleProposed: show({ rules: { inForce: 2, proposed: 1 } }, [
      {
        ...ruledPrompt,
        rules: [
          { ...rule, state: "proposed" },
          { ...rule, constraintId: "n5", text: "run the tests first", state: "released" },
        ],
      },
      answer,
    ]),
    rulesOpen: [
      ...show({ rules: { inForce: 2, proposed: 1 } }),
      { type: "command", rev: 2, command: { do: "openRules" } },
    ],
    keptOpen: [
      ...show({ rules: { inForce: 2, proposed: 0 } }),
      { type: "command", rev: 2, command: { do: "openKept" } },
    ],
    statisticsOpen: [...show({}), { type: "command", rev: 2, command: { do: "openStatistics" } }],
    skillsOpen: [...show({}), { type: "command", rev: 2, command: { do: "openSkills" } }],
    serversOpen: [...show({}), { type: "command", rev: 2, command: { do: "openServers" } }],
    memoryOpen: [...show({}), { type: "command", rev: 2, command: { do: "openMemory" } }],
    lowRetention: compressing({
      state: "unchanged",
      result: {
        ...result,
        status: "COMPRESSION_FAILED_LOW_RETENTION",
        message: daemonTexts.lowRetention,
        retention: { ...retention, score: 0.34, kept: 17, appended: 0 },
      },
    }),
    compressionDue: show({
      meter: { used: 530_210, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "remind" },
      banner: {
        ...failure("compressionDue", "This chat is long enough to be compressed.", daemonTexts.worthIt, [
          { id: "compress", label: "Compress" },
          { id: "remindLater", label: "Later" },
        ]),
        level: "info",
      },
    }),
    reminderOpen: [
      ...show({ meter: { used: 412_310, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "remind" } }),
      { type: "command", rev: 2, command: { do: "openMeter" } },
    ],
    ownModel: show({ isLocal: true, localModel: "local:qwen2.5-0.5b-instruct" }),
    recalled: [...show({}), { type: "command", rev: 2, command: { do: "openSessions", query: "flush buffer" } }],
    placeShown: [
      ...show({ hidden: [{ from: 0, to: 1, compressionId: "k1", turns: 1 }], canUndo: true }, [
        { ...prompt, hiddenBy: "k1" },
        { ...answer, hiddenBy: "k1" },
        divider,
        nextPrompt,
        { ...nextAnswer, state: "done" },
      ]),
      {
        type: "command",
        rev: 2,
        command: { do: "showPlace", row: 1, rowId: "a:t1", start: answer.text.indexOf("whatever"), length: 22 },
      },
    ],
    daemonLost: show({ daemon: { kind: "lost", attempt: 2, retryAt: now + 8_000 } }),
    serviceDown: show({
      banner: {
        ...faultView("modelUnavailable", daemonTexts.unreachable, daemonTexts.network, { now, waits: 15_000 }),
        level: "error",
      },
    }),
    offline: show(produced({ models: OFFLINE, knowsOffline: true })),
    readOnly: show({ session: { sessionId: "s1", title: "Fix the tokenizer", heldBy: 4711 }, chips: [] }),
    chipsOut: show({
      chips: [
        {
          uri: "file:///ws/src/tokenizer.py",
          label: "tokenizer.py:80-94",
          detail: "src/tokenizer.py",
          isActive: true,
          included: true,
        },
        {
          uri: "file:///ws/src/parser.py",
          label: "parser.py",
          detail: "src/parser.py",
          isActive: false,
          included: false,
        },
        {
          uri: "file:///ws/secrets.env",
          label: "secrets.env",
          detail: "secrets.env",
          isActive: false,
          included: true,
          withheld: daemonTexts.secret,
        },
        { uri: "file:///ws/a.py", label: "a.py", detail: "a.py", isActive: false, included: true },
        { uri: "file:///ws/b.py", label: "b.py", detail: "b.py", isActive: false, included: true },
        { uri: "file:///ws/c.py", label: "c.py", detail: "c.py", isActive: false, included: true },
        { uri: "file:///ws/d.py", label: "d.py", detail: "d.py", isActive: false, included: true },
      ],
    }),
    toolRulesOpen: [...show({}), { type: "command", rev: 2, command: { do: "openToolRules" } }],
    modeOpen: [...show({}), { type: "command", rev: 2, command: { do: "openMode" } }],
    interrupted: show({}, [
      prompt,
      {
        ...answer,
        state: "failed",
        tools: lookedAt,
        canGoOn: true,
        error: failure(
          "unfinished",
          "The answer was interrupted.",
          "What was done so far is kept. Gemini can go on from there.",
          [],
        ),
      },
    ]),
    stoppedUnfinished: show({}, [prompt, { ...answer, state: "stopped", canGoOn: true }]),
    roundsUsedUp: show({}, [prompt, { ...answer, finishReason: "maxToolRounds", canGoOn: true }]),
    outputsMasked: show({}, [
      prompt,
      {
        kind: "notice",
        id: "m:t1",
        version: 3,
        level: "info",
        text: "12 old outputs are hidden from Gemini, which frees 31,204 tokens. Nothing is lost: you see them above, and Gemini can recall each one whole.",
        actions: [],
        time: afternoon,
      },
      answer,
    ]),
    findOpen: [...show({}), { type: "command", rev: 2, command: { do: "find" } }],
    meterOpen: [...show({}), { type: "command", rev: 2, command: { do: "openMeter" } }],
    sessionsOpen: [...show({}), { type: "command", rev: 2, command: { do: "openSessions" } }],
  } satisfies Record<string, ToPage[]>;
}

export type FixtureName = keyof ReturnType<typeof makeFixtures>;

/** The states with countdowns that start when this module is loaded. */
export const fixtures: Readonly<Record<FixtureName, readonly ToPage[]>> = makeFixtures(Date.now());
