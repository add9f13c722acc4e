import { describe, expect, it } from "vitest";
import { parseSlash, slashCommands, slashMatches } from "../../../webview/shell/slash.js";

describe("the list of commands", () => {
  it("shows all at a slash and fewer with every letter", () => {
    expect(slashMatches("/", 1)).toHaveLength(slashCommands.length);
    expect(slashMatches("/co", 3)?.map(({ name }) => name)).toEqual(["compress", "context"]);
    expect(slashMatches("/CON", 4)?.map(({ name }) => name)).toEqual(["context"]);
  });

  it.each([
    ["/x", 2],
    ["hello /co", 9],
    ["/compress now", 13],
    ["/co", 0],
    ["/compress", 3],
  ])("stays closed for %s at %i: no command is being typed there", (text, caret) => {
    expect(slashMatches(text, caret)).toBeUndefined();
  });
});

describe("a prompt that is a command", () => {
  it("is carried out by the page with its argument", () => {
    expect(parseSlash("/find the last line ")).toEqual({ name: "find", argument: "the last line" });
    expect(parseSlash(" /new ")).toEqual({ name: "new", argument: "" });
    expect(parseSlash("/model gemini-3-flash")).toEqual({ name: "model", argument: "gemini-3-flash" });
  });

  it("goes to the daemon if it is /compress, with or without guidance", () => {
    expect(parseSlash("/compress")).toBeUndefined();
    expect(parseSlash("/compress keep the names")).toBeUndefined();
  });

  it.each(["/etc/hosts is wrong", "/new line please", "/unknown", "new", "// a comment"])(
    "%s is an ordinary prompt",
    (prompt) => {
      expect(parseSlash(prompt)).toBeUndefined();
    },
  );
});
