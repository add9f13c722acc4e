// @vitest-environment jsdom
/** The list of MCP servers: where each stands, what is wrong, what can be done. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { baseState } from "../../panel/chatRows.js";
import { serverAnswers } from "../../panel/serverAnswers.js";
import { fixtures } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const settle = () => panel.pass((ms) => vi.advanceTimersByTimeAsync(ms), 0);

beforeEach(async () => {
  vi.useFakeTimers({ now: Date.now() });
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures.serversOpen) if (message.type !== "result") await panel.take(message);
  await settle();
});
afterEach(async () => {
  await panel.unmount();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the MCP servers", () => {
  it("are listed with what each starts, where it stands, and what is wrong", () => {
    for (const text of [
      "ready · 1 tool",
      "npx -y server-filesystem /home/me",
      "waits for your consent",
      "mcpServers.old",
      String.raw`decides what is\u{202e} run.`,
    ])
      expect(panel.text).toContain(text);
    expect(panel.text).toContain("It wants you to log in.");
  });

  it("are started by a workspace only with consent to the command that is shown", async () => {
    await panel.click("button", "Agree and Start: notes");
    await settle();
    expect(panel.host.asked("serverAction")).toEqual([
      { do: "serverAction", server: "notes", action: "agree", digest: "f".repeat(64) },
    ]);
  });

  it("offer what can be done where they stand, and no more", async () => {
    expect(panel.has("button", "Restart: files")).toBe(true);
    expect(panel.has("button", "Log In: tickets")).toBe(true);
    expect(panel.has("button", "Restart: notes")).toBe(false);
    expect(panel.has("button", "Log In: files")).toBe(false);
    await panel.click("button", "Disable: files");
    await settle();
    expect(panel.host.asked("serverAction")).toEqual([{ do: "serverAction", server: "files", action: "disable" }]);
  });

  it("say why one is off whose settings file cannot be read, and offer nothing that could not start it", () => {
    expect(panel.text).toContain("off until its settings file can be read");
    expect(panel.text).toContain("/home/me/.gemini/settings.json cannot be read");
    for (const action of ["Enable", "Restart", "Disable"]) expect(panel.has("button", `${action}: vault`)).toBe(false);
  });

  it("show their prompts as the slash commands that they are", async () => {
    await panel.click("button", "What It Offers");
    expect(panel.text).toContain("/summarise");
  });

  it("keep the focus at the server that was acted on, though its button is gone, and close with Esc", async () => {
    const { servers } = serverAnswers.servers;
    vi.spyOn(document, "hasFocus").mockReturnValue(true);
    panel.host.answering = false;
    await panel.click("button", "Disable: tickets");
    panel.host.questions.at(-1)?.settle({ servers, problems: [] });
    await settle();
    await settle();
    expect(panel.host.asked("servers")).toHaveLength(2);
    const disabled = servers.map((one) => (one.name === "tickets" ? { ...one, state: "disabled" } : one));
    panel.host.questions.at(-1)?.settle({ servers: disabled, problems: [] });
    await settle();
    expect(document.activeElement).toBe(panel.get("button", "Enable: tickets"));
    await panel.press("Escape");
    expect(panel.has("dialog")).toBe(false);
  });

  it("are asked for again when one of them moves", async () => {
    await panel.take({ type: "state", state: { ...baseState, serverChanges: 1 } });
    await settle();
    expect(panel.host.asked("servers")).toHaveLength(2);
  });
});
