/**
 * The states of the panel, as messages of the host: what the page is to be posted, in order. The screenshots, the accessibility runs and
 * the unit tests of the page all show these.
 */
import type {
  AnswerRow,
  DividerRow,
  ErrorView,
  PageResults,
  PanelState,
  PromptRow,
  Row,
  ToPage,
} from "../../src/panel/contract.js";
import { CHANGED, TASKS, commandAsked, commandRow, editAsked, editRow, lookedAt, personAsked } from "./toolRows.js";
import { retryableTurn } from "../../src/chat/pure/retrying.js";
import type { CompressionResult, Constraint } from "../../src/protocol.gen.js";

/** A Wednesday afternoon; rows have this day's times, so that pictures do not change with the clock. */
const afternoon = Date.UTC(2026, 2, 11, 13, 2);

export const baseState: PanelState = {
  daemon: { kind: "ready", version: "1.0.0" },
  trusted: true,
  isLocal: false,
  providerHint: "",
  session: { sessionId: "s1", title: "Fix the tokenizer" },
  job: { kind: "idle" },
  meter: { used: 412_310, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "auto" },
  chips: [
    {
      uri: "file:///ws/src/tokenizer.py",
      label: "tokenizer.py:80-94",
      detail: "src/tokenizer.py",
      isActive: true,
      included: true,
    },
    { uri: "file:///ws/src/parser.py", label: "parser.py", detail: "src/parser.py", isActive: false, included: true },
  ],
  rules: { inForce: 2, proposed: 0 },
  queue: [],
  work: {
    mode: "ask",
    tasks: [],
    changes: { files: [], added: 0, removed: 0, note: "" },
    questions: 0,
    canSteer: false,
  },
  models: {
    current: "gemini-3-pro",
    list: [
      { name: "gemini-3-pro", tokenLimit: 1_048_576, description: "Strongest at code" },
      { name: "gemini-3-flash", tokenLimit: 1_048_576, description: "Quick answers" },
      { name: "offline", tokenLimit: 32_768, description: "Answers from your files, without a network" },
    ],
  },
  hidden: [],
  canUndo: false,
  examples: [
    "Explain tokenizer.py step by step",
    "Which tests does tokenizer.py still need?",
    "Find what could go wrong in lines 80 to 94",
  ],
  settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
};

const prompt: PromptRow = {
  kind: "prompt",
  id: "p:t1",
  version: 1,
  time: afternoon,
  turnId: "t1",
  text: "Why does the tokenizer drop the last line?",
  receipt: {
    kind: "full",
    files: ["src/tokenizer.py", "src/parser.py"],
    selectionChars: 412,
    withheld: [{ name: "secrets.env", reason: "its name says that it holds secrets" }],
    mentioned: [],
  },
};

const answer: AnswerRow = {
  kind: "answer",
  id: "a:t1",
  version: 1,
  time: afternoon + 9_000,
  turnId: "t1",
  model: "gemini-3-pro",
  state: "done",
  text: [
    "The loop ends **before** `flush()` is called, so whatever is still in the buffer is lost.",
    "",
    "```python",
    "def tokens(self):",
    "    for line in self.lines:",
    "        yield from self.feed(line)",
    "    yield from self.flush()  # the last line",
    "```",
    "",
    "Two things follow from this:",
    "",
    "1. A file *without* a final newline loses its last token.",
    "2. An empty file is not affected.",
  ].join("\n"),
  thoughts: "The buffer is only written when a newline comes. So the end of the file needs a flush of its own.",
  thoughtMs: 6_000,
  tools: [
    {
      id: "c1",
      name: "read_file",
      kind: "read",
      title: "Read src/tokenizer.py",
      state: "ok",
      at: 0,
      args: '{"file_path": "src/tokenizer.py"}',
      output: "class Tokenizer:",
      summary: "220 lines",
      durationMs: 12,
      href: "src/tokenizer.py",
    },
  ],
  usage: { promptTokens: 9_870, cachedTokens: 4_096, thoughtTokens: 210, outputTokens: 1_204, totalTokens: 11_284 },
  durationMs: 9_000,
  finishReason: "STOP",
  attempt: 1,
};

