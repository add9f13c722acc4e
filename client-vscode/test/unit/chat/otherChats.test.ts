/** How chats stand that were left: it is in the list, and their ends are told. */
import { CancellationTokenSource } from "vscode";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AnswerEnd } from "../../../src/chat/chatState.js";
import type { TurnPlay } from "./fakeDaemon.js";
import { stage, type Stage } from "./fakeDaemon.js";

let made: Stage;
let turns: TurnPlay[];
let ends: AnswerEnd[];

/** An answer is under way in s1, and s2 is shown. */
beforeEach(async () => {
  made = stage();
  turns = made.daemon.playTurns();
  made.daemon.sessions.set("s1", []);
  made.daemon.sessions.set("s2", []);
  ends = [];
  made.chat.onAnswerEnd((end) => ends.push(end));
  await made.chat.open("s1");
  void made.chat.prompts.submit("one");
  await vi.waitFor(() => expect(turns).toHaveLength(1));
  turns[0]?.start();
  await made.chat.prompts.submit("waits behind it");
  await made.chat.open("s2");
});
afterEach(() => made.chat.dispose());

const standing = (): unknown => made.chat.others.map(({ sessionId, state, queued }) => [sessionId, state, queued]);

it("it answers, then has answered, with the prompts that wait there, until somebody comes back", async () => {
  expect(standing()).toEqual([["s1", "running", 1]]);
  turns[0]?.complete();
  expect(standing()).toEqual([["s1", "answered", 1]]);
  expect(ends).toEqual([{ sessionId: "s1", turnId: "t1", state: "done" }]);
  await made.chat.open("s1");
  expect(standing()).toEqual([]);
});

it("it could not answer, also where the daemon ended meanwhile", () => {
  turns[0]?.fail("modelUnavailable");
  expect(standing()).toEqual([["s1", "failed", 1]]);
  expect(ends).toMatchObject([{ sessionId: "s1", state: "failed" }]);
});

it("it was answering when the daemon ended", () => {
  made.daemon.show({ kind: "lost", attempt: 1, retryAt: 0 });
  expect(standing()).toEqual([["s1", "failed", 1]]);
});

it("it asks something, which comes before all else", () => {
  const question = { sessionId: "s1", turnId: "t1", toolCallId: "c1", question: "Which one?" };
  const { token } = new CancellationTokenSource();
  void made.chat.questions.ask(question, token);
  expect(standing()).toEqual([["s1", "waiting", 1]]);
  made.chat.questions.answerUser("c1", "That one.");
  expect(standing()).toEqual([["s1", "running", 1]]);
});

it("of a chat that was never shown here nothing is said, and of one in which nothing happens neither", async () => {
  made.daemon.emit({ type: "turnStarted", prompt: [{ text: "x" }], model: "m" }, "t9", "elsewhere");
  await made.chat.startNew();
  expect(standing()).toEqual([["s1", "running", 1]]);
});
