/** Calls of tools: the same rows from events and from the transcript. */
import { describe, expect, it } from "vitest";
import type { CompanionEvent, HistoryItem, ToolQuestion, Usage } from "../../../src/protocol.gen.js";
import { rowsOf } from "../../../src/chat/pure/history.js";
import { SHOWN_OUTPUT, toolRow } from "../../../src/chat/pure/toolRows.js";
import { english } from "../../../src/chat/pure/words.js";
import type { ToolRow } from "../../../src/panel/contract.js";
import { content, ScriptedEvents, USAGE } from "./scriptedEvents.js";

const READ = { file_path: "src/a.py", start_line: 7 };
const COMMAND = { command: "make test\nmake lint" };

const QUESTION: ToolQuestion = {
  sessionId: "s",
  turnId: "t1",
  toolCallId: "c2",
  name: "run_shell_command",
  args: COMMAND,
  title: "Run make",
  risk: "command",
  command: COMMAND.command,
};

function started(id: string, name: string, args: object, state: "waiting" | "running" = "running"): CompanionEvent {
  return { type: "toolCallStarted", toolCallId: id, name, args: { ...args }, state };
}

function ended(id: string, outcome: ToolRow["state"] = "ok", summary = ""): CompanionEvent {
  if (outcome === "waiting" || outcome === "running") throw new Error("no outcome");
  return { type: "toolCallCompleted", toolCallId: id, outcome, summary, durationMs: 5, consent: "" };
}

/** One turn of two rounds: a read, then a command that is asked about. */
function played(): ScriptedEvents {
  return new ScriptedEvents()
    .started("t1", "Test it.")
    .event({ type: "messageDelta", text: "I look.", attempt: 1 }, "t1")
    .event(started("c1", "read_file", READ), "t1")
    .event(ended("c1", "ok", "40 lines"), "t1")
    .event({ type: "messageDelta", text: "Now the tests.", attempt: 1 }, "t1")
    .event(started("c2", "run_shell_command", COMMAND, "waiting"), "t1");
}

function tools(events: ScriptedEvents): readonly ToolRow[] {
  return events.chat.answer("t1")?.tools ?? [];
}

function call(name: string, args: object, id?: string): object {
  return { functionCall: { name, args, ...(id === undefined ? {} : { id }) } };
}

function item(kind: string, parts: readonly object[], more: Partial<HistoryItem> = {}): HistoryItem {
  return { ...content(kind, "t1", ""), parts: parts.map((part) => ({ ...part })), ...more };
}

