/** What the host answers to the page's questions in the states of `fixtures`. */
import type { PageResults } from "../../src/panel/contract.js";
import { afternoon, done } from "./chatRows.js";
import { serverAnswers } from "./serverAnswers.js";
import { stats } from "./statsAnswer.js";

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
        size: 1_840_000,
        leavesAt: afternoon + 36 * day,
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
        size: 24_500,
        isKept: true,
        heldBy: 4711,
      },
    ],
    nextCursor: "s3",
  },
  keep: {
    sessionId: "s2",
    title: "Changelog for the next release and what it should say about the parser",
    model: "gemini-3-pro",
    createdAt: afternoon - 2 * day,
    updatedAt: afternoon - day,
    turns: 6,
    tokenCount: 18_204,
    workspaceFolders: [],
    isKept: true,
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
  stats,
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
  toolRules: {
    rules: [
      {
        rule: { tool: "*", decision: "deny", path: "secrets/**" },
        source: "workspace",
        text: "Never any tool on secrets/**",
      },
      { rule: { tool: "web_fetch", decision: "ask" }, source: "default", text: "Ask before web_fetch" },
      {
        rule: { tool: "run_shell_command", decision: "allow", command: ["pytest", "-q"] },
        source: "session",
        ruleId: "rule-1",
        text: "Allow run_shell_command: pytest -q …",
      },
      {
        rule: { tool: "replace", decision: "allow", path: "/tests/**" },
        source: "user",
        ruleId: "user-1",
        text: "Allow replace on /tests/**",
      },
    ],
  },
  revokeToolRule: {
    rules: [{ rule: { tool: "web_fetch", decision: "ask" }, source: "default", text: "Ask before web_fetch" }],
  },
  commands: {
    commands: [
      { name: "compress", description: "Compress the chat", scope: "builtIn", hint: "guidance" },
      {
        name: "git:review",
        description: "Review what I name",
        scope: "workspace",
        hint: "arguments",
        runsCommands: true,
        path: "/home/me/tokens/.gemini/commands/git/review.toml",
      },
      { name: "hello", description: "Say hello", scope: "user", path: "/home/me/.gemini/commands/hello.toml" },
    ],
    problems: [],
  },
  skills: {
    skills: [
      {
        name: "grammar-tables",
        description: "How the grammar's tables are built and checked. Use it before you change one.",
        scope: "workspace",
        path: "/home/me/tokens/.gemini/skills/grammar-tables/SKILL.md",
        isEnabled: true,
      },
      {
        name: "letters",
        description: "How I write letters",
        scope: "user",
        path: "/home/me/.agents/skills/letters/SKILL.md",
        isEnabled: false,
      },
    ],
    problems: [
      { path: "/home/me/.gemini/skills/draft/SKILL.md", line: 1, message: "its front matter has no description" },
    ],
    isEnabled: true,
    tokenCount: 118,
  },
  enableSkill: { skills: [], problems: [], isEnabled: true, tokenCount: 0 },
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
  ...serverAnswers,
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
