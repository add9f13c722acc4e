/** The message of an answer that ended out of sight. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { tellOfEnd } from "../../../src/chat/endNotice.js";
import { stage, type Stage } from "./fakeDaemon.js";

const editor = vi.hoisted(() => ({
  told: [] as string[],
  choose: (_offered: string): Promise<string | undefined> => Promise.resolve(undefined),
}));

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  window: {
    showInformationMessage: (message: string, offered: string) => {
      editor.told.push(message);
      return editor.choose(offered);
    },
  },
}));

let made: Stage;
/** How often the panel was brought into sight. */
let seen: number;
const show = (): Promise<void> => Promise.resolve(void (seen += 1));
const shown = (): string | undefined => made.chat.info?.sessionId;

beforeEach(async () => {
  editor.told.length = seen = 0;
  editor.choose = () => Promise.resolve(undefined);
  made = stage();
  made.daemon.sessions.set("s1", []);
  made.daemon.sessions.set("s2", []);
  await made.chat.open("s1");
});

afterEach(() => made.chat.dispose());

it("leads to the chat that has answered, whichever is shown by then", async () => {
  editor.choose = async (offered) => {
    await made.chat.open("s2");
    return offered;
  };
  await tellOfEnd(made.chat, "s1", true, show);
  expect([seen, shown()]).toEqual([1, "s1"]);
});

it("of a chat that was deleted meanwhile leaves the person in the one that is shown, and says so", async () => {
  editor.choose = async (offered) => {
    await made.chat.open("s2");
    made.daemon.sessions.delete("s1");
    return offered;
  };
  await made.chat.guard(() => tellOfEnd(made.chat, "s1", true, show));
  expect([seen, shown(), made.chat.fault?.kind]).toEqual([1, "s2", "sessionNotFound"]);
});

it("opens nothing anew where its chat is still shown", async () => {
  const opened = () => made.daemon.calls.filter(({ method }) => method === "gemini/session/open").length;
  const before = opened();
  editor.choose = (offered) => Promise.resolve(offered);
  await tellOfEnd(made.chat, "s1", true, show);
  expect([seen, shown(), opened()]).toEqual([1, "s1", before]);
});

it("changes nothing when it is closed, and says whether there is an answer", async () => {
  await tellOfEnd(made.chat, "s1", true, show);
  await tellOfEnd(made.chat, "s1", false, show);
  expect(seen).toBe(0);
  expect(editor.told.map((text) => text.split(":")[0])).toEqual(["Gemini has answered", "Gemini could not answer"]);
});
