/** An investigator in a repository of thousands of files: its window is its own, and it ends with the turn that it works for. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { ScriptedReply } from "../support/emulator.js";
import { makeManyFiles, withBudget } from "../support/manyFiles.js";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { snapshot, summarised } from "../support/snapshots.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { askStore } from "../support/store.js";
import { calls, ends, row } from "./workshop.js";

/** Where compression starts, tokens: twice in what is read here. */
export const CAP = 18_000;
const FILES = 5_000;
const READS = 60;
/** Reads that go in one answer of the model. */
const AT_ONCE = 3;
const QUESTION = "Where do the services keep their retry budget?";
const REPORT =
  "The retry budget is RETRY_BUDGET, at the head of one module in eighty-three; billing has the lowest, 3.";
const TASKS = ["Look at the first half", "Look at the second half"];
/** Files that each of two reads before it is stopped. */
const HALF = 15;
const PICTURES = "subagents";
/** Each starts daemons of its own to ask the store: on a busy machine that takes minutes. */
const LIMIT = { timeout: 480_000 };

export function investigating(set: Stage): void {
  beforeAll(() => {
    makeManyFiles(set.server.workspace, FILES);
    return () => rmSync(join(set.server.workspace, "services"), { recursive: true, force: true });
  });

  test(
    "an investigator reads 60 of 5,000 files, its window is compressed twice, and the chat grows by its report alone",
    LIMIT,
    async () => {
      const paths = withBudget(FILES).slice(0, READS);
      const panel = await set.newChat();
      await set.ask(panel, "Are you there?", "I am.");
      const before = await lastChat(set);
      await set.emulator.reset();
      await set.emulator.script(snapshotsOf(paths), "snapshot");
      await set.emulator.script([
        { pieces: ["I hand it over. ", calls("invoke_agent", investigation(QUESTION))] },
        { pieces: [calls("grep_search", { pattern: "RETRY_BUDGET", names_only: true })] },
        ...readingOf(paths),
        { pieces: [REPORT] },
        { pieces: ["It stands at the head of a module."] },
      ]);
      await panel.send(QUESTION);
      await ends(panel, "It stands at the head of a module.");
      const handed = row(panel, /^Hand to a subagent: Where do the services/);
      await handed.getByText(/61 calls/).waitFor();
      await handed.locator("summary").click();
      const said = handed.getByRole("group", { name: "Output" });
      await said
        .getByText(/Its window was compressed: Compressed the chat/)
        .first()
        .waitFor();
      await keepPicture(set, PICTURES, "done");

      const results = (await set.emulator.requests("streamGenerateContent"))
        .flatMap(({ responses }) => responses)
        .filter(({ name }) => name === "read_file");
      expect(new Set(results.map(({ response }) => JSON.stringify(response))).size, "no two reads are alike").toBe(
        READS,
      );

      const after = await lastChat(set);
      expect(after.sessionId).toBe(before.sessionId);
      expect(after.responses, "the report, and nothing that it rests on").toEqual([{ output: REPORT }]);
      expect(after.text).not.toContain(paths[0]);
      expect(after.tokens - before.tokens).toBeLessThan(300);
      const [child] = after.agents;
      const [opened, listed, context] = (await askStore(set.server, [
        ["gemini/session/open", { sessionId: child }],
        ["gemini/compression/list", { sessionId: child }],
        ["gemini/context", { sessionId: child }],
      ])) as [{ sessionId: string }, { compressions: readonly { status: string }[] }, { tokenCount: number }];
      expect(opened.sessionId).toBe(child);
      expect(listed.compressions.map(({ status }) => status)).toEqual(["COMPRESSED", "COMPRESSED"]);
      expect(context.tokenCount).toBeLessThan(CAP);

      await handed.getByRole("button", { name: /^Open the chat of the subagent/ }).click();
      await panel
        .divider(/ompress/)
        .last()
        .waitFor();
      await panel.answers.getByText(REPORT).waitFor(); // its first rounds are hidden from it, its end stays in sight
      await keepPicture(set, PICTURES, "chat");
    },
  );

  test(
    "two investigators side by side end with the turn that is stopped, the panel says so, and their chats stay",
    LIMIT,
    async () => {
      const paths = withBudget(FILES);
      let panel = await set.newChat();
      await set.emulator.script([
        { pieces: ["Two go. ", ...TASKS.map((task) => calls("invoke_agent", investigation(task)))] },
      ]);
      for (const [number, task] of TASKS.entries())
        await set.emulator.scriptAbout(task, [
          ...readingOf(paths.slice(number * HALF, (number + 1) * HALF)),
          { pieces: ["I read on.", { gate: task }, " There is more."] },
        ]);
      await panel.send("Have both looked at.");
      for (const task of TASKS) await set.emulator.reached(task);
      const rows = row(panel, /^Hand to a subagent/);
      await rows.first().locator("summary").click();
      await keepPicture(set, PICTURES, "side-by-side");
      await panel.stop.click();
      await panel.isIdle();
      await panel.answers.getByText("Stopped. What came is kept above.").waitFor();
      for (const task of TASKS)
        await row(panel, new RegExp(`^Hand to a subagent: ${task}`))
          .getByText(/interrupted/)
          .waitFor();
      await keepPicture(set, PICTURES, "stopped");
      await patiently("nobody waits for an answer any more", async () => {
        const open = (await set.emulator.requests("streamGenerateContent")).filter(({ hungUp }) => hungUp);
        return open.length === TASKS.length || undefined;
      });

      await set.emulator.reset();
      await set.ask(panel, "Leave it.", "I leave it.");
      const { agents, responses } = await lastChat(set);
      expect(JSON.stringify(responses)).toMatch(/nterrupted.*nterrupted/s);
      expect(agents.length, "the chats of both are known").toBe(TASKS.length);

      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      const [first = ""] = TASKS;
      await row(panel, new RegExp(`^Hand to a subagent: ${first}`))
        .getByRole("button", { name: /^Open the chat of the subagent/ })
        .click();
      await panel.prompts.getByText(first).waitFor();
      const looked = panel.answers.locator("summary", { hasText: `Looked at ${HALF} things` });
      await looked.waitFor();
      await panel.answers.getByText("Stopped. What came is kept above.").waitFor();
      await keepPicture(set, PICTURES, "stopped-chat");
    },
  );
}