describe("the calls of tools", () => {
  it("stand where they were called, and a new round begins a paragraph", () => {
    const events = played();
    expect(events.chat.answer("t1")?.text).toBe("I look.\n\nNow the tests.");
    expect(tools(events).map(({ id, at, state, title, href }) => ({ id, at, state, title, href }))).toEqual([
      { id: "c1", at: 7, state: "ok", title: "Read src/a.py", href: "src/a.py#L7" },
      { id: "c2", at: 23, state: "waiting", title: "Run make test …", href: undefined },
    ]);
  });

  it("are the same after the transcript is read anew", () => {
    const events = played()
      .event(started("c2", "run_shell_command", COMMAND), "t1")
      .event(ended("c2", "failed", "exit code 2"), "t1")
      .event({ type: "messageDelta", text: "It fails.", attempt: 1 }, "t1")
      .event({ type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 9 }, "t1");
    const items = [
      content("prompt", "t1", "Test it."),
      item("reply", [{ text: "I look." }, call("read_file", READ, "of the model")]),
      item("toolResult", [{ functionResponse: { id: "c1", name: "read_file", response: { output: "text" } } }], {
        calls: [{ callId: "c1", name: "read_file", outcome: "ok", summary: "40 lines", durationMs: 5 }],
      }),
      item("reply", [{ text: "Now the tests." }, call("run_shell_command", COMMAND)]),
      item("toolResult", [{ functionResponse: { name: "run_shell_command", response: { error: "exit code 2" } } }], {
        calls: [{ callId: "c2", name: "run_shell_command", outcome: "failed", summary: "exit code 2", durationMs: 5 }],
      }),
      item("reply", [{ text: "It fails." }]),
    ];
    const read = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english).at(-1);
    const live = events.chat.answer("t1");
    const bare = (row: ToolRow): object => ({ ...row, output: "", consent: undefined });
    if (read?.kind !== "answer") throw new Error("no answer");
    expect(read.text).toBe(live?.text);
    expect(read.tools.map(bare)).toEqual(live?.tools.map(bare));
    expect(read.tools.map(({ output }) => output)).toEqual(["", ""]); // what people see of it is asked for
  });

  it("without a result in the log were cut short", () => {
    const items = [content("prompt", "t1", "Go."), item("reply", [call("glob", { pattern: "*" })])];
    const row = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english).at(-1);
    expect(row?.kind === "answer" && row.tools[0]?.state).toBe("interrupted");
  });

  it("of two equal ones in a round get each its own result, by their order", () => {
    const glob = (pattern: string): object => call("glob", { pattern });
    const response = (output: string): object => ({ functionResponse: { name: "glob", response: { output } } });
    const items = [
      item("reply", [glob("a"), glob("b")]),
      item("toolResult", [response("1"), response("2")]),
      item("reply", [glob("c")]),
      item("toolResult", [response("3")]),
    ];
    const row = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english)[0];
    expect(row?.kind === "answer" && row.tools.map(({ output, state }) => `${output} ${state}`)).toEqual([
      "1 ok",
      "2 ok",
      "3 ok",
    ]);
  });

  it("carry the end of a long output, piece by piece, without sending the row again", () => {
    const events = played().event(started("c2", "run_shell_command", COMMAND), "t1");
    events.recorder.changes.length = 0;
    for (let line = 0; line < 100; line += 1)
      events.event({ type: "toolCallProgress", toolCallId: "c2", output: "x".repeat(1_000) }, "t1");
    expect(tools(events)[1]).toMatchObject({ isCut: true, output: "x".repeat(SHOWN_OUTPUT) });
    expect(events.recorder.changes).toHaveLength(100);
    expect(new Set(events.recorder.changes.map((change) => change.split(" ")[0]))).toEqual(new Set(["output"]));
  });

  it("end with their turn", () => {
    const events = played().event({ type: "turnCancelled", by: "me" }, "t1");
    expect(tools(events).map(({ state }) => state)).toEqual(["ok", "interrupted"]);
  });

  it("of finished rounds outlast an attempt that is discarded", () => {
    const events = played()
      .event(ended("c2"), "t1")
      .event({ type: "messageDelta", text: "All is", attempt: 1 }, "t1")
      .event({ type: "messageDiscarded", attempt: 1, reason: "empty" }, "t1");
    expect(events.chat.answer("t1")?.text).toBe("I look.\n\nNow the tests.");
    expect(tools(events)).toHaveLength(2);
    events.event({ type: "messageDelta", text: "All is well.", attempt: 2 }, "t1");
    expect(events.chat.answer("t1")?.text).toBe("I look.\n\nNow the tests.\n\nAll is well.");
  });

  it("run on in the background after their turn", () => {
    const running = { toolCallId: "c2", command: "make", cwd: "/w", startedAt: 0, state: "running" } as const;
    const events = played()
      .event(ended("c2", "ok", "runs in the background"), "t1")
      .event({ type: "commandsChanged", commands: [running] });
    expect(tools(events)[1]?.background).toBe("running");
    events.event({ type: "commandsChanged", commands: [{ ...running, state: "exited", exitCode: 0, output: "ok" }] });
    expect(tools(events)[1]).toMatchObject({ background: "exited", output: "ok", summary: "exit code 0" });
  });
});

it("a call is named by what it is about, whatever its arguments are", () => {
  const titles = (name: string, args: object): string =>
    toolRow({ id: "c", name, args: { ...args }, at: 0 }, "running", { t: english, place: (path) => path.slice(1) })
      .title;
  expect(titles("diagnostics", { paths: ["/a.py", "/b.py"] })).toBe("Look at the problems of a.py, b.py");
  expect(titles("ask_user", { questions: [{ question: "Which one?" }] })).toBe("Ask Which one?");
  expect(titles("glob", { pattern: "x".repeat(500) })).toHaveLength("Find files ".length + 120);
  expect(titles("of_a_server", { file_path: 7 })).toBe("of_a_server file_path: 7");
  expect(titles("write_file", { file_path: { deep: [null] } })).toBe("Write");
});

