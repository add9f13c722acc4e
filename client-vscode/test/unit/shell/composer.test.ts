// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { baseState } from "../../panel/chatRows.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const sends = () => panel.host.sent.filter(({ type }) => type === "send");
const running = { job: { kind: "turn", id: "t1" } } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("sending", () => {
  it("posts the prompt and empties the composer", async () => {
    panel = await Mounted.with();
    await panel.type("Why?");
    expect(await panel.press("Enter")).toBe(true);
    expect(sends()).toEqual([{ type: "send", text: "Why?" }]);
    expect(panel.prompt.value).toBe("");
    expect(panel.transcript.received).toContain("promptSent");
  });

  it("works with the button and keeps the focus where it was put", async () => {
    panel = await Mounted.with();
    await panel.type("Why?");
    await panel.click("button", "Send");
    expect(sends()).toHaveLength(1);
  });

  it("does not happen for a blank, for Shift+Enter, or while an input method composes", async () => {
    panel = await Mounted.with();
    await panel.type("  ");
    await panel.press("Enter");
    await panel.type("Why?");
    expect(await panel.press("Enter", { shiftKey: true })).toBe(false);
    expect(await panel.press("Enter", { isComposing: true })).toBe(false);
    expect(await panel.press("Enter", { keyCode: 229 })).toBe(false);
    expect(sends()).toEqual([]);
  });

  it("takes Ctrl+Enter if that is the setting, and leaves Enter to the text", async () => {
    panel = await Mounted.with({ settings: { ...baseState.settings, sendWith: "ctrlEnter" } });
    await panel.type("Why?");
    expect(await panel.press("Enter")).toBe(false);
    await panel.press("Enter", { ctrlKey: true });
    expect(sends()).toHaveLength(1);
  });

  it("keeps the text and says why if another window has the chat", async () => {
    panel = await Mounted.with({ session: { sessionId: "s1", title: "T", heldBy: 12 } });
    await panel.type("Why?");
    await panel.press("Enter");
    expect(sends()).toEqual([]);
    expect(panel.prompt.value).toBe("Why?");
    expect(panel.get("alert").textContent).toContain("Another window");
  });

  it("works while the daemon is lost: the host keeps the prompt", async () => {
    panel = await Mounted.with({ daemon: { kind: "lost", attempt: 1, retryAt: 0 } });
    await panel.type("Why?");
    await panel.press("Enter");
    expect(sends()).toHaveLength(1);
  });
});

describe("stopping", () => {
  it("is offered while something runs, says so at once, and that it takes long after a second", async () => {
    panel = await Mounted.with();
    expect(panel.has("button", "Stop")).toBe(false);
    await panel.state(running);
    await panel.click("button", "Stop");
    expect(panel.host.sent).toContainEqual({ type: "stop" });
    expect(panel.has("button", "Stopping…")).toBe(true);
    await panel.pass(advance, 1_000);
    expect(panel.has("button", "Still stopping…")).toBe(true);
    await panel.state({});
    expect(panel.has("button", /top/)).toBe(false);
  });

  it("is Esc, but with a list open Esc only closes the list", async () => {
    panel = await Mounted.with(running);
    await panel.type("/co");
    expect(panel.has("listbox")).toBe(true);
    await panel.press("Escape");
    expect(panel.has("listbox")).toBe(false);
    expect(panel.host.sent.filter(({ type }) => type === "stop")).toEqual([]);
    await panel.press("Escape");
    expect(panel.host.sent.filter(({ type }) => type === "stop")).toHaveLength(1);
  });
});

