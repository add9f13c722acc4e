/** Calls of tools as the panel shows them. */
import daemonTexts from "./daemonTexts.json" with { type: "json" };
import type { PanelState, ToolRow } from "../../src/panel/contract.js";

function read(path: string, at: number): ToolRow {
  return {
    id: `r${at}`,
    name: "read_file",
    kind: "read",
    title: `Read ${path}`,
    state: "ok",
    at: 0,
    args: "",
    output: "",
    summary: "120 lines",
    durationMs: 20,
    href: path,
  };
}

export const lookedAt = [
  read("src/tokenizer.py", 0),
  read("src/parser.py", 1),
  read("tests/test_tokenizer.py", 2),
] as const;

export const commandRow: ToolRow = {
  id: "c3",
  name: "run_shell_command",
  kind: "command",
  title: "Run pytest -q tests && rm -rf build",
  state: "waiting",
  at: 0,
  args: "",
  output: "",
};
export const commandAsked: ToolRow = {
  ...commandRow,
  question: {
    isOurs: true,
    risk: "command",
    command: "pytest -q tests && rm -rf build",
    parts: [
      { text: "pytest -q tests", decision: "allow" },
      { text: "rm -rf build", decision: "ask", reason: daemonTexts.noRule },
    ],
    cwd: "/ws",
    sandbox: daemonTexts.sandbox,
    mode: "ask",
    reason: daemonTexts.noRule,
    warnings: [],
    irreversible: daemonTexts.irreversible,
    hasText: false,
    editable: { what: "command", text: "pytest -q tests && rm -rf build" },
    rule: { tool: "run_shell_command", decision: "allow", command: ["pytest", "-q"] },
    ruleText: daemonTexts.allowPytest,
  },
};
export const EDIT_DIFF =
  "--- a/tests/test_tokenizer.py\n+++ b/tests/test_tokenizer.py\n@@ -10,3 +10,4 @@\n def test_lines():\n-    assert False\n+    tokens = Tokenizer(text).tokens()\n+    assert list(tokens)\n";
export const editRow: ToolRow = {
  id: "c2",
  name: "replace",
  kind: "edit",
  title: "Edit tests/test_tokenizer.py",
  state: "waiting",
  at: 0,
  args: "",
  output: "",
  href: "tests/test_tokenizer.py",
};
export const editAsked: ToolRow = {
  ...editRow,
  question: {
    isOurs: true,
    risk: "edit",
    parts: [],
    sandbox: "",
    mode: "ask",
    reason: "",
    warnings: [],
    irreversible: "",
    diff: EDIT_DIFF,
    hasText: true,
    rule: { tool: "replace", decision: "allow", path: "tests/**" },
    ruleText: daemonTexts.allowTests,
  },
};
export const personAsked: ToolRow = {
  id: "c4",
  name: "ask_user",
  kind: "question",
  title: "Ask Which one?",
  state: "waiting",
  at: 18,
  args: "{}",
  output: "",
  asks: {
    isOurs: true,
    question: "Shall the tokenizer flush at the end of the file, or with each line?",
    options: ["At the end", "With each line"],
    allowsText: true,
  },
};

export const TASKS: PanelState["work"]["tasks"] = [
  { description: "Read the tokenizer", status: "completed" },
  { description: "Flush the buffer at the end", status: "in_progress" },
  { description: "Write a test", status: "pending" },
];
export const CHANGED: PanelState["work"]["changes"] = {
  files: [
    {
      path: "/ws/src/tokenizer.py",
      label: "src/tokenizer.py",
      kind: "changed",
      added: 12,
      removed: 7,
      canRevert: true,
      note: "",
    },
    {
      path: "/ws/tests/test_flush.py",
      label: "tests/test_flush.py",
      kind: "created",
      added: 29,
      removed: 0,
      canRevert: true,
      note: "",
    },
    {
      path: "/ws/build/out.txt",
      label: "build/out.txt",
      kind: "changed",
      added: 0,
      removed: 0,
      canRevert: false,
      note: daemonTexts.notKept,
    },
  ],
  added: 41,
  removed: 7,
  note: "",
};
