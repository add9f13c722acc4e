/** Files that were put back are changed again where they were changed, whichever chat is shown by then. */
import { expect, it, vi } from "vitest";
import { ToolActions } from "../../../src/chat/toolActions.js";
import { stage } from "./fakeDaemon.js";

const editor = vi.hoisted(() => ({ beforeChoosing: (): Promise<void> => Promise.resolve() }));
vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  window: {
    showInformationMessage: async (_text: string, ...offered: string[]) => {
      await editor.beforeChoosing();
      return offered[0];
    },
  },
}));

it("a redo is of the chat in which the files were put back", async () => {
  const { chat, daemon } = stage();
  for (const sessionId of ["s1", "s2"]) daemon.sessions.set(sessionId, []);
  await chat.begin();
  await chat.open("s1");
  daemon.answers["gemini/changes/revert"] = ({ changeId }) =>
    Promise.resolve({ reverted: ["/ws/a.py"], conflicts: [], ...(changeId === undefined ? { changeId: "r1" } : {}) });
  editor.beforeChoosing = () => chat.open("s2");
  const actions = new ToolActions(chat, {} as never, () => undefined); // the editor is not asked
  await actions.handle({ type: "changes", do: "undo", path: "/ws/a.py" });
  const asked = () => daemon.calls.filter(({ method }) => method === "gemini/changes/revert");
  await vi.waitFor(() => expect(asked()).toHaveLength(2));
  expect(asked()[1]?.params).toEqual({ sessionId: "s1", changeId: "r1" });
  chat.dispose();
});