describe("naming files with @", () => {
  it("asks once typing pauses and puts the chosen path in", async () => {
    panel = await Mounted.with();
    await panel.type("see @t");
    await panel.type("see @to");
    expect(panel.host.asked("files")).toEqual([]);
    await panel.pass(advance, 120);
    expect(panel.host.asked("files")).toEqual([{ do: "files", query: "to" }]);
    expect(panel.get("option", /^tokenizer\.py/).getAttribute("aria-selected")).toBe("true");
    expect(panel.prompt.getAttribute("aria-activedescendant")).toBe(panel.get("option", /^tokenizer\.py/).id);
    await panel.press("ArrowDown");
    await panel.press("Enter");
    expect(panel.prompt.value).toBe("see @tests/test_tokenizer.py ");
    expect(sends()).toEqual([]);
    expect(panel.has("listbox")).toBe(false);
  });

  it("quotes a path with a space", async () => {
    panel = await Mounted.with();
    await panel.type("@gram");
    await panel.pass(advance, 120);
    await panel.press("End");
    await panel.press("ArrowUp");
    await panel.press("Tab");
    expect(panel.prompt.value).toBe('@"docs/token grammar.md" ');
  });

  it("takes a command of a file like a file, by keys, and waits for what follows it", async () => {
    panel = await Mounted.with();
    await panel.pass(advance, 0);
    await panel.type("/gi");
    expect(panel.get("listbox", "Commands").children).toHaveLength(1);
    expect(panel.prompt.getAttribute("aria-activedescendant")).toBe(panel.get("option", /^\/git:review/).id);
    await panel.press("Tab");
    expect(panel.prompt.value).toBe("/git:review ");
    expect(sends()).toEqual([]);
    await panel.type("/git:review src/a.ts");
    expect(panel.has("listbox")).toBe(false);
    await panel.press("Enter");
    expect(sends()).toEqual([{ type: "send", text: "/git:review src/a.ts" }]);
  });

  it("drops an answer that comes after a newer question", async () => {
    panel = await Mounted.with();
    panel.host.answering = false;
    await panel.type("@a");
    await panel.pass(advance, 120);
    await panel.type("@ab");
    await panel.pass(advance, 120);
    const [older, newer] = panel.host.questions.filter(({ request }) => request.do === "files");
    newer?.settle({ files: [{ path: "ab.py", label: "ab.py" }] });
    older?.settle({ files: [{ path: "a.py", label: "a.py" }] });
    await panel.pass(advance, 0);
    expect(panel.all("option").map((option) => option.textContent)).toEqual(["ab.py"]);
  });

  it("leaves Enter to sending when nothing was found", async () => {
    panel = await Mounted.with();
    panel.host.answering = false;
    await panel.type("@zzz");
    await panel.pass(advance, 120);
    panel.host.questions[0]?.settle({ files: [] });
    await panel.pass(advance, 0);
    await panel.press("Enter");
    panel.host.questions.at(-1)?.settle({ mentions: [] });
    await panel.pass(advance, 0);
    expect(sends()).toEqual([{ type: "send", text: "@zzz" }]);
  });
});

describe("commands", () => {
  it("are carried out by the page, and nothing is sent as a prompt", async () => {
    panel = await Mounted.with();
    await panel.type("/new");
    await panel.press("Enter");
    expect(panel.host.sent).toContainEqual({ type: "chat", do: "new" });
    expect(sends()).toEqual([]);
    expect(panel.prompt.value).toBe("");
  });

  it("open what they name", async () => {
    panel = await Mounted.with();
    await panel.type("/context");
    await panel.press("Enter");
    expect(panel.has("dialog", "Context")).toBe(true);
    await panel.type("/find flush");
    await panel.press("Enter");
    expect(panel.get("searchbox", "Find in chat")).toHaveProperty("value", "flush");
  });

  it("go to the daemon if it is /compress, with its guidance", async () => {
    panel = await Mounted.with();
    await panel.type("/comp");
    await panel.press("Tab");
    expect(panel.prompt.value).toBe("/compress ");
    await panel.type("/compress keep the names");
    await panel.press("Enter");
    expect(sends()).toEqual([{ type: "send", text: "/compress keep the names" }]);
  });

  it("ask before a compression is undone", async () => {
    panel = await Mounted.with({ canUndo: true });
    await panel.type("/undo");
    await panel.press("Enter");
    await panel.pass(advance, 0);
    expect(panel.host.sent.filter(({ type }) => type === "compression")).toEqual([]);
    expect(document.activeElement?.textContent).toBe("Cancel");
    await panel.click("button", "Undo Compression");
    await panel.pass(advance, 0);
    expect(panel.host.sent).toContainEqual({ type: "compression", do: "undo", compressionId: "k1" });
    expect(document.activeElement).toBe(panel.prompt);
  });
});

