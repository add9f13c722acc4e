// @vitest-environment jsdom
/** What a prompt may not mean is marked while it is written, and asked about before it is sent. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PageResults } from "../../../src/panel/contract.js";
import { Mounted } from "./mounted.js";

type Mentions = PageResults["check"]["mentions"];

const MISSING = "no such file or folder in the workspace";
const nope: Mentions = [{ written: "@nope/missing.py", found: "nothing", reason: MISSING }];

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Types, and lets the daemon find `mentions`. */
async function write(text: string, mentions: Mentions = []): Promise<void> {
  panel.host.answering = false;
  await panel.type(text);
  await panel.pass(advance, 300);
  await answer(mentions);
}

async function answer(mentions: Mentions): Promise<void> {
  for (const question of panel.host.questions.splice(0))
    question.settle(question.request.do === "check" ? { mentions } : { files: [] });
  await panel.pass(advance, 0);
}

async function send(mentions: Mentions = []): Promise<void> {
  await panel.press("Enter");
  await answer(mentions);
}

beforeEach(async () => {
  vi.useFakeTimers({ now: Date.now() });
  panel = await Mounted.with();
});
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("a mention of nothing", () => {
  it("is marked while the prompt is written, but not while it is being typed", async () => {
    await write("see @nope/missing.py", nope);
    expect(panel.get("status", "Not clear").textContent).toBe("");
    await write("see @nope/missing.py please", nope);
    expect(panel.get("status", "Not clear").textContent).toBe(`@nope/missing.py: ${MISSING}`);
    await write("see nothing");
    expect(panel.get("status", "Not clear").textContent).toBe("");
  });

  it("is asked about before it is sent, and stays in the composer if the person says no", async () => {
    await write("see @nope/missing.py please", nope);
    await send(nope);
    expect(panel.text).toContain(`@nope/missing.py: ${MISSING}. Send the prompt without it?`);
    await panel.click("button", "Cancel");
    expect(panel.host.sent).toEqual([]);
    expect(panel.prompt.value).toBe("see @nope/missing.py please");
  });

  it("is sent all the same if the person says so, and not asked about twice", async () => {
    await write("see @nope/missing.py please", nope);
    await send(nope);
    await panel.click("button", "Send Anyway");
    await panel.pass(advance, 0);
    expect(panel.host.sent).toContainEqual({ type: "send", text: "see @nope/missing.py please" });
    expect(panel.prompt.value).toBe("");
    await write("and @nope/missing.py again", nope);
    await send(nope);
    expect(panel.host.sent).toContainEqual({ type: "send", text: "and @nope/missing.py again" });
  });

  it("keeps no prompt back that names what there is, or where the daemon cannot say", async () => {
    await write("see @a.py please", [{ written: "@a.py", found: "file", path: "/w/a.py" }]);
    await send([{ written: "@a.py", found: "file", path: "/w/a.py" }]);
    expect(panel.host.sent).toContainEqual({ type: "send", text: "see @a.py please" });
    await write("see @b.py please");
    await panel.press("Enter");
    for (const question of panel.host.questions.splice(0)) question.fail(new Error("gone"));
    await panel.pass(advance, 0);
    expect(panel.host.sent).toContainEqual({ type: "send", text: "see @b.py please" });
  });
});

describe("a command that is none", () => {
  it.each([
    ["/undo now please", "/undo takes nothing behind it."],
    ["/help me", "/help takes nothing behind it."],
    ["/nonsense", "/nonsense is no command."],
    ["//", "// is no command."],
  ])("%s is marked and asked about", async (text, doubt) => {
    await write(text);
    expect(panel.get("status", "Not clear").textContent).toBe(doubt);
    await send();
    expect(panel.host.sent).toEqual([]);
    await panel.click("button", "Send as Prompt");
    await panel.pass(advance, 0);
    expect(panel.host.sent).toContainEqual({ type: "send", text });
  });

  it("is not marked while it is being typed", async () => {
    await write("/und");
    expect(panel.get("status", "Not clear").textContent).toBe("");
  });

  it("goes as text with two slashes, and says so", async () => {
    await write("//undo means what?");
    expect(panel.get("status", "Not clear").textContent).toBe("Goes as text that begins with /undo.");
    await send();
    expect(panel.host.sent).toContainEqual({ type: "send", text: "//undo means what?" });
  });

  it("names the models there are for one that there is not, and keeps the text", async () => {
    await write("/model gpt-4");
    await send();
    expect(panel.host.sent).toEqual([]);
    expect(panel.text).toContain("There is no model gpt-4 in the list.");
    expect(panel.prompt.value).toBe("/model gpt-4");
  });
});

describe("a prompt that waits for the look-up of its mentions", () => {
  const prompt = "delete @old.ts";
  const found: Mentions = [{ written: "@old.ts", found: "file", path: "/w/old.ts" }];

  it("is not sent when it was written on meanwhile", async () => {
    await write(prompt, found);
    await panel.press("Enter");
    await panel.type("do NOT delete @old.ts");
    await answer(found);
    expect(panel.host.sent).toEqual([]);
    expect(panel.prompt.value).toBe("do NOT delete @old.ts");
  });

  it("is not sent to a chat that is shown meanwhile", async () => {
    await write(prompt, found);
    await panel.press("Enter");
    await panel.state({ session: { sessionId: "another", title: "" } });
    await answer(found);
    expect(panel.host.sent).toEqual([]);
  });

  it("is not sent when something hinders it meanwhile, and it says what", async () => {
    await write(prompt, found);
    await panel.press("Enter");
    await panel.state({ session: { sessionId: "s1", title: "", heldBy: 4711 } });
    await answer(found);
    expect(panel.host.sent).toEqual([]);
    expect(panel.shell.assertive.value.text).not.toBe("");
  });

  it("is sent without when that takes long", async () => {
    await write(prompt, found);
    await panel.press("Enter");
    await panel.pass(advance, 1_400);
    expect(panel.host.sent).toEqual([]);
    await panel.pass(advance, 200);
    expect(panel.host.sent).toContainEqual({ type: "send", text: prompt });
  });
});

describe("a prompt that went to the host", () => {
  const waiting = [{ id: "q1", text: "one" }];
  it.each([
    ["the daemon is lost", { daemon: { kind: "lost", attempt: 1, retryAt: 0 } }],
    ["it waits in the queue", { queue: waiting }],
    ["another chat is shown", { session: { sessionId: "another", title: "" } }],
  ] as const)("is not shown as on its way when %s", async (_, change) => {
    await write("one");
    await send();
    expect(panel.shell.sending.value).toBe(0);
    await panel.state(change);
    expect(panel.shell.sending.value).toBeUndefined();
  });
});
