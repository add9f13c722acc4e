import { describe, expect, it } from "vitest";
import type { SlashCommandInfo } from "../../../src/protocol.gen.js";
import { readSlash, slashCommands, slashMatches } from "../../../webview/shell/slash.js";

const t = (text: string) => text;
const own: readonly SlashCommandInfo[] = [
  { name: "compress", description: "Compress the chat", scope: "builtIn" },
  { name: "git:review", description: "Review", scope: "workspace", hint: "arguments", runsCommands: true },
  {
    name: "ask.me",
    description: "Ask",
    scope: "server",
    owner: "quiz",
    arguments: [{ name: "topic", isRequired: true }, { name: "tone" }],
  },
];
const matches = (text: string, known: readonly SlashCommandInfo[] = []) =>
  slashMatches(text, text.length, known, t)?.map(({ name }) => name);

describe("the list of commands", () => {
  it("shows all at a slash and fewer with every letter", () => {
    expect(matches("/")).toHaveLength(slashCommands.length);
    expect(matches("/co")).toEqual(["compress", "context"]);
    expect(matches("/CON")).toEqual(["context"]);
  });

  it("has the daemon's commands behind the page's own, whose they are, and what may follow", () => {
    expect(matches("/", own)?.slice(slashCommands.length)).toEqual(["git:review", "ask.me"]);
    expect(matches("/git:r", own)).toEqual(["git:review"]);
    const [review] = slashMatches("/git:", 5, own, t) ?? [];
    expect(review).toEqual({
      name: "git:review",
      argument: "arguments",
      description: "Review · of this project · runs commands",
      isOpen: true,
      text: "/git:review ",
    });
  });

  it("finds what stands within a name, behind those that begin with it", () => {
    expect(matches("/rev", own)).toEqual(["git:review"]);
    expect(matches("/ex", own)).toEqual(["export", "context"]);
    expect(matches("/w", own)).toBeUndefined();
  });

  it("has prompts of servers among them, and puts in what must be said", () => {
    const [ask] = slashMatches("/ask", 4, own, t) ?? [];
    expect(ask).toEqual({
      name: "ask.me",
      argument: "--topic --tone",
      description: "Ask · quiz",
      isOpen: true,
      text: "/ask.me --topic=",
    });
  });

  it.each([
    ["/x", 2],
    ["hello /co", 9],
    ["/compress now", 13],
    ["/co", 0],
    ["/compress", 3],
  ])("stays closed for %s at %i: no command is being typed there", (text, caret) => {
    expect(slashMatches(text, caret, own, t)).toBeUndefined();
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

  it("goes to the daemon where the daemon has it, and is text behind two slashes", () => {
    expect(readSlash("/git:review src/a.ts", own)).toEqual({ kind: "prompt" });
    expect(readSlash("/ask.me", own)).toEqual({ kind: "prompt" });
    expect(readSlash("//git:review it", own)).toEqual({ kind: "escaped", shown: "/git:review" });
    expect(readSlash("/git:other x", own)).toEqual({ kind: "prompt" });
  });

  it.each([
    ["//undo now", "/undo"],
    ["//x", "/x"],
  ])("%s is text that begins with one slash", (prompt, shown) => {
    expect(readSlash(prompt)).toEqual({ kind: "escaped", shown });
  });
});
