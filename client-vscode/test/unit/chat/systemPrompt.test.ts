/** The system prompt as a document. */
import { expect, it } from "vitest";
import { promptAsMarkdown } from "../../../src/chat/pure/systemPrompt.js";
import { english as t } from "../../../src/chat/pure/words.js";

it("shows the text as it is, where it comes from and what its sections cost", () => {
  const text = promptAsMarkdown(
    { text: "# Tools\n- Look.", tokens: 1_234, source: "builtIn", sections: [{ name: "tools", tokens: 1_234 }] },
    t,
  );
  expect(text).toContain("Built in");
  expect(text).toContain("| tools | 1,234 |");
  expect(text.endsWith("# Tools\n- Look.\n")).toBe(true);
});

it("has no table where a file or the chat brings its own", () => {
  const own = promptAsMarkdown({ text: "Mine.", tokens: 2, source: "GEMINI_SYSTEM_MD", sections: [] }, t);
  expect(own).toContain("GEMINI_SYSTEM_MD");
  expect(own).not.toContain("|");
});