function investigation(prompt: string): Readonly<Record<string, string>> {
  return { agent_name: "codebase_investigator", prompt };
}

/** Answers that read these files, a few at once. */
function readingOf(paths: readonly string[]): ScriptedReply[] {
  const rounds = Array.from({ length: Math.ceil(paths.length / AT_ONCE) }, (_, round) =>
    paths.slice(round * AT_ONCE, (round + 1) * AT_ONCE),
  );
  return rounds.map((some) => ({ pieces: some.map((path) => calls("read_file", { file_path: path })) }));
}

/** Snapshots that keep what was read: as many as two compressions can ask for. */
function snapshotsOf(paths: readonly string[]): ScriptedReply[] {
  const text = snapshot({
    overall_goal: QUESTION,
    key_knowledge: "- It is called RETRY_BUDGET, at the head of a module.",
    artifact_trail: paths.map((path) => `- READ ${path}`).join("\n"),
    recent_actions: "- One search, and then reads.",
    task_state: "1. [IN PROGRESS] Read the other modules that name it.",
  });
  return summarised(text, 8);
}

interface StoredChat {
  readonly sessionId: string;
  readonly tokens: number;
  /** All that its model gets. */
  readonly text: string;
  /** What its calls came to, as its model is told. */
  readonly responses: readonly unknown[];
  /** The sessions of its subagents. */
  readonly agents: readonly string[];
}

/** What the store has of the chat that was used last. */
async function lastChat(set: Stage): Promise<StoredChat> {
  const sessionId = "newest";
  const [context, view, transcript] = (await askStore(set.server, [
    ["gemini/context", { sessionId }],
    ["gemini/session/history", { sessionId, view: "model" }],
    ["gemini/session/history", { sessionId, view: "transcript" }],
  ])) as [{ sessionId: string; tokenCount: number }, { contents: readonly { parts: readonly Part[] }[] }, unknown];
  const parts = view.contents.flatMap((content) => content.parts);
  return {
    sessionId: context.sessionId,
    tokens: context.tokenCount,
    text: JSON.stringify(view),
    responses: parts.flatMap(({ functionResponse: one }) => (one === undefined ? [] : [one.response])),
    agents: [...JSON.stringify(transcript).matchAll(/"agentSessionId":"([^"]+)"/g)].map(([, id = ""]) => id),
  };
}

interface Part {
  readonly functionResponse?: { readonly response: unknown };
}
