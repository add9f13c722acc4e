// @vitest-environment jsdom
/** The list of skills: which there are, turning one off, and what is wrong with a file. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { baseState } from "../../panel/chatRows.js";
import { fixtures } from "../../panel/fixtures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const settle = () => panel.pass((ms) => vi.advanceTimersByTimeAsync(ms), 50);

beforeEach(async () => {
  vi.useFakeTimers({ now: Date.now() });
  panel = new Mounted();
  await panel.render();
  for (const message of fixtures.skillsOpen) if (message.type !== "result") await panel.take(message);
  await settle();
});
afterEach(async () => {
  await panel.unmount();
  vi.useRealTimers();
});

describe("the skills", () => {
  it("are listed with what they are for, whose they are, and what is wrong with a file", () => {
    for (const text of ["grammar-tables", "of this project", "How I write letters", "118 tokens in every request"])
      expect(panel.text).toContain(text);
    expect(panel.text).toContain("/home/me/.gemini/skills/draft/SKILL.md:1");
    expect(panel.text).toContain("its front matter has no description");
  });

  it("are turned on and off by a switch that says which way it stands", async () => {
    const letters = panel.get("switch", "letters");
    expect(letters instanceof HTMLInputElement && letters.checked).toBe(false);
    await panel.click("switch", "grammar-tables");
    await settle();
    expect(panel.host.asked("enableSkill")).toEqual([{ do: "enableSkill", name: "grammar-tables", enabled: false }]);
    await settle();
    expect(panel.host.asked("skills")).toHaveLength(2);
  });

  it("open in the editor, and are asked for again when they change", async () => {
    await panel.click("button", "Open letters");
    expect(panel.host.sent).toEqual([{ type: "openSource", path: "/home/me/.agents/skills/letters/SKILL.md" }]);
    await panel.take({ type: "state", state: { ...baseState, sourceChanges: 1 } });
    await settle();
    expect(panel.host.asked("skills")).toHaveLength(2);
  });
});
