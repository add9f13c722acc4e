/** What a call did is read by itself when somebody wants to see it. */
import { expect, it } from "vitest";
import { ToolActions } from "../../../src/chat/toolActions.js";
import { SHOWN_OUTPUT } from "../../../src/chat/pure/toolRows.js";
import type { ShownCall } from "../../../src/protocol.gen.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { content } from "./scriptedEvents.js";

/** Unfolds the only call of a chat, of which the daemon says this. */
async function unfolded(shown: ShownCall): Promise<Stage> {
  const made = stage();
  const { chat, daemon } = made;
  const args = { file_path: "a.py", old_string: "one", new_string: "two" };
  const call = { functionCall: { id: "c1", name: "replace", args } };
  await chat.begin();
  await chat.session();
  chat.conversation.load(
    [content("prompt", "t1", "Go."), { ...content("reply", "t1", ""), parts: [call] }],
    [],
    [],
    new Set(),
  );
  daemon.answers["gemini/tools/shown"] = () => Promise.resolve(shown);
  daemon.calls.length = 0;
  const actions = new ToolActions(chat, {} as never, () => undefined); // the editor is not asked
  await actions.handle({ type: "tool", do: "output", callId: "c1" });
  return made;
}

it("what a call did is asked for alone, and shown", async () => {
  const diff = "@@ -7 +7 @@\n-one\n+two\n";
  const { chat, daemon } = await unfolded({ diff, output: "one\ntwo" });
  expect(daemon.calls).toEqual([{ method: "gemini/tools/shown", params: { sessionId: "s1", toolCallId: "c1" } }]);
  expect(chat.conversation.tool("c1")?.tool).toMatchObject({ output: "one\ntwo", diff, isTold: true });
  expect(chat.conversation.tool("c1")?.tool.isCut).toBeUndefined();
});

it("of one that put out more than a row carries the end is shown", async () => {
  const { chat } = await unfolded({ output: `${"x".repeat(20_000)}the end` });
  const tool = chat.conversation.tool("c1")?.tool;
  expect(tool?.output.endsWith("the end")).toBe(true);
  expect(tool?.output.length).toBe(SHOWN_OUTPUT);
  expect(tool?.isCut).toBe(true);
});

it("one that the log does not have yet stays as it is, and is asked for again", async () => {
  const { chat } = await unfolded({});
  expect(chat.conversation.tool("c1")?.tool).toMatchObject({ output: "", diff: "-one\n+two" });
  expect(chat.conversation.tool("c1")?.tool.isTold).toBeUndefined();
});
