import { describe, expect, it } from "vitest";
import { agentRows } from "../../../src/daemon/pure/agentRows.js";
import { english } from "../../../src/chat/pure/words.js";

describe("the list of subagents", () => {
  it("says what each is for and where it comes from, and opens its file", () => {
    const [builtIn, own] = agentRows(
      [
        { name: "generalist", displayName: "Generalist", description: "Does a task.", tools: ["read_file"] },
        {
          name: "mine",
          description: "Mine.",
          source: "user",
          path: "/home/me/.gemini/agents/mine.md",
          model: "gemini-x",
        },
      ],
      english,
    );
    expect(builtIn).toEqual({ label: "Generalist", description: "built in · tools: 1", detail: "Does a task." });
    expect(own?.place).toBe("/home/me/.gemini/agents/mine.md:1");
    expect(own?.description).toContain("gemini-x");
  });

  it("tells what is wrong with a file, and in which line", () => {
    const [broken] = agentRows(
      [{ name: "bad", source: "user", path: "/a/bad.md", enabled: false, problem: "There is no tool 'fly'.", line: 4 }],
      english,
    );
    expect(broken?.detail).toBe("There is no tool 'fly'.");
    expect(broken?.place).toBe("/a/bad.md:4");
  });
});
