// @vitest-environment jsdom
/** The rules of consent in the panel: what they say, where they come from, and taking them back. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ruleSubject } from "../../../src/panel/toolRules.js";
import { fixtures, type FixtureName } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const settle = () => panel.pass(advance, 0);

async function show(name: FixtureName): Promise<void> {
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures[name]) if (message.type !== "result") await panel.take(message);
  await settle();
}

beforeEach(() => void vi.useFakeTimers({ now: Date.now() }));
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("the rules of tools", () => {
  it("open from the menu of modes, and say what they forbid, ask and allow, and where they come from", async () => {
    await show("idle");
    await panel.click("button", /^Mode: /);
    await panel.click("menuitem", /^Tool Rules/);
    await settle();
    const items = [...panel.get("dialog", "Tool rules").querySelectorAll("li")];
    expect(items.map((item) => item.textContent)).toEqual([
      "Any tool secrets/**this workspace’s settings",
      "Read web pagesbuilt in",
      "Run commands that begin with pytest -qin this chatRevoke",
      "Edit files /tests/**always: your settingsRevoke",
    ]);
    expect(panel.text).toContain("Ask first: Reads by itself");
    for (const head of ["Never", "Ask each time", "Allowed"]) expect(panel.text).toContain(head);
  });

  it("are revoked where the person gave them, and the focus stays in the list", async () => {
    await show("toolRulesOpen");
    await panel.click("button", "Revoke: Run commands that begin with pytest -q");
    await settle();
    expect(panel.host.asked("revokeToolRule")).toEqual([{ do: "revokeToolRule", ruleId: "rule-1" }]);
    expect(panel.text).toContain("Rule revoked: Run commands that begin with pytest -q");
    expect(panel.has("button", /^Revoke/)).toBe(false);
    expect(panel.get("dialog", "Tool rules").contains(document.activeElement)).toBe(true);
  });

  it("say what went wrong when one could not be revoked, and stay", async () => {
    await show("toolRulesOpen");
    panel.host.answering = false;
    await panel.click("button", /^Revoke: Edit files/);
    panel.host.questions.at(-1)?.fail(new Error("no"));
    await settle();
    expect(panel.text).toContain("Something went wrong inside the panel.");
    expect(panel.has("button", /^Revoke: Edit files/)).toBe(true);
  });

  it("can only be read in a chat that another window holds", async () => {
    await show("readOnly");
    await panel.take({ type: "command", command: { do: "openToolRules" } });
    await settle();
    expect(panel.all("listitem").some((item) => item.textContent.includes("pytest -q"))).toBe(true);
    expect(panel.has("button", /^Revoke/)).toBe(false);
  });

  it("are told as commands, files or tools; a word with blanks is quoted", () => {
    expect(ruleSubject({ tool: "run_shell_command", decision: "allow", command: ["git", "log one"] })).toEqual({
      title: "Run commands that begin with",
      code: "git 'log one'",
    });
    expect(ruleSubject({ tool: "run_shell_command", decision: "allow", command: ["make"], exact: true })).toEqual({
      title: "Run this command alone:",
      code: "make",
    });
    expect(ruleSubject({ tool: "toString", decision: "deny" })).toEqual({ title: "toString", code: "" });
  });
});
