// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PanelState } from "../../../src/panel/contract.js";
import { CallError } from "../../../webview/bridge.js";
import { answers } from "../../panel/answers.js";
import { fixtures, type FixtureName } from "../../panel/fixtures.js";
import { Mounted, nameOf } from "./mounted.js";

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const settle = () => panel.pass(advance, 0);

async function show(name: FixtureName): Promise<void> {
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures[name]) if (message.type !== "result") await panel.take(message);
  await settle();
}

function stateOf(name: FixtureName): PanelState {
  const sync = fixtures[name].find((message) => message.type === "sync");
  if (sync === undefined) throw new Error(`${name} is not staged as a whole`);
  return sync.state;
}

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

/** States in which a chat cannot be compressed, and why. */
const HINDERED = [
  ["compressing", "Possible once the compression under way has ended."],
  ["readOnly", "Another window is using this chat. Fork it, or take it over."],
] as const;
const COMPRESSING = ["Compress…", "Preview Compression…", "Undo Last Compression…"];

describe("the states of the panel", () => {
  it.each([
    ["starting", "Starting Gemini Companion…", undefined],
    ["noPython", "Python is needed", "Choose Python…"],
    ["versionMismatch", "Versions do not fit together", "Update"],
    ["crashed", "The daemon does not stay up", "Restart"],
    ["noKey", "Set an API key", "Set API Key"],
    ["keyRefused", "refused the credentials", "Set API Key"],
    ["untrusted", "This workspace is not trusted.", "Manage Trust"],
    ["daemonLost", "The connection to the daemon was lost.", "Restart Now"],
    ["readOnly", "Another window is using this chat", "Take Over"],
    ["empty", "Ask about your code", "What does tokenizer.py do?"],
  ] as const)("%s says “%s” and offers “%s”", async (name, text, button) => {
    await show(name);
    expect(panel.text).toContain(text);
    if (button !== undefined) expect(panel.has("button", button)).toBe(true);
  });

  it("send the host's actions back as they are", async () => {
    await show("keyRefused");
    await panel.click("button", "Set API Key");
    expect(panel.host.sent).toEqual([{ type: "action", action: { id: "setApiKey", label: "Set API Key" } }]);
  });

  it("count down to the next try", async () => {
    await show("daemonLost");
    expect(panel.text).toMatch(/Next try in \d s\./);
    await panel.pass(advance, 10_000);
    expect(panel.text).not.toContain("Next try");
  });

  it("put an example into the composer without sending it", async () => {
    await show("empty");
    await panel.click("button", "What does tokenizer.py do?");
    expect(panel.prompt.value).toBe("What does tokenizer.py do?");
    expect(document.activeElement).toBe(panel.prompt);
    expect(panel.host.sent).toEqual([]);
  });

  it("put an example beside what is written, and never in its place", async () => {
    await show("empty");
    await panel.type("a long thought");
    await panel.click("button", "What does tokenizer.py do?");
    expect(panel.prompt.value).toBe("a long thought What does tokenizer.py do?");
  });

  it("offer a reload if a part of the page is gone", async () => {
    panel = new Mounted();
    panel.shell.broken.value = true;
    await panel.render();
    await panel.click("button", "Reload Window");
    expect(panel.host.sent).toEqual([{ type: "action", action: { id: "reloadWindow", label: "Reload Window" } }]);
  });

  it("tell an error once, not with every state", async () => {
    await show("keyRefused");
    const alert = () => panel.get("alert").firstElementChild;
    const first = alert();
    expect(first?.textContent).toContain("refused the credentials");
    const [message] = fixtures.keyRefused;
    if (message?.type === "sync")
      await panel.take({ type: "state", state: { ...message.state, rules: { inForce: 5, proposed: 0 } } });
    expect(alert()).toBe(first);
  });

  it.each(["keyRefused", "daemonLost", "noPython"] as const)(
    "leave nothing of an error in the regions that are read out once it is mended (%s)",
    async (name) => {
      await show(name);
      expect(panel.get("alert").textContent).not.toBe("");
      for (const message of fixtures.idle) await panel.take(message);
      expect(panel.get("alert").textContent).toBe("");
    },
  );

  it("read nothing of another chat", async () => {
    await show("idle");
    panel.shell.announce("Answer finished, 7 words");
    panel.shell.announce("The answer was cut off.", true);
    for (const message of fixtures.empty) await panel.take(message);
    expect([panel.shell.polite.value.text, panel.shell.assertive.value.text]).toEqual(["", ""]);
  });
});

