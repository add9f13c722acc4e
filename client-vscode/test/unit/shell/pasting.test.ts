// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const sends = () => panel.host.sent.filter(({ type }) => type === "send");

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("a long text that is pasted", () => {
  const text = Array.from({ length: 1_200 }, (_, line) => `line ${line}`).join("\n");
  const marker = "[Pasted text 1: 1,200 lines]";
  const paste = (pasted: string) => panel.paste(pasted);

  it("is an attachment, and what is sent has it where it was pasted", async () => {
    panel = await Mounted.with();
    await panel.type("see  please");
    panel.prompt.setSelectionRange(4, 4);
    expect(await paste(text.replaceAll("\n", "\r\n"))).toBe(true);
    expect(panel.prompt.value).toBe(`see ${marker} please`);
    expect(panel.get("button", /^Pasted text 1/).textContent).toContain("1,200 lines");
    expect(panel.shell.polite.value.text).toContain("Attached: Pasted text 1, 1,200 lines");
    await panel.press("Enter");
    const pasted = [{ start: 4, length: text.length }];
    expect(sends()).toEqual([{ type: "send", text: `see ${text} please`, pasted }]);
    expect(panel.prompt.value).toBe("");
    expect(panel.has("button", /^Pasted text/)).toBe(false);
  });

  it("is left alone where a text has a picture beside it, as cells of a spreadsheet have", async () => {
    panel = await Mounted.with();
    expect(await panel.paste("short", ["text/plain", "Files"])).toBe(false);
    expect(panel.shell.note.value).toBeUndefined();
  });

  it("is left to the text area if it is short", async () => {
    panel = await Mounted.with();
    expect(await paste("short")).toBe(false);
  });

  it("is kept by the host with its place, and comes back with another chat, in a sync, and from the history", async () => {
    panel = await Mounted.with();
    await panel.sync({}, [], { text: "", scroll: "end" });
    await paste(text);
    panel.drafts.flush();
    const pasted = [{ start: 0, length: text.length }];
    expect(panel.host.sent.at(-1)).toEqual({ type: "draft", draft: 1, text, scroll: "end", pasted });
    await panel.take({ type: "command", command: { do: "setDraft", draft: 2, text: "of the second" } });
    expect(panel.has("button", /^Pasted text/)).toBe(false);
    await panel.take({
      type: "command",
      command: { do: "setDraft", draft: 3, text: `a ${text}`, pasted: [{ start: 2, length: text.length }] },
    });
    expect(panel.prompt.value).toBe(`a ${marker}`);
    panel.host.answering = false;
    panel.prompt.setSelectionRange(0, 0);
    panel.prompt.focus();
    await panel.press("ArrowUp");
    panel.host.questions
      .at(-1)
      ?.settle({ prompts: [{ text: `sent: ${text}`, pasted: [{ start: 6, length: text.length }] }] });
    await panel.pass(advance, 0);
    expect(panel.prompt.value).toBe(`sent: ${marker}`);
    await panel.press("ArrowDown");
    expect(panel.prompt.value).toBe(`a ${marker}`);
    await panel.press("Enter");
    expect(sends()).toEqual([{ type: "send", text: `a ${text}`, pasted: [{ start: 2, length: text.length }] }]);
  });

  it("comes back as it was in a page that has just begun", async () => {
    panel = await Mounted.with();
    await panel.sync({}, [], { text: `a ${text}`, scroll: "end", pasted: [{ start: 2, length: text.length }] });
    expect(panel.prompt.value).toBe(`a ${marker}`);
  });

  it("can be read, put into the text, and taken out", async () => {
    panel = await Mounted.with();
    await paste(text);
    await panel.click("button", /^Pasted text 1/);
    await panel.click("menuitem", /^Open/);
    expect(panel.host.sent.at(-1)).toEqual({ type: "read", name: "Pasted text 1.txt", text });
    await panel.click("button", "Take Pasted text 1 out");
    expect(panel.prompt.value).toBe("");
    await paste(text);
    await panel.click("button", /^Pasted text 1/);
    await panel.click("menuitem", "Insert as Text");
    expect(panel.prompt.value).toBe(text);
    expect(panel.has("button", /^Pasted text/)).toBe(false);
  });

  it("is refused if the prompt became longer than the host takes, and nothing of the draft is lost", async () => {
    panel = await Mounted.with();
    await panel.type("mine");
    await paste("x".repeat(4_000_000));
    expect(panel.prompt.value).toBe("mine");
    expect(panel.get("alert").textContent).toContain("at most 4,000,000 characters");
  });

  it("goes with its marker into the clipboard, and leaves with it", async () => {
    panel = await Mounted.with();
    await paste(text);
    panel.prompt.select();
    expect(await panel.cut()).toBe(text);
    expect(panel.prompt.value).toBe("");
  });

  it("is an attachment too if it comes from the editor", async () => {
    panel = await Mounted.with();
    await panel.take({ type: "command", command: { do: "insert", text } });
    expect(panel.prompt.value).toBe(marker);
  });

  it("goes with its marker at one key", async () => {
    panel = await Mounted.with();
    await panel.type("see ");
    await paste(text);
    expect(await panel.press("Backspace")).toBe(true);
    expect(panel.prompt.value).toBe("see ");
    expect(await panel.press("Backspace")).toBe(false);
  });
});
