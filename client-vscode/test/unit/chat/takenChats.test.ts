/** A chat that another window takes while it is open here, and previews that were thrown away. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { errorView } from "../../../src/chat/pure/faults.js";
import { english } from "../../../src/chat/pure/words.js";
import { FakeMemory, fault, info, stage, type Stage } from "./fakeDaemon.js";
import { compression, turn } from "./scriptedEvents.js";

let made: Stage;

beforeEach(async () => {
  made = stage(undefined, new FakeMemory({ lastSession: "s1" }));
  for (const sessionId of ["s1", "s2"]) made.daemon.sessions.set(sessionId, turn("t1"));
  await made.chat.begin();
});
afterEach(() => made.chat.dispose());

const held = (heldBy: number): void => {
  made.daemon.answers["gemini/session/open"] = ({ sessionId, takeOver }) =>
    Promise.resolve(takeOver === true ? info(sessionId) : { ...info(sessionId), heldBy });
};
const asked = (method: string) =>
  made.daemon.calls.filter((call) => call.method === method).map(({ params }) => params);

it("is read only from then on, shows what was said there, keeps the draft, and can be taken back", async () => {
  made.chat.setDraft("half a thought", "end");
  held(4711);
  made.daemon.sessions.set("s1", [...turn("t1"), ...turn("t2")]);
  made.daemon.take("s1");
  await vi.waitFor(() => expect(made.chat.isReadOnly).toBe(true));
  await vi.waitFor(() => expect(made.chat.conversation.answer("t2")).toBeDefined());
  expect(made.chat.saved.draft).toBe("half a thought");
  await made.chat.open("s1", true);
  expect(made.chat.isReadOnly).toBe(false);
});

it("what happens to a chat that is not shown changes nothing here", async () => {
  held(4711);
  const before = made.daemon.calls.length;
  made.daemon.take("s2");
  await made.chat.ready();
  expect(made.daemon.calls).toHaveLength(before);
});

it("prompts that wait in it wait on", async () => {
  made.chat.queue.add({ text: "the next one" });
  held(4711);
  made.daemon.take("s1");
  await vi.waitFor(() => expect(made.chat.isReadOnly).toBe(true));
  made.chat.prompts.drain();
  expect(asked("gemini/chat")).toEqual([]);
  expect(made.chat.queue.prompts.map(({ text }) => text)).toEqual(["the next one"]);
});

it("prompts that wait behind the answer that ends with it wait on, and none is sent from the list", async () => {
  made.daemon.answers["gemini/chat"] = () => new Promise((_, reject) => (refuse = reject));
  let refuse: (error: Error) => void = () => undefined;
  void made.chat.prompts.submit("runs");
  await vi.waitFor(() => expect(asked("gemini/chat")).toHaveLength(1));
  made.daemon.emit({ type: "turnStarted", prompt: [{ text: "runs" }], model: "m" }, "t9");
  for (const text of ["one", "two"]) await made.chat.prompts.submit(text);
  held(4711);
  made.daemon.take("s1");
  made.daemon.emit({ type: "turnCancelled", by: "takeOver" }, "t9");
  refuse(fault("cancelled", -32_800));
  await vi.waitFor(() => expect(made.chat.info?.heldBy).toBe(4711));
  const [first] = made.chat.queue.prompts;
  await made.chat.prompts.sendQueued(first?.id ?? "");
  expect(asked("gemini/chat")).toHaveLength(1);
  expect(made.chat.queue.prompts.map(({ text }) => text)).toEqual(["one", "two"]);
});

it("a preview that is thrown away is one for the daemon, too; if it could not be told, when the chat is read again", async () => {
  const listed = [compression("preview", 1, { status: "PREVIEW" })];
  made.daemon.answers["gemini/compression/list"] = () => Promise.resolve({ compressions: listed });
  await made.chat.refresh();
  expect(asked("gemini/compression/discard")).toEqual([]);
  made.daemon.answers["gemini/compression/discard"] = () => Promise.reject(fault("storage", 1007));
  made.chat.discardPreview("c1");
  const told = { sessionId: "s1", compressionId: "c1" };
  expect(asked("gemini/compression/discard")).toEqual([told]);
  await made.chat.refresh();
  expect(asked("gemini/compression/discard")).toEqual([told, told]);
  listed.pop();
  await made.chat.refresh();
  expect(asked("gemini/compression/discard")).toHaveLength(2);
  expect(made.chat.fault).toBeUndefined();
});

it("errors name no process where another window has the chat, and offer what to do about it once", () => {
  const busy = { kind: "sessionBusy", message: "Another process (pid 12634) holds the session.", hint: "Fork it." };
  for (const turnId of ["t1", undefined]) {
    const view = errorView(busy, english, 0, turnId);
    expect(`${view.message} ${view.hint}`).toMatch(/^Another window .*$/);
    expect(`${view.message} ${view.hint}`).not.toMatch(/process|pid|session/);
    expect(view.actions.map(({ id }) => id)).toEqual(turnId === undefined ? ["forkSession", "takeOver"] : []);
  }
});
