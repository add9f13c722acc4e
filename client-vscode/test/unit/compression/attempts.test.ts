/** Where the fault of what was tried with a compression is told. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { attempt } from "../../../src/compression/attempts.js";
import { fault, stage, type Stage } from "../chat/fakeDaemon.js";

const editor = vi.hoisted(() => ({ told: [] as string[], chosen: undefined as string | undefined }));

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  window: {
    showErrorMessage: (message: string) => {
      editor.told.push(message);
      return Promise.resolve(editor.chosen);
    },
  },
}));

let made: Stage;
/** Chats that were brought into sight. */
const brought: (string | undefined)[] = [];

beforeEach(async () => {
  editor.told.length = brought.length = 0;
  editor.chosen = "Open Chat";
  made = stage();
  made.daemon.sessions.set("s1", []);
  await made.chat.open("s1");
});

afterEach(() => made.chat.dispose());

const failing = () => Promise.reject(fault("modelUnavailable", 1004));
const needs = (isVisible: boolean) => ({
  chat: made.chat,
  isChatVisible: () => isVisible,
  openChat: (sessionId: string | undefined) => Promise.resolve(void brought.push(sessionId)),
});
const told = (): unknown => [made.chat.fault?.kind, editor.told.length, brought];

it("is the chat, where that is in sight", async () => {
  await attempt(needs(true), undefined, Promise.resolve("s1"), failing);
  expect(told()).toEqual(["modelUnavailable", 0, []]);
});

it("is a message where it is not, which leads to the chat", async () => {
  await attempt(needs(false), undefined, Promise.resolve("s1"), failing);
  expect(told()).toEqual([undefined, 1, ["s1"]]);
});

it("is a message where another chat is in sight, which leads nowhere if it is closed", async () => {
  editor.chosen = undefined;
  await attempt(needs(true), "s2", Promise.resolve("s2"), failing);
  expect(told()).toEqual([undefined, 1, []]);
});

it("is the chat in sight where no other is meant and none can be asked for", async () => {
  await attempt(needs(true), undefined, failing(), () => Promise.resolve());
  expect(told()).toEqual(["modelUnavailable", 0, []]);
});

it("is a message of the chat that is meant, also where nothing can be asked", async () => {
  await attempt(needs(true), "s2", failing(), () => Promise.resolve());
  expect(told()).toEqual([undefined, 1, ["s2"]]);
});

it("is nowhere for what somebody called off", async () => {
  const cancelled = () => Promise.reject(fault("cancelled", 1005));
  await attempt(needs(true), undefined, Promise.resolve("s1"), cancelled);
  await attempt(needs(false), undefined, Promise.resolve("s1"), cancelled);
  expect(told()).toEqual([undefined, 0, []]);
});
