/** What the daemon asks this window's person, what tools changed, and what is said to a turn under way. */
import { describe, expect, it } from "vitest";
import { CancellationTokenSource } from "vscode";
import { changesView, oldestTurn, textBefore } from "../../../src/chat/pure/changes.js";
import { questionView, rowOfQuestion } from "../../../src/chat/pure/toolRows.js";
import { english } from "../../../src/chat/pure/words.js";
import type { Change, ConfirmToolParams } from "../../../src/protocol.gen.js";
import { fault, info, stage, type Stage } from "./fakeDaemon.js";
import { content } from "./scriptedEvents.js";

const ASKED: ConfirmToolParams = {
  sessionId: "s1",
  turnId: "t1",
  toolCallId: "c1",
  name: "run_shell_command",
  args: { command: "rm -rf build", description: "clean" },
  title: "Run rm -rf build",
  risk: "command",
  command: "rm -rf build",
  rule: { tool: "run_shell_command", decision: "allow", command: ["rm"] },
};

const words = { t: english, place: (path: string) => path.replace("/ws/", "") };

async function answering(): Promise<Stage> {
  const staged = stage();
  await staged.chat.begin();
  const plays = staged.daemon.playTurns();
  void staged.chat.prompts.submit("Clean up.");
  await expect.poll(() => plays.length).toBe(1);
  plays[0]?.start().say("I clean up.");
  staged.daemon.emit(
    { type: "toolCallStarted", toolCallId: "c1", name: ASKED.name, args: ASKED.args, state: "waiting" },
    "t1",
  );
  return staged;
}

describe("what a question shows", () => {
  const bare = { ...ASKED, name: "obey_files", risk: "something new" };

  it("is the whole diff and the whole path, however long", () => {
    const diff = `@@ -1 +1 @@\n${"+x\n".repeat(200_000)}`;
    const path = `/ws/${"deep/".repeat(200)}a.py`;
    const shown = questionView({ ...ASKED, path, diff, newContent: "x" }, true);
    expect(shown.diff).toBe(diff);
    expect(shown.path).toBe(path);
  });

  it("is all that a tool is called with, where no command and no diff says it", () => {
    const { command: _command, ...other } = bare;
    const args = { fact: "x".repeat(50_000), hidden: "a\u202eb\u{e0041}\u00a0c" };
    const shown = questionView({ ...other, args }, true);
    expect(shown.args).toContain("x".repeat(50_000));
    expect(shown.args).toContain(String.raw`"a\u202eb\udb40\udc41\u00a0c"`);
    expect(JSON.parse(shown.args ?? "")).toEqual(args);
    expect(questionView({ ...other, args: {} }, true).args).toBeUndefined();
  });

  it("is what a command is called with beside its line and its folder", () => {
    const args = { ...ASKED.args, dir_path: "src", is_background: true };
    expect(questionView({ ...ASKED, args }, true).args).toBe('{\n  "is_background": true\n}');
    expect(questionView({ ...ASKED, args: { command: "ls" } }, true).args).toContain('"ls"');
    expect(questionView(ASKED, true).args).toBeUndefined();
  });

  it("is edited only where a field shows it as it is", () => {
    const command = "echo \u202ehi";
    expect(questionView({ ...ASKED, command, args: { command } }, true).editable).toBeUndefined();
    expect(questionView(ASKED, true).editable).toEqual({ what: "command", text: "rm -rf build" });
  });

  it("has a title for a tool that is not known here", () => {
    expect(rowOfQuestion(bare, 0, words)).toMatchObject({
      kind: "other",
      title: expect.stringMatching(/^obey_files/) as string,
    });
    expect(questionView(bare, true).risk).toBe("something new");
  });
});

