/** What is typed while chats take each other's place. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeMemory, stage, type Stage } from "./fakeDaemon.js";

let folder: string;
let made: Stage;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "companion-"));
  made = stage(folder, new FakeMemory({ lastSession: "s1" }));
  for (const sessionId of ["s1", "s2"]) made.daemon.sessions.set(sessionId, []);
  await made.chat.begin();
});
afterEach(async () => {
  made.chat.dispose();
  await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 });
});

const number = (): number => made.chat.draftStore.number;

it("a draft that the page tells after another chat is shown is its own chat's, and leaves the other's alone", async () => {
  const first = number();
  made.chat.setDraft("typed", "end", {}, first);
  await made.chat.open("s2");
  made.chat.setDraft("of the second", "end", {}, number());
  made.chat.setDraft("typed at the last moment", "end", {}, first);
  expect(made.chat.saved.draft).toBe("of the second");
  await made.chat.open("s1");
  expect(made.chat.saved.draft).toBe("typed at the last moment");
  await made.chat.open("s2");
  expect(made.chat.saved.draft).toBe("of the second");
});

it("one of a chat that is not begun finds it again, too", async () => {
  await made.chat.startNew();
  const unbegun = number();
  await made.chat.open("s1");
  made.chat.setDraft("for a new chat", "end", {}, unbegun);
  await made.chat.startNew();
  expect(made.chat.saved.draft).toBe("for a new chat");
});

it("one that comes when its chat is shown again is shown", async () => {
  const first = number();
  await made.chat.open("s2");
  await made.chat.open("s1");
  const prefilled: string[] = [];
  made.chat.onPrefill((text) => prefilled.push(text));
  made.chat.setDraft("late", "end", {}, first);
  expect([made.chat.saved.draft, ...prefilled]).toEqual(["late", "late"]);
});

it("nothing that is typed while a chat's file is being read or written is lost", async () => {
  const first = number();
  let typed = 0;
  const typing = setInterval(() => made.chat.setDraft(`typed ${++typed}`, "end", {}, first), 0);
  await made.chat.open("s2");
  clearInterval(typing);
  made.chat.setDraft(`typed ${++typed}`, "end", {}, first);
  await made.chat.open("s1");
  expect(made.chat.saved.draft).toBe(`typed ${typed}`);
});

it("of a chat that is deleted nothing is written any more, whatever comes late", async () => {
  const first = number();
  made.chat.setDraft("of no one soon", "end", {}, first);
  await made.chat.flushDraft();
  expect(await readdir(join(folder, "drafts"))).toContain("s1.json");
  await made.chat.forget("s1");
  made.chat.setDraft("and more", "end", {}, first);
  await made.chat.flushDraft();
  await vi.waitFor(async () => expect(await readdir(join(folder, "drafts"))).not.toContain("s1.json"));
});