const nextPrompt: PromptRow = {
  kind: "prompt",
  id: "p:t2",
  version: 1,
  time: afternoon + 60_000,
  turnId: "t2",
  text: "Write a test that fails without the fix.",
};
const nextAnswer: AnswerRow = {
  kind: "answer",
  id: "a:t2",
  version: 1,
  turnId: "t2",
  model: "gemini-3-pro",
  state: "streaming",
  text: 'Here is a test that fails today, since the last token never comes:\n\n```python\ndef test_last_line_without_newline():\n    assert list(Tokenizer("a\\nb").tokens())',
  thoughts: "",
  tools: [],
  attempt: 1,
};
const turn = { kind: "turn", id: "t2" } as const;

const retention: NonNullable<CompressionResult["retention"]> = {
  score: 0.94,
  facts: 50,
  kept: 47,
  repaired: 0,
  missing: [
    { kind: "directive", text: "Run make lint before a commit." },
    { kind: "path", text: "tests/data/empty.txt" },
    { kind: "path", text: "tests/data/crlf.txt" },
  ],
  appended: 2,
  unsupported: [{ kind: "path", text: "src/lexer.py" }],
};

const result: CompressionResult = {
  status: "COMPRESSED",
  trigger: "manual",
  originalTokenCount: 812_340,
  newTokenCount: 96_120,
  tokenCountSource: "api",
  modelCalls: 3,
  durationMs: 14_200,
  message: "38 turns were folded into a snapshot.",
  compressionId: "k1",
  snapshot: "<state_snapshot>…</state_snapshot>",
  retention,
  appendix: "Rules\n- Never change the public names of the tokenizer.\nFiles\n- src/tokenizer.py",
  strategy: "split",
};
const divider: DividerRow = {
  kind: "divider",
  id: "c:k1",
  version: 1,
  time: afternoon + 30_000,
  compressionId: "k1",
  state: "compressed",
  trigger: "manual",
  result,
  hiddenTurns: 38,
  canUndo: true,
};

const rule: Constraint = {
  constraintId: "n3",
  text: "never touch generated/",
  scope: "session",
  state: "inForce",
  createdAt: afternoon,
  turnId: "t1",
  source: "prompt",
};
const ruledPrompt: PromptRow = {
  ...prompt,
  text: "Never touch generated/. Why does the tokenizer drop the last line?",
};

const done: readonly Row[] = [prompt, answer];

