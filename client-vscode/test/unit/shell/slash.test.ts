import { describe, expect, it } from "vitest";
import { readSlash, slashCommands, slashMatches } from "../../../webview/shell/slash.js";

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
    const call = (prompt: string) => {
      const reading = readSlash(prompt);
      return reading.kind === "command" ? reading.call : reading;
    };
    expect(call("/find the last line ")).toEqual({ name: "find", argument: "the last line" });
    expect(call(" /new ")).toEqual({ name: "new", argument: "" });
    expect(call("/UNDO")).toEqual({ name: "undo", argument: "" });
    expect(call("/model gemini-3-flash")).toEqual({ name: "model", argument: "gemini-3-flash" });
  });

  it.each(["/compress", "/compress keep the names", "/summarize", "/compact now"])(
    "%s goes to the daemon",
    (prompt) => {
      expect(readSlash(prompt)).toEqual({ kind: "prompt" });
    },
  );

  it.each(["/etc/hosts is wrong", "/usr/bin", "new", "// a comment", "///", "/2 of them"])(
    "%s is an ordinary prompt",
    (prompt) => {
      expect(readSlash(prompt)).toEqual({ kind: "prompt" });
    },
  );

  it.each([
    ["/undo now please", "extra", "/undo"],
    ["/help me", "extra", "/help"],
    ["/export foo", "extra", "/export"],
    ["/new line please", "extra", "/new"],
    ["/unknown", "unknown", "/unknown"],
    ["/x y", "unknown", "/x"],
    ["/", "unknown", "/"],
    ["//", "unknown", "//"],
  ])("%s is doubtful", (prompt, kind, command) => {
    expect(readSlash(prompt)).toEqual({ kind, command });
  });

  it.each([
    ["//undo now", "/undo"],
    ["//x", "/x"],
  ])("%s is text that begins with one slash", (prompt, shown) => {
    expect(readSlash(prompt)).toEqual({ kind: "escaped", shown });
  });
});