describe("earlier prompts", () => {
  it("come with ↑ and the draft comes back with ↓", async () => {
    panel = await Mounted.with();
    await panel.type("my draft");
    panel.prompt.setSelectionRange(0, 0);
    await panel.press("ArrowUp");
    await panel.pass(advance, 0);
    expect(panel.prompt.value).toBe("Why does the tokenizer drop the last line?");
    await panel.press("ArrowDown");
    expect(panel.prompt.value).toBe("my draft");
    expect(panel.host.asked("prompts")).toHaveLength(1);
  });

  it("do not come over what was typed while they were asked for", async () => {
    panel = await Mounted.with();
    panel.host.answering = false;
    panel.prompt.focus();
    await panel.press("ArrowUp");
    await panel.type("typed meanwhile");
    panel.host.questions[0]?.settle({ prompts: [{ text: "old" }] });
    await panel.pass(advance, 0);
    expect(panel.prompt.value).toBe("typed meanwhile");
  });

  it("leave the draft in whose place they stand to its chat, though another chat is shown before its own draft comes", async () => {
    panel = await Mounted.with();
    await panel.type("half a thought");
    panel.prompt.setSelectionRange(0, 0);
    await panel.press("ArrowUp");
    await panel.pass(advance, 0);
    await panel.state({ session: { sessionId: "s2", title: "Another" } });
    expect(panel.prompt.value).toBe("Why does the tokenizer drop the last line?");
    await panel.take({ type: "command", command: { do: "setDraft", draft: 7, text: "of the second" } });
    expect(panel.host.sent.filter(({ type }) => type === "draft").at(-1)).toMatchObject({
      draft: 0,
      text: "half a thought",
    });
    expect(panel.prompt.value).toBe("of the second");
    panel.prompt.setSelectionRange(0, 0);
    await panel.press("ArrowUp");
    await panel.pass(advance, 0);
    await panel.press("ArrowDown");
    expect(panel.prompt.value).toBe("of the second");
    expect(panel.host.asked("prompts")).toHaveLength(2);
  });
});

describe("the focus", () => {
  it("is not taken when rows, states or announcements come", async () => {
    panel = await Mounted.with();
    const elsewhere = document.createElement("button");
    document.body.append(elsewhere);
    elsewhere.focus();
    await panel.state(running);
    await panel.take({
      type: "rows",
      total: 1,
      from: 0,
      rows: [{ kind: "prompt", id: "p:1", version: 1, turnId: "1", text: "x" }],
    });
    await panel.take({ type: "announce", text: "News", assertive: true });
    expect(document.activeElement).toBe(elsewhere);
    elsewhere.remove();
  });

  it("comes to the composer when a command asks for it, and goes to the newest message with Shift+Tab", async () => {
    panel = await Mounted.with({}, [{ kind: "prompt", id: "p:1", version: 1, turnId: "1", text: "x" }]);
    await panel.take({ type: "command", command: { do: "focusComposer" } });
    expect(document.activeElement).toBe(panel.prompt);
    await panel.press("Tab", { shiftKey: true });
    expect(panel.transcript.received).toContain("focusNewest");
  });
});

describe("text from the host", () => {
  it("goes in at the caret, apart from the word before it", async () => {
    panel = await Mounted.with();
    await panel.type("see and");
    panel.prompt.setSelectionRange(3, 3);
    await panel.take({ type: "command", command: { do: "insert", text: "@a.py" } });
    expect(panel.prompt.value).toBe("see @a.py and");
  });

  it("is sent at once with what stands there, if it is a command of the editor", async () => {
    panel = await Mounted.with();
    await panel.take({ type: "command", command: { do: "insert", text: "Explain this.", send: true } });
    expect(sends()).toEqual([{ type: "send", text: "Explain this." }]);
    expect(panel.prompt.value).toBe("");
  });

  it("takes the place of the draft when another chat is shown", async () => {
    panel = await Mounted.with();
    await panel.type("of the first chat");
    await panel.take({ type: "command", command: { do: "setDraft", draft: 2, text: "of the second" } });
    expect(panel.prompt.value).toBe("of the second");
  });
});

describe("files dropped on the panel", () => {
  it("are handed to the host as they are, without comments and repetitions", async () => {
    panel = await Mounted.with();
    const drop = new Event("drop", { bubbles: true, cancelable: true });
    const list = "# from the explorer\r\nfile:///ws/a.py\r\nvscode-remote://host/ws/b.py\r\nfile:///ws/a.py";
    Object.assign(drop, { dataTransfer: { types: ["text/uri-list"], getData: () => list } });
    panel.prompt.dispatchEvent(drop);
    expect(drop.defaultPrevented).toBe(true);
    expect(panel.host.sent).toEqual([{ type: "drop", uris: ["file:///ws/a.py", "vscode-remote://host/ws/b.py"] }]);
  });
});