function failure(
  kind: string,
  message: string,
  hint: string,
  actions: ErrorView["actions"],
  retryAt?: number,
): ErrorView {
  return {
    kind,
    message,
    hint,
    retryable: retryAt !== undefined,
    actions,
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

function show(change: Partial<PanelState>, rows: readonly Row[] = done): ToPage[] {
  const state = { ...baseState, ...change };
  const retryTurn = state.session?.heldBy === undefined ? retryableTurn(rows, state.job) : undefined;
  return [
    {
      type: "sync",
      rev: 1,
      state: { ...state, ...(retryTurn === undefined ? {} : { retryTurn }) },
      total: rows.length,
      from: 0,
      rows,
      strings: {},
    },
  ];
}

function answering(change: Partial<AnswerRow>, state: Partial<PanelState> = { job: turn }): ToPage[] {
  return show(state, [...done, nextPrompt, { ...nextAnswer, ...change }]);
}

function compressing(change: Partial<DividerRow>, state: Partial<PanelState> = {}): ToPage[] {
  const { result: _result, canUndo: _canUndo, hiddenTurns: _hiddenTurns, ...bare } = divider;
  return show(state, [...done, { ...bare, ...change }]);
}

/** The states by name; `now` (Unix milliseconds) is what countdowns and elapsed times start from. */
export function makeFixtures(now: number) {
  const withoutSession = (change: Partial<PanelState>): ToPage[] => {
    const { session: _session, meter: _meter, ...rest } = baseState;
    return [
      {
        type: "sync",
        rev: 1,
        state: { ...rest, rules: { inForce: 0, proposed: 0 }, ...change },
        total: 0,
        from: 0,
        rows: [],
        strings: {},
      },
    ];
  };
  return {
    starting: withoutSession({
      daemon: { kind: "starting", detail: "Setting up the private Python environment. This happens once." },
      chips: [],
    }),
    noPython: withoutSession({
      chips: [],
      daemon: {
        kind: "failed",
        reason: "noPython",
        error: failure(
          "daemon",
          "No Python 3.11 or newer was found on this machine.",
          "Install Python, or choose one that is not on the path.",
          [
            { id: "choosePython", label: "Choose Python…" },
            { id: "restartDaemon", label: "Try Again" },
            { id: "showLog", label: "Show Log" },
          ],
        ),
      },
    }),
    versionMismatch: withoutSession({
      chips: [],
      daemon: {
        kind: "failed",
        reason: "versionMismatch",
        error: failure(
          "daemon",
          "The daemon speaks protocol 2, this extension speaks 1.",
          "Update the extension, or point the setting at a daemon that fits.",
          [
            { id: "installUpdate", label: "Update" },
            { id: "openSettings", label: "Open Settings" },
          ],
        ),
      },
    }),
    crashed: show({
      daemon: {
        kind: "failed",
        reason: "crashed",
        error: failure(
          "daemon",
          "The daemon ended five times within three minutes.",
          "The log says why. Your chat is kept.",
          [
            { id: "restartDaemon", label: "Restart" },
            { id: "showLog", label: "Show Log" },
          ],
        ),
      },
    }),
    noKey: withoutSession({
      isLocal: true,
      providerHint: "No API key is set, so the offline model answers: from your files, without a network.",
      banner: {
        ...failure("unauthenticated", "The offline model answers.", "Set an API key to ask Gemini.", [
          { id: "setApiKey", label: "Set API Key" },
        ]),
        level: "info",
      },
    }),
    keyRefused: show({
      banner: {
        ...failure("unauthenticated", "The API key was refused.", "Check the key, or make a new one.", [
          { id: "setApiKey", label: "Set API Key" },
          { id: "useOffline", label: "Use the Offline Model" },
        ]),
        level: "error",
      },
    }),
    untrusted: withoutSession({ trusted: false, chips: [] }),
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
          { ...editRow, state: "ok", at: 39, summary: "+3 −1", durationMs: 40, consent: "Yes for this chat" },
          {
            ...commandRow,
            state: "failed",
            at: 39,
            summary: "exit code 1",
            durationMs: 4_200,
            output: "1 failed, 40 passed",
          },
          { ...commandRow, id: "c9", title: "Run rm -rf build", state: "declined", at: 39, consent: "A rule says no" },
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
        error: failure("failed", "The service answered with an error.", "Try again; if it goes on, look at the log.", [
          { id: "retry", label: "Retry", argument: "t2" },
        ]),
      },
      {},
    ),
    overloaded: answering(
      {
        state: "failed",
        text: "",
        error: failure(
          "overloaded",
          "The service is overloaded.",
          "It asked for a pause.",
          [{ id: "retry", label: "Retry", argument: "t2" }],
          now + 24_000,
        ),
      },
      {},
    ),
    blocked: answering(
      {
        state: "blocked",
        text: "",
        finishReason: "SAFETY",
        error: failure("blocked", "The service blocked the answer.", "Put the question in other words.", []),
      },
      {},
    ),
    overflow: answering(
      {
        state: "failed",
        text: "",
        error: failure(
          "contextOverflow",
          "The prompt does not fit: it needs 1,102,400 tokens, 52,000 are free.",
          "Compress the chat, or send less.",
          [{ id: "compress", label: "Compress" }],
        ),
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
        message: "There is nothing to fold yet: the newest turns are kept as they are.",
      },
    }),
    preview: compressing({ state: "preview", result: { ...result, status: "PREVIEW" }, hiddenTurns: 38 }),
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
    memoryOpen: [...show({}), { type: "command", rev: 2, command: { do: "openMemory" } }],
    lowRetention: compressing({
      state: "unchanged",
      result: {
        ...result,
        status: "COMPRESSION_FAILED_LOW_RETENTION",
        message: "Not compressed: the snapshot kept too little of what matters.",
        retention: { ...retention, score: 0.34, kept: 17, appended: 0 },
      },
    }),
    compressionDue: show({
      meter: { used: 530_210, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "remind" },
      banner: {
        ...failure(
          "compressionDue",
          "This chat is long enough to be compressed.",
          "It would save 290,100 tokens with each of the next 12 turns.",
          [
            { id: "compress", label: "Compress" },
            { id: "remindLater", label: "Later" },
          ],
        ),
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
        ...failure(
          "modelUnavailable",
          "The service cannot be reached.",
          "Check the network; the next try comes by itself.",
          [{ id: "retry", label: "Retry Now" }],
          now + 15_000,
        ),
        level: "warning",
      },
    }),
    offline: show({ isLocal: true, providerHint: "The offline model was chosen: it answers from your files." }),
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
          withheld: "its name says that it holds secrets",
        },
        { uri: "file:///ws/a.py", label: "a.py", detail: "a.py", isActive: false, included: true },
        { uri: "file:///ws/b.py", label: "b.py", detail: "b.py", isActive: false, included: true },
        { uri: "file:///ws/c.py", label: "c.py", detail: "c.py", isActive: false, included: true },
        { uri: "file:///ws/d.py", label: "d.py", detail: "d.py", isActive: false, included: true },
      ],
    }),
    findOpen: [...show({}), { type: "command", rev: 2, command: { do: "find" } }],
    meterOpen: [...show({}), { type: "command", rev: 2, command: { do: "openMeter" } }],
    sessionsOpen: [...show({}), { type: "command", rev: 2, command: { do: "openSessions" } }],
  } satisfies Record<string, ToPage[]>;
}

