import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insertMention, mentionAt, mentionText } from "../../../webview/shell/mention.js";

/** The caret is where `|` stands. */
function at(marked: string) {
  const caret = marked.indexOf("|");
  return { text: marked.replace("|", ""), token: mentionAt(marked.replace("|", ""), caret) };
}
function insert(marked: string, path: string): string {
  const { text, token } = at(marked);
  if (token === undefined) throw new Error("no mention");
  const { start, end, text: inserted } = insertMention(text, token, path);
  return text.slice(0, start) + inserted + text.slice(end);
}

describe("the mention under the caret", () => {
  it.each([
    ["@|", ""],
    ["@tok|", "tok"],
    ["see @src/to|", "src/to"],
    ["see\n@to|", "to"],
    ["(@to|", "to"],
    ['@"docs/token gr|', "docs/token gr"],
    ["@types/@scope/na|", "types/@scope/na"],
    ["@to|kenizer rest", "to"],
    ["请看@src|", "src"],
    ["（@src|", "src"],
    ["見て、@src|", "src"],
    ["fix:@src|", "src"],
    ["**@src|", "src"],
  ])("%s searches for “%s”", (marked, query) => {
    expect(at(marked).token?.query).toBe(query);
  });

  it.each(["name@exam|ple.org", "@done |", "no mention|", '@"a b.py" |', "@one\n|", "|@later"])(
    "%s is none",
    (marked) => {
      expect(at(marked).token).toBeUndefined();
    },
  );
});

describe("putting a path in", () => {
  it("replaces what was typed and goes on behind a space", () => {
    expect(insert("see @to|", "src/tokenizer.py")).toBe("see @src/tokenizer.py ");
  });

  it("replaces the rest of the word and does not double the space", () => {
    expect(insert("see @to|ken please", "src/tokenizer.py")).toBe("see @src/tokenizer.py please");
  });

  it("leaves what follows where words have no blanks between them", () => {
    expect(insert("请看@to|ken，好吗", "src/tokenizer.py")).toBe("请看@src/tokenizer.py ，好吗");
  });

  it("quotes a path with white space", () => {
    expect(mentionText("10\u00a0000\u3000x.md")).toBe('@"10\u00a0000\u3000x.md" ');
    expect(mentionText("docs/token grammar.md")).toBe('@"docs/token grammar.md" ');
    expect(insert('see @"docs/t|" now', "docs/token grammar.md")).toBe('see @"docs/token grammar.md" now');
  });

  it("changes nothing before the mention and nothing after its word", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const text = `${before} @to${after.replace(/^[^\s]*/, "")}`;
        const token = mentionAt(text, before.length + 4);
        if (token === undefined) return;
        const { start, end } = insertMention(text, token, "x");
        expect(start).toBe(before.length + 1);
        expect(end - token.end).toBeLessThanOrEqual(1);
      }),
    );
  });
});