describe("a question", () => {
  it("waits in the row of its call until it is answered", async () => {
    const { chat } = await answering();
    const source = new CancellationTokenSource();
    const answer = chat.questions.confirm(ASKED, source.token);
    expect(chat.conversation.tool("c1")?.tool.question).toMatchObject({ isOurs: true });
    expect(chat.questions.waiting("s1")).toEqual([{ sessionId: "s1", callId: "c1", title: "Run rm -rf build" }]);
    expect(chat.questions.answer({ callId: "c1", outcome: "reject", reason: " not now " })).toBe(true);
    expect(await answer).toEqual({ outcome: "reject", reason: "not now" });
    expect(chat.conversation.tool("c1")?.tool.question).toBeUndefined();
    expect(chat.questions.waiting("s1")).toEqual([]);
    expect(chat.questions.answer({ callId: "c1", outcome: "once" })).toBe(false);
  });

  it.each(["told of", "not told of"])(
    "that comes again waits in the row that the log has of its call: %s",
    async (before) => {
      const { chat, daemon } = stage();
      await chat.begin();
      await chat.session();
      const call = (command: string) => ({
        functionCall: { name: ASKED.name, args: { command, description: "clean" } },
      });
      const ask = { functionCall: { name: "ask_user", args: { question: "Which?" } } };
      const parts = [call("rm -rf build"), call("ls"), ask];
      chat.conversation.load(
        [content("prompt", "t1", "Clean up."), { ...content("reply", "t1", "I clean up."), parts }],
        [],
        [],
        new Set(),
      );
      chat.conversation.change("a:t1", "answer", { state: "working" });
      const { token } = new CancellationTokenSource();
      if (before === "told of") {
        const { toolCallId, name, args } = ASKED;
        daemon.emit({ type: "toolCallStarted", toolCallId, name, args, state: "waiting" }, "t1");
      }
      void chat.questions.confirm(ASKED, token);
      void chat.questions.ask({ sessionId: "s1", toolCallId: "c3", question: "Which?" }, token);
      expect(chat.conversation.answer("t1")?.tools.map(({ id, state }) => [id, state])).toEqual([
        ["c1", "waiting"],
        ["run_shell_command-1", "interrupted"],
        ["c3", "waiting"],
      ]);
      chat.dispose();
    },
  );

  it("takes the edited command line into the arguments, and the words of the rule", async () => {
    const { chat } = await answering();
    const answer = chat.questions.confirm(ASKED, new CancellationTokenSource().token);
    chat.questions.answer({ callId: "c1", outcome: "always", edited: "rm -r build", rule: "rm  -r" });
    expect(await answer).toEqual({
      outcome: "always",
      editedArgs: { command: "rm -r build", description: "clean" },
      rule: { tool: "run_shell_command", decision: "allow", command: ["rm", "-r"], exact: false },
    });
  });

  it("goes on waiting if what was edited is no object", async () => {
    const { chat } = await answering();
    const { command: _command, ...bare } = ASKED;
    const answer = chat.questions.confirm(bare, new CancellationTokenSource().token);
    expect(chat.questions.answer({ callId: "c1", outcome: "once", edited: "[1]" })).toBe(false);
    expect(chat.questions.waiting("s1")).toHaveLength(1);
    chat.questions.answer({ callId: "c1", outcome: "once", edited: '{"command": "ls"}' });
    expect(await answer).toEqual({ outcome: "once", editedArgs: { command: "ls" } });
  });

  it("gives back the text that was corrected in the diff", async () => {
    const { chat } = await answering();
    const answer = chat.questions.confirm(
      { ...ASKED, path: "/ws/a", newContent: "a" },
      new CancellationTokenSource().token,
    );
    chat.questions.answer({ callId: "c1", outcome: "once" }, "b");
    expect(await answer).toEqual({ outcome: "once", editedContent: "b" });
  });

  it("is withdrawn when the daemon takes it back", async () => {
    const { chat } = await answering();
    const source = new CancellationTokenSource();
    const answer = chat.questions.confirm(ASKED, source.token);
    source.cancel();
    expect(await answer).toEqual({ outcome: "reject" });
    expect(chat.conversation.tool("c1")?.tool.question).toBeUndefined();
  });

  it("is withdrawn when the daemon is gone", async () => {
    const { chat, daemon } = await answering();
    const answer = chat.questions.confirm(ASKED, new CancellationTokenSource().token);
    daemon.show({ kind: "lost", attempt: 1, retryAt: 0 });
    expect(await answer).toEqual({ outcome: "reject" });
  });

  it("of a chat that was left waits there, and stands in its rows when it is shown again", async () => {
    const { chat, daemon } = await answering();
    daemon.sessions.set("s2", []);
    await chat.open("s2");
    void chat.questions.confirm(ASKED, new CancellationTokenSource().token);
    expect(chat.questions.waiting("s2")).toEqual([]);
    expect(chat.questions.waiting("s1")).toHaveLength(1);
    await chat.open("s1");
    expect(chat.conversation.tool("c1")?.tool.question).toMatchObject({ isOurs: true });
  });

  it("of the model is answered with the person's words, or with none", async () => {
    const { chat } = await answering();
    const ask = { sessionId: "s1", toolCallId: "c1", question: "Which?", options: ["a", "b"] };
    const first = chat.questions.ask(ask, new CancellationTokenSource().token);
    expect(chat.conversation.tool("c1")?.tool.asks).toEqual({
      isOurs: true,
      question: "Which?",
      options: ["a", "b"],
      allowsText: true,
    });
    chat.questions.answerUser("c1", "b");
    expect(await first).toEqual({ answer: "b" });
    const second = chat.questions.ask(ask, new CancellationTokenSource().token);
    chat.questions.answerUser("c1", undefined);
    expect(await second).toEqual({});
  });
});