describe("the meter", () => {
  it("says how full the context is, visible text first, and where compression starts", async () => {
    await show("idle");
    expect(nameOf(panel.get("button", /context used/))).toBe(
      "39% of the context used, 412,310 of 1,048,576 tokens, compression starts at 524,288",
    );
  });

  it("opens a table and never compresses by itself", async () => {
    await show("idle");
    await panel.click("button", /context used/);
    await settle();
    expect(panel.get("row", /^Messages/).textContent).toBe("Messages231,55622%");
    expect(panel.get("dialog", "Context").textContent).toContain("Compression starts at 524,288 tokens.");
    expect(panel.host.sent).toEqual([]);
    await panel.click("button", "Compress with Guidance…");
    expect(panel.host.sent).toEqual([{ type: "compress", preview: false, guided: true }]);
    expect(panel.has("dialog")).toBe(false);
  });

  it.each(HINDERED)("does not offer to compress when it is %s, and says why", async (state, why) => {
    await show(state);
    await panel.click("button", /context used/);
    await settle();
    await panel.click("button", "Compress…");
    expect(panel.host.sent).toEqual([]);
    const button = panel.get("button", "Compress…");
    expect([button.getAttribute("aria-disabled"), button.title]).toEqual(["true", why]);
  });

  it("offers to compress while an answer is made, which it waits for", async () => {
    await show("streaming");
    await panel.click("button", /context used/);
    await settle();
    await panel.click("button", "Compress…");
    expect(panel.host.sent).toEqual([{ type: "compress", preview: false, guided: false }]);
  });

  it("says what went wrong if the parts cannot be counted", async () => {
    await show("idle");
    panel.host.answering = false;
    await panel.click("button", /context used/);
    await settle();
    const view = {
      kind: "daemon",
      message: "The daemon is gone.",
      hint: "Restart it.",
      retryable: true,
      actions: [{ id: "restartDaemon", label: "Restart" } as const],
    };
    for (const question of panel.host.questions) question.fail(new CallError(view));
    await settle();
    expect(panel.get("dialog", "Context").textContent).toContain("The daemon is gone. Restart it.");
    expect(panel.has("button", "Restart")).toBe(true);
  });
});

describe("pop-ups", () => {
  it("close with Esc, stop nothing by it, and give the focus back", async () => {
    await show("streaming");
    await panel.click("button", "More");
    expect(document.activeElement?.textContent).toBe("Open as Markdown");
    await panel.press("Escape");
    expect(panel.has("menu")).toBe(false);
    expect(document.activeElement).toBe(panel.get("button", "More"));
    expect(panel.host.sent).toEqual([]);
  });

  it("are closed by their own button and by a click beside them", async () => {
    await show("idle");
    await panel.click("button", "More");
    await panel.click("button", "More");
    expect(panel.has("menu")).toBe(false);
    await panel.click("button", "More");
    await panel.click("button", "Find in chat");
    expect(panel.has("menu")).toBe(false);
  });

  it("are walked with arrows and letters; what is impossible now can be read but not chosen", async () => {
    await show("idle");
    const asked = [...panel.host.questions];
    await panel.click("button", "More");
    await panel.press("ArrowUp");
    expect(document.activeElement?.textContent).toBe("Commands and Keys");
    await panel.press("u");
    expect(document.activeElement?.textContent).toBe("Undo Last Compression…");
    await panel.click("menuitem", "Undo Last Compression…");
    expect(panel.host.questions).toEqual(asked);
    expect(panel.has("menu")).toBe(true);
  });

  it.each(HINDERED)("offer nothing of a compression when the chat is %s, and say why", async (state, why) => {
    panel = await Mounted.with({ ...stateOf(state), canUndo: true });
    await panel.click("button", "More");
    for (const label of COMPRESSING) {
      await panel.click("menuitem", label);
      const item = panel.get("menuitem", label);
      expect([item.getAttribute("aria-disabled"), item.title], label).toEqual(["true", why]);
    }
    expect([panel.host.sent, panel.host.asked("compressions")]).toEqual([[], []]);
  });

  it("give no reason of the moment where there is nothing to undo", async () => {
    panel = await Mounted.with({ ...stateOf("compressing"), canUndo: false });
    await panel.click("button", "More");
    const item = panel.get("menuitem", "Undo Last Compression…");
    expect([item.getAttribute("aria-disabled"), item.title]).toEqual(["true", ""]);
  });

  it("offer a compression and its undo while an answer is made", async () => {
    panel = await Mounted.with({ ...stateOf("streaming"), canUndo: true });
    for (const label of COMPRESSING) {
      await panel.click("button", "More");
      await panel.click("menuitem", label);
    }
    expect(panel.host.sent).toEqual([
      { type: "compress", preview: false, guided: false },
      { type: "compress", preview: true, guided: false },
    ]);
    expect(panel.host.asked("compressions")).toHaveLength(1);
  });

  it("choose the model", async () => {
    await show("idle");
    await panel.click("button", "gemini-3-pro");
    expect(panel.get("menuitemradio", /^As the settings say/).getAttribute("aria-checked")).toBe("true");
    await panel.click("menuitemradio", /^gemini-3-flash/);
    expect(panel.host.sent).toEqual([{ type: "model", name: "gemini-3-flash" }]);
  });
});

