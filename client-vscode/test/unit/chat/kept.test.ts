import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { FakeMemory, stage, type Stage } from "./fakeDaemon.js";
import { turn } from "./scriptedEvents.js";

const stages: Stage[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { chat } of stages.splice(0)) chat.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 20 }); // a draft may still be on its way
});

function staged(...args: Parameters<typeof stage>): Stage {
  const made = stage(...args);
  stages.push(made);
  return made;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "companion-"));
  folders.push(path);
  return path;
}

const ids = ({ chat }: Stage): string[] => chat.conversation.rows.map((row) => row.id);

describe("what is kept", () => {
  it("is not overwritten by what happens before it is read", async () => {
    const path = await folder();
    const memory = new FakeMemory({ lastSession: "s1" });
    const first = staged(path, memory);
    await first.chat.loaded;
    first.chat.setDraft("half a thought", "end");
    await first.chat.flushDraft();
    const second = staged(path, memory);
    second.reporter.setIncluded("file:///w/a.py", false); // the editor reports before the file is read
    await second.chat.flushDraft();
    await second.chat.loaded;
    await second.chat.flushDraft();
    const third = staged(path, memory);
    await third.chat.loaded;
    expect(third.chat.saved.draft).toBe("half a thought");
  });

  it("comes back with the next window: chat, draft, queue and what was taken out", async () => {
    const path = await folder();
    const memory = new FakeMemory();
    const first = staged(path, memory);
    const turns = first.daemon.playTurns();
    void first.chat.prompts.submit("one");
    await vi.waitFor(() => expect(turns).toHaveLength(1));
    turns[0]?.start();
    await first.chat.prompts.submit("two");
    first.chat.setDraft("half a thought", "end");
    first.reporter.setIncluded("file:///w/a.py", false);
    await first.chat.flushDraft();

    const second = staged(path, memory);
    await second.chat.loaded;
    expect(second.chat.saved.draft).toBe("half a thought");
    expect(second.reporter.excluded).toEqual(["file:///w/a.py"]);
    expect(second.chat.queue.prompts.map(({ text }) => text)).toEqual(["two"]);
    second.daemon.sessions.set("s1", turn("t1"));
    await second.chat.begin();
    await vi.waitFor(() => expect(ids(second)).toEqual(["p:t1", "a:t1"]));
    expect(second.chat.queue.held).toBe("restored");
  });

  it("does not put an old draft over what is being typed when the same session is opened again", async () => {
    const made = staged(await folder(), new FakeMemory({ lastSession: "s1" }));
    made.daemon.sessions.set("s1", []);
    const prefills: string[] = [];
    made.chat.onPrefill((text) => prefills.push(text));
    await made.chat.begin();
    await made.daemon.restart();
    expect(prefills).toEqual([]);
    await made.chat.startNew();
    expect(prefills).toEqual([""]);
  });

  it("begins empty when the last session is gone", async () => {
    const made = staged(undefined, new FakeMemory({ lastSession: "gone" }));
    await made.chat.begin();
    expect(made.chat.info).toBeUndefined();
    expect(made.chat.fault).toBeUndefined();
  });
});
