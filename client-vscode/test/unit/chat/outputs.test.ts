/** What a call put out is read by itself when somebody wants to see it. */
import { expect, it } from "vitest";
import { ToolActions } from "../../../src/chat/toolActions.js";
import { SHOWN_OUTPUT } from "../../../src/chat/pure/toolRows.js";
import type { RecallHit } from "../../../src/protocol.gen.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { content } from "./scriptedEvents.js";

const HIT = { sessionId: "s1", sessionTitle: "", turnId: "t1", entryId: "e", role: "tool", time: 0 } as const;

/** Unfolds the only call of a chat; what it put out is `output`, of which one answer holds `most` characters. */
async function unfolded(output: string, most: number): Promise<Stage> {
  const made = stage();
  const { chat, daemon } = made;
  const call = { functionCall: { id: "c1", name: "read_file", args: { file_path: "a.py" } } };
  await chat.begin();
  await chat.session();
  chat.conversation.load(
    [content("prompt", "t1", "Go."), { ...content("reply", "t1", ""), parts: [call] }],
    [],
    [],
    new Set(),
  );
  daemon.answers["gemini/recall"] = ({ offset = 0 }) => {
    const text = output.slice(offset, offset + most);
    const hits: RecallHit[] = output === "" ? [] : [{ ...HIT, text, characters: output.length }];
    return Promise.resolve({ hits });
  };
  daemon.calls.length = 0;
  const actions = new ToolActions(chat, {} as never, () => undefined); // the editor is not asked
  await actions.handle({ type: "tool", do: "output", callId: "c1" });
  return made;
}

it("a call's output is asked for alone, and shown", async () => {
  const { chat, daemon } = await unfolded("one\ntwo", 100);
  expect(daemon.calls).toEqual([{ method: "gemini/recall", params: { sessionId: "s1", toolCallId: "c1" } }]);
  expect(chat.conversation.tool("c1")?.tool).toMatchObject({ output: "one\ntwo" });
  expect(chat.conversation.tool("c1")?.tool.isCut).toBeUndefined();
});

it("of one that is longer than an answer the end is shown", async () => {
  const { chat, daemon } = await unfolded(`${"x".repeat(20_000)}the end`, 10_000);
  const tool = chat.conversation.tool("c1")?.tool;
  expect(tool?.output.endsWith("the end")).toBe(true);
  expect(tool?.output.length).toBe(SHOWN_OUTPUT);
  expect(tool?.isCut).toBe(true);
  expect(daemon.calls.map(({ params }) => params["offset"])).toEqual([undefined, 20_007 - SHOWN_OUTPUT]);
});

it("one that the log does not have yet changes nothing", async () => {
  const { chat } = await unfolded("", 100);
  expect(chat.conversation.tool("c1")?.tool.output).toBe("");
});