describe("the chats", () => {
  it("are searched in full text once typing pauses, and opened", async () => {
    await show("sessionsOpen");
    const search = panel.get("searchbox", "Search in all chats");
    expect(document.activeElement).toBe(search);
    if (search instanceof HTMLInputElement) await panel.type("changelog", search);
    await panel.pass(advance, 200);
    expect(panel.host.asked("sessions").at(-1)).toEqual({ do: "sessions", query: "changelog" });
    for (const down of [1, 2, 3, 4]) expect(await panel.press("ArrowDown"), `${down}`).toBe(true);
    expect(document.activeElement?.textContent).toMatch(/^Changelog for the next release/);
    await panel.click("button", /^Changelog for the next/);
    expect(panel.host.sent).toContainEqual({ type: "openSession", sessionId: "s2" });
    expect(panel.has("dialog")).toBe(false);
  });

  it("are renamed, exported and deleted by the host, and read anew when the panel has the focus again", async () => {
    await show("sessionsOpen");
    await panel.click("button", "Rename Speed of the import");
    await panel.click("button", "Export Speed of the import");
    await panel.click("button", "Delete Speed of the import");
    expect(panel.host.sent).toEqual([
      { type: "chat", do: "rename", sessionId: "s3" },
      { type: "chat", do: "export", sessionId: "s3" },
      { type: "chat", do: "delete", sessionId: "s3" },
    ]);
    expect(panel.host.asked("sessions")).toHaveLength(1);
    window.dispatchEvent(new Event("focus"));
    await panel.pass(advance, 250);
    await settle();
    expect(panel.host.asked("sessions")).toHaveLength(2);
    expect(panel.has("dialog", "Chats")).toBe(true);
  });

  it("say what they take and when they go, and are kept by their button", async () => {
    await show("sessionsOpen");
    const shown = (title: RegExp) => panel.get("button", title).textContent;
    expect(shown(/^Changelog for the next/)).toMatch(/1\.8 MB · goes Apr \d/);
    expect(shown(/^Speed of the import/)).toMatch(/in another window · .* · 24\.5 kB · is kept$/);
    const keep = panel.get("button", /^Keep Changelog for the next/);
    expect(keep.getAttribute("aria-pressed")).toBe("false");
    expect(panel.get("button", "Keep Speed of the import").getAttribute("aria-pressed")).toBe("true");
    await panel.click("button", /^Keep Changelog for the next/);
    await settle();
    await panel.pass(advance, 200);
    await panel.pass(advance, 0);
    expect(panel.host.asked("keep")).toEqual([{ do: "keep", sessionId: "s2", on: true }]);
    expect(panel.host.asked("sessions")).toHaveLength(2);
    await panel.click("button", "Keep Speed of the import");
    expect(panel.host.asked("keep").at(-1)).toEqual({ do: "keep", sessionId: "s3", on: false });
  });

  it("come page by page", async () => {
    await show("sessionsOpen");
    panel.host.answering = false;
    await panel.click("button", "Show More");
    expect(panel.host.asked("sessions").at(-1)).toEqual({ do: "sessions", query: "", cursor: "s3" });
    const [first] = answers.sessions.sessions;
    panel.host.questions.at(-1)?.settle({ sessions: [{ ...first, sessionId: "s4", title: "An old one" }] });
    await settle();
    expect(panel.has("button", /^An old one/)).toBe(true);
    expect(panel.has("button", /^Speed of the import/)).toBe(true);
    expect(panel.has("button", "Show More")).toBe(false);
  });
});