describe("a question", () => {
  it("stands with its call, and the answer waits until it is settled", () => {
    const events = played().event({ type: "toolQuestionAsked", question: QUESTION }, "t1");
    expect(events.chat.answer("t1")?.state).toBe("waiting");
    expect(tools(events)[1]?.question).toMatchObject({ isOurs: false, command: COMMAND.command, hasText: false });
    events.event({ type: "toolQuestionAnswered", toolCallId: "c2", outcome: "once" }, "t1");
    expect(tools(events)[1]?.question).toBeUndefined();
    expect(events.chat.answer("t1")?.state).toBe("working");
  });

  it("of a call that no event told of makes its row", () => {
    const events = new ScriptedEvents().started("t1", "Go.");
    events.event({ type: "toolQuestionAsked", question: QUESTION }, "t1");
    expect(tools(events).map(({ id, state }) => `${id} ${state}`)).toEqual(["c2 waiting"]);
  });
});

describe("what is said to a turn under way", () => {
  it("stands where the answer was then", () => {
    const events = played().event({ type: "promptSteered", prompt: [{ text: "and lint" }] }, "t1");
    expect(events.chat.answer("t1")?.steers).toEqual([{ text: "and lint", at: 23 }]);
    expect(events.chat.rows).toHaveLength(2);
  });

  it("stands there too when the transcript is read", () => {
    for (const kind of ["steer", "prompt"]) {
      const items = [
        content("prompt", "t1", "Test it."),
        item("reply", [{ text: "I look." }, call("read_file", READ)]),
        item(kind, [{ text: "and lint" }]),
        item("reply", [{ text: "Done." }]),
      ];
      const rows = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english);
      expect(rows.map(({ id }) => id)).toEqual(["p:t1", "a:t1"]);
      expect(rows[1]).toMatchObject({ steers: [{ text: "and lint", at: 7 }], text: "I look.\n\nDone." });
    }
  });
});

describe("what was said to a turn that ended without it", () => {
  it("stands in a row of its own, and not inside the answer any more", () => {
    const events = played()
      .event({ type: "promptSteered", prompt: [{ text: "and lint" }], steerId: "s1" }, "t1")
      .event({ type: "promptSteered", prompt: [{ text: "and lint" }], steerId: "s2" }, "t1")
      .event({ type: "turnCancelled", by: "client" }, "t1")
      .event({ type: "turnStarted", prompt: [{ text: "and lint" }], model: "m", steerId: "s2" }, "t2")
      .event({ type: "turnCancelled", by: "client" }, "t2");
    expect(events.chat.answer("t1")?.steers).toEqual([{ text: "and lint", at: 23, id: "s1" }]);
    expect(events.chat.prompt("t2")).toMatchObject({ text: "and lint", outcome: "cancelled" });
    expect(events.chat.answer("t2")?.state).toBe("stopped");
  });
});

it("files that are named in what is said to a turn are no part of its text, and stand in the receipt", () => {
  const items = [
    content("prompt", "t1", "Test it."),
    item("reply", [{ text: "I look." }, call("read_file", READ)]),
    item("steer", [{ text: "as in @a.py" }, { text: "the file" }], { attachments: [{ path: "/w/a.py" }] }),
    item("reply", [{ text: "Done." }]),
  ];
  const rows = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english);
  expect(rows[1]).toMatchObject({ steers: [{ text: "as in @a.py", at: 7 }] });
  expect(rows[0]).toMatchObject({ receipt: { mentioned: ["/w/a.py"] } });
});

describe("the tokens of a turn", () => {
  const usage = (promptTokens: number, outputTokens: number): Usage => ({
    promptTokens,
    cachedTokens: 1,
    thoughtTokens: 2,
    outputTokens,
    totalTokens: promptTokens + outputTokens,
  });

  it("are those of all its requests, in the transcript as in the event of its end", () => {
    const sum = { promptTokens: 30, cachedTokens: 2, thoughtTokens: 4, outputTokens: 7, totalTokens: 37 };
    const end = { type: "turnCompleted", finishReason: "STOP", usage: usage(20, 4), durationMs: 9 } as const;
    const events = played().event({ ...end, turnUsage: sum }, "t1");
    expect(events.chat.answer("t1")?.usage).toEqual(sum);
    const items = [
      content("prompt", "t1", "Test it."),
      item("reply", [{ text: "I look." }, call("read_file", READ)], { usage: usage(10, 3) }),
      item("reply", [{ text: "Done." }], { usage: usage(20, 4) }),
    ];
    const rows = rowsOf({ items, compressions: [], constraints: [], discarded: new Set() }, english);
    expect(rows[1]).toMatchObject({ usage: sum });
  });
});