describe("the work of a chat", () => {
  it("has mode, tasks and changes when it is opened, and follows the events", async () => {
    const { chat, daemon } = stage();
    daemon.sessions.set("s1", []);
    const task = { description: "Fix it", status: "pending" } as const;
    daemon.answers["gemini/tools"] = () => Promise.resolve({ mode: "plan", tools: [], todos: [task] });
    daemon.answers["gemini/changes"] = () => Promise.resolve({ changes: [change({})] });
    await chat.begin();
    await chat.open("s1");
    expect([chat.work.mode, chat.work.tasks, chat.work.changes.added]).toEqual(["plan", [task], 3]);
    daemon.answers["gemini/changes"] = () => Promise.resolve({ changes: [change({ state: "kept" })] });
    daemon.emit({ type: "modeChanged", mode: "acceptEdits" });
    daemon.emit({ type: "todosChanged", todos: [] });
    daemon.emit({ type: "changesChanged", files: 0, added: 0, removed: 0 });
    await expect.poll(() => chat.work.changes.files).toEqual([]);
    expect([chat.work.mode, chat.work.tasks]).toEqual(["acceptEdits", []]);
  });

  it("is shown without them by a daemon that does not answer", async () => {
    const { chat, daemon } = stage();
    daemon.sessions.set("s1", []);
    daemon.answers["gemini/tools"] = () => Promise.reject(fault("defect", 1000));
    daemon.answers["gemini/changes"] = () => Promise.reject(fault("defect", 1000));
    await chat.begin();
    await chat.open("s1");
    expect(chat.fault).toBeUndefined();
    expect(chat.info?.sessionId).toBe("s1");
  });

  it("keeps the mode of the session that is shown", async () => {
    const { chat, daemon } = stage();
    daemon.sessions.set("s1", []);
    daemon.answers["gemini/tools"] = () => Promise.reject(fault("defect", 1000));
    daemon.answers["gemini/session/open"] = () => Promise.resolve({ ...info("s1"), mode: "plan" });
    await chat.begin();
    await chat.open("s1");
    expect(chat.work.mode).toBe("plan");
    daemon.answers["gemini/session/mode"] = ({ mode }) => Promise.resolve({ sessionId: "s1", mode });
    await chat.work.setMode("s1", "ask");
    expect(chat.work.mode).toBe("ask");
  });
});

