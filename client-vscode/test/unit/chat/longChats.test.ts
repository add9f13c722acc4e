/** A long chat comes in pages, the newest first. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { HistoryItem } from "../../../src/protocol.gen.js";
import { stage, type Stage } from "./fakeDaemon.js";
import { content } from "./scriptedEvents.js";

const NEWEST = "t299";

let path: string;
let made: Stage;
/** Lets the pages go on after the first one. */
let release: () => void;

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "companion-"));
  made = stage(path);
  made.daemon.sessions.set("s1", []);
});
afterEach(async () => {
  made.chat.dispose();
  await rm(path, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

/** Turns of three contents each, so that a page can begin inside one. */
function contents(turns: number): HistoryItem[] {
  return Array.from({ length: turns }, (_, turn) => [
    content("prompt", `t${turn}`, `Question ${turn}`, { entryId: `p${turn}`, seq: 3 * turn + 1 }),
    content("reply", `t${turn}`, "I look.", { entryId: `r${turn}`, seq: 3 * turn + 2 }),
    content("reply", `t${turn}`, `Answer ${turn}`, { entryId: `s${turn}`, seq: 3 * turn + 3 }),
  ]).flat();
}

/** Has the daemon give the contents page by page; all but the newest page wait for `release`. */
function holds(items: readonly HistoryItem[]): void {
  const gate = new Promise<void>((resolve) => (release = resolve));
  made.daemon.answers["gemini/session/history"] = async ({ cursor, limit, newestFirst }) => {
    expect(newestFirst).toBe(true);
    if (cursor !== undefined) await gate;
    const end = cursor === undefined ? items.length : Number(cursor);
    const start = Math.max(0, end - (limit ?? Infinity));
    return {
      contents: items.slice(start, end),
      version: 1,
      epoch: 1,
      ...(start === 0 ? {} : { nextCursor: String(start) }),
    };
  };
}

const ids = (): string[] => made.chat.conversation.rows.map(({ id }) => id);

it("its newest messages can be read while the others are on their way", async () => {
  holds(contents(300));
  const opening = made.chat.open("s1");
  await vi.waitFor(() => expect(ids().at(-1)).toBe(`a:${NEWEST}`));
  expect(ids().length).toBeLessThan(200);
  const [first] = made.chat.conversation.rows;
  expect(first?.kind).toBe("prompt"); // the page begins inside a turn, which waits until it is whole
  release();
  await opening;
  expect(ids()).toEqual(Array.from({ length: 300 }, (_, turn) => [`p:t${turn}`, `a:t${turn}`]).flat());
});

it("the rows that were shown first are the same when the others have come, so that the page keeps them", async () => {
  holds(contents(300));
  const opening = made.chat.open("s1");
  await vi.waitFor(() => expect(ids()).not.toEqual([]));
  const before = [...made.chat.conversation.rows];
  release();
  await opening;
  expect(made.chat.conversation.rows.slice(-before.length)).toEqual(before);
});

it("what is shown already is not cut to the newest messages when the chat is opened anew", async () => {
  holds(contents(300));
  release();
  await made.chat.open("s1");
  holds(contents(300));
  const opening = made.chat.open("s1");
  const lengths = new Set<number>();
  const watching = made.chat.onDidChangeRows(() => lengths.add(made.chat.conversation.rows.length));
  await vi.waitFor(() => expect(made.daemon.calls.filter(({ params }) => params["cursor"] === "700")).toHaveLength(2));
  release();
  await opening;
  watching.dispose();
  expect([...lengths]).toEqual([600]);
});

it("a compression stands in its place as soon as the messages around it are shown", async () => {
  holds(contents(300));
  const compression = (id: string, seq: number) =>
    ({
      compressionId: id,
      seq,
      state: "inForce",
      status: "COMPRESSED",
      trigger: "manual",
      time: 0,
      originalTokenCount: 2,
      newTokenCount: 1,
    }) as const;
  made.daemon.answers["gemini/compression/list"] = () =>
    Promise.resolve({ compressions: [compression("late", 891.5), compression("early", 30.5)] });
  const opening = made.chat.open("s1");
  await vi.waitFor(() => expect(ids().at(-1)).toBe(`a:${NEWEST}`));
  expect(ids().filter((id) => id.startsWith("c:"))).toEqual(["c:late"]);
  release();
  await opening;
  expect(ids().slice(18, 22)).toEqual(["p:t9", "a:t9", "c:early", "p:t10"]);
});

it("a short chat is one question", async () => {
  holds(contents(20));
  await made.chat.open("s1");
  expect(ids()).toHaveLength(40);
  expect(made.daemon.calls.filter(({ method }) => method === "gemini/session/history")).toHaveLength(1);
});