describe("masked outputs", () => {
  it("are told once for a turn, above its answer, and counted on", () => {
    const events = played()
      .event({ type: "outputsMasked", outputs: 1, tokensSaved: 900 }, "t1")
      .event({ type: "outputsMasked", outputs: 11, tokensSaved: 30_304 }, "t1");
    expect(events.chat.rows.map(({ kind }) => kind)).toEqual(["prompt", "notice", "answer"]);
    const notice = events.chat.rows[1];
    expect(notice?.kind === "notice" && notice.text).toContain(
      "12 old outputs are hidden from Gemini, which frees 31,204 tokens.",
    );
    expect(notice?.kind === "notice" && notice.text).toContain("recall");
  });
});

describe("the title of a search", () => {
  it.each([
    [String.raw`\btokens\b`, "Search for tokens"],
    [String.raw`\btokens|words\b`, String.raw`Search for \btokens|words\b`],
  ])("for %s is %s", (pattern, title) => {
    const row = toolRow({ id: "c", name: "grep_search", args: { pattern }, at: 0 }, "ok", {
      t: english,
      place: (path) => path,
    });
    expect(row.title).toBe(title);
  });
});

it("a server's tool is shown with what it is asked, as far as there is room for it", () => {
  const titled = (args: Readonly<Record<string, unknown>>): string =>
    toolRow({ id: "c", name: "mcp_files_read", args, at: 0 }, "waiting", { t: english, place: (path) => path }).title;
  expect(titled({})).toBe("mcp_files_read");
  expect(titled({ path: "a\nb" })).toBe("mcp_files_read path: a …");
  expect(titled({ path: "x".repeat(500) }).length).toBeLessThan(150);
});

describe("what a call is called with", () => {
  const row = (name: string, args: Readonly<Record<string, unknown>>): ToolRow =>
    toolRow({ id: "c", name, args, at: 0 }, "ok", { t: english, place: (path) => path });

  it("is the whole line of a command where the title has not all of it", () => {
    const command = "make test \\\n  VERBOSE=1";
    expect(row("run_shell_command", { command, description: "Runs the tests" }).args).toBe(command);
    expect(row("run_shell_command", { command: "make", description: "Runs it", dir_path: "sub" }).args).toBe("");
  });

  it("is of an edit what it would change", () => {
    const args = { file_path: "a.py", instruction: "Rename it.", old_string: "a = 1\nb\n", new_string: "c = 1\nb\n" };
    expect(row("replace", args)).toMatchObject({ args: "", diff: "-a = 1\n-b\n+c = 1\n+b" });
    expect(row("write_file", { file_path: "a.py", content: "one\ntwo" }).diff).toBe("+one\n+two");
    expect(row("read_file", { file_path: "a.py" }).diff).toBeUndefined();
  });

  it("is a line for each value of other tools, without a sign of JSON", () => {
    const args = {
      query: 'say "x"',
      text: "one\ntwo",
      sizes: [1, 2],
      where: { path: "a", deep: { on: true } },
      not: null,
    };
    expect(row("mcp_files_find", args).args).toBe(
      [
        'query: say "x"',
        "text:",
        "  one",
        "  two",
        "sizes:",
        "  - 1",
        "  - 2",
        "where:",
        "  path: a",
        "  deep:",
        "    on: true",
        "not: null",
      ].join("\n"),
    );
    expect(row("grep_search", { pattern: "x", include_pattern: "*.py" }).args).toBe("include_pattern: *.py");
  });

  it("is bounded however deep it is", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 5_000; level++) deep = { deep: [deep] };
    expect(row("mcp_x_y", { deep }).args.length).toBeLessThan(1_000);
  });
});