export type FixtureName = keyof ReturnType<typeof makeFixtures>;

/** The states with countdowns that start when this module is loaded. */
export const fixtures: Readonly<Record<FixtureName, readonly ToPage[]>> = makeFixtures(Date.now());

const day = 86_400_000;

/** What the host answers to the page's questions in these states, by question. */
export const answers: PageResults = {
  rows: { from: 0, rows: done },
  files: {
    files: [
      { path: "src/tokenizer.py", label: "tokenizer.py" },
      { path: "tests/test_tokenizer.py", label: "test_tokenizer.py" },
      { path: "docs/token grammar.md", label: "token grammar.md" },
    ],
  },
  check: { mentions: [] },
  sessions: {
    sessions: [
      {
        sessionId: "s1",
        title: "Fix the tokenizer",
        model: "gemini-3-pro",
        createdAt: afternoon - day,
        updatedAt: afternoon,
        turns: 41,
        tokenCount: 412_310,
        workspaceFolders: [],
      },
      {
        sessionId: "s2",
        title: "Changelog for the next release and what it should say about the parser",
        model: "gemini-3-pro",
        createdAt: afternoon - 2 * day,
        updatedAt: afternoon - day,
        turns: 6,
        tokenCount: 18_204,
        workspaceFolders: [],
      },
      {
        sessionId: "s3",
        title: "Speed of the import",
        model: "gemini-3-flash",
        createdAt: afternoon - 40 * day,
        updatedAt: afternoon - 38 * day,
        turns: 1,
        tokenCount: 2_310,
        workspaceFolders: [],
        heldBy: 4711,
      },
    ],
    nextCursor: "s3",
  },
  context: {
    sessionId: "s1",
    model: "gemini-3-pro",
    tokenCount: 412_310,
    tokenCountSource: "api",
    tokenLimit: 1_048_576,
    byPart: {
      systemInstruction: 4_120,
      tools: 2_880,
      environment: 1_904,
      memory: 6_310,
      ideContext: 18_220,
      snapshot: 95_000,
      constraints: 1_120,
      messages: 231_556,
      toolOutputs: 51_200,
    },
    free: 636_266,
    threshold: 0.5,
    tokensUntilCompression: 111_978,
    compressionAt: 524_288,
  },
  stats: {
    sessionId: "s1",
    turns: 41,
    calls: 58,
    promptTokens: 4_402_118,
    cachedTokens: 3_120_004,
    thoughtTokens: 21_300,
    outputTokens: 98_700,
    compressions: 2,
    tokensSaved: 716_220,
  },
  rules: {
    constraints: [
      {
        constraintId: "n1",
        text: "Never change the public names of the tokenizer: two other teams import them.",
        scope: "project",
        state: "inForce",
        createdAt: afternoon,
        source: "client",
      },
      {
        constraintId: "n2",
        text: "Python 3.11 is the oldest version that has to work.",
        scope: "session",
        state: "inForce",
        createdAt: afternoon,
        turnId: "t1",
        source: "pin",
      },
      {
        constraintId: "n3",
        text: "Run the tests before you say that something works.",
        scope: "session",
        state: "proposed",
        createdAt: afternoon,
        turnId: "t1",
        source: "prompt",
      },
      {
        constraintId: "n4",
        text: "Answer in German.",
        scope: "session",
        state: "released",
        createdAt: afternoon,
        turnId: "t1",
        source: "prompt",
      },
    ],
  },
  memory: {
    files: [
      { path: "/home/me/.gemini/GEMINI.md", scope: "global", tokenCount: 412, imports: [] },
      { path: "/home/me/.gemini/extensions/lint/GEMINI.md", scope: "extension", tokenCount: 96, imports: [] },
      {
        path: "/home/me/tokens/GEMINI.md",
        scope: "project",
        tokenCount: 5_802,
        imports: ["/home/me/tokens/docs/style.md", "/home/me/tokens/docs/names.md"],
        problem: "./docs/gone.md: there is no such file",
      },
      { path: "/home/me/tokens/src/grammar/AGENTS.md", scope: "subdirectory", tokenCount: 1_020, imports: [] },
    ],
    tokenCount: 6_310,
  },
  addMemory: { path: "/home/me/tokens/GEMINI.md", diff: "+- Tests run with make test." },
  setRule: {
    constraintId: "n3",
    text: "Run the tests before you say that something works.",
    scope: "session",
    state: "inForce",
    createdAt: afternoon,
    turnId: "t1",
    source: "prompt",
  },
  recall: {
    hits: [
      {
        sessionId: "s2",
        sessionTitle: "Changelog for the next release and what it should say about the parser",
        turnId: "t7",
        entryId: "e7",
        role: "user",
        time: afternoon - day,
        text: "The tokenizer flushes its buffer at the end of the file since version 1.4, so the changelog has to say that the last line is not lost any more.",
        score: 4.2,
        isHidden: true,
      },
      {
        sessionId: "s1",
        sessionTitle: "Fix the tokenizer",
        turnId: "t1",
        entryId: "e1",
        role: "model",
        time: afternoon,
        text: "The loop ends before flush() is called, so whatever is still in the buffer is lost.",
        score: 3.1,
      },
    ],
  },
  verdict: {
    isWorthIt: false,
    savedPerTurn: 290_100,
    summaryTokens: 420_000,
    lostCacheTokens: 96_120,
    expectedTurns: 1.6,
    netTokens: -51_960,
    message: "Not worth it yet: a compression would cost more than the next 2 turns save.",
  },
  find: {
    matches: [
      { row: 0, rowId: "p:t1", start: 13, length: 9 },
      { row: 1, rowId: "a:t1", start: 4, length: 4 },
    ],
  },
  prompts: { prompts: ["Why does the tokenizer drop the last line?", "Explain the parser\nin three sentences"] },
  compressions: {
    compressions: [
      {
        compressionId: "k1",
        status: "COMPRESSED",
        trigger: "manual",
        time: afternoon,
        originalTokenCount: 812_340,
        newTokenCount: 96_120,
        state: "inForce",
      },
    ],
  },
};