describe("a prompt to the running turn", () => {
  it("goes into it, and leaves no row of its own", async () => {
    const { chat, daemon } = await answering();
    expect(chat.canSteer).toBe(true);
    const before = chat.conversation.rows.length;
    void chat.prompts.steer("and lint");
    await expect.poll(() => daemon.calls.at(-1)?.params).toMatchObject({ prompt: "and lint", steer: true });
    expect(chat.conversation.rows).toHaveLength(before);
    expect(chat.queue.prompts).toEqual([]);
  });

  it("comes back to the composer if it is refused", async () => {
    const { chat, daemon } = await answering();
    const drafts: string[] = [];
    chat.onPrefill((text) => drafts.push(text));
    daemon.answers["gemini/chat"] = () => Promise.reject(fault("sessionBusy", 1002));
    await expect(chat.prompts.steer("and lint")).rejects.toThrow();
    expect(drafts).toEqual(["and lint"]);
  });

  it("is sent as any other where nothing runs", async () => {
    const { chat, daemon } = stage();
    await chat.begin();
    const plays = daemon.playTurns();
    void chat.prompts.steer("Hello");
    await expect.poll(() => plays.length).toBe(1);
    expect(daemon.calls.at(-1)?.params).not.toHaveProperty("steer");
  });
});

function change(more: Partial<Change>): Change {
  return { turnId: "t1", path: "/ws/a.py", kind: "changed", added: 3, removed: 1, diff: "", ...more };
}

describe("changed files", () => {
  it("stand once each, with what all turns did to them", () => {
    const view = changesView(
      {
        changes: [
          change({ turnId: "t3", added: 1, removed: 2 }),
          change({ turnId: "t2", path: "/ws/b.py", kind: "created", canRevert: false, reason: "too large" }),
          change({ turnId: "t2", kind: "created" }),
          change({ turnId: "t1", state: "reverted" }),
        ],
      },
      words,
    );
    expect(view.files.map(({ label, kind, added, removed, note }) => [label, kind, added, removed, note])).toEqual([
      ["a.py", "created", 4, 3, ""],
      ["b.py", "created", 3, 1, "too large"],
    ]);
    expect([view.added, view.removed]).toEqual([7, 4]);
  });

  it("say which subagents made them, each once", () => {
    const agents = ["Generalist"];
    const { files } = changesView(
      { changes: [change({ byCommand: true }), change({ agents }), change({ agents }), change({ path: "/ws/b.py" })] },
      words,
    );
    expect(files.map(({ note }) => note)).toEqual(["by Generalist · changed by a command", ""]);
  });

  it("name each subagent of a file once, whatever its name is part of and however many had a part in a change", () => {
    const by = (...agents: readonly string[]) => change({ agents });
    const { files } = changesView({ changes: [by("Reviewer"), by("Review", "Reviewer"), by("Review")] }, words);
    expect(files.map(({ note }) => note)).toEqual(["by Reviewer, Review"]);
  });

  it("go back from the oldest turn whose changes stand", () => {
    expect(oldestTurn([change({ turnId: "t3" }), change({ turnId: "t2" }), change({ state: "kept" })])).toBe("t2");
    expect(oldestTurn([])).toBeUndefined();
  });

  it("are shown as they were before, through all their diffs", () => {
    const hunk = (from: string, to: string): string => `--- a\n+++ b\n@@ -1,2 +1,2 @@\n-${from}\n+${to}\n same\n`;
    const changes = [change({ diff: hunk("two", "three") }), change({ diff: hunk("one", "two") })];
    expect(textBefore("three\nsame\n", changes)).toBe("one\nsame\n");
    expect(textBefore("other\nthing\n", changes)).toBeUndefined();
    expect(textBefore("any", [change({ kind: "created" })])).toBe("");
    expect(textBefore("any", [change({ diff: "no diff" })])).toBeUndefined();
  });
});
