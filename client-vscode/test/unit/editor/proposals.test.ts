import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { proposeContent, rebased, smallestEdit, type Target } from "../../../src/editor/pure/proposals.js";

const FILE =
  "import os\n\n\ndef one():\n    return 1\n\n\nclass Two:\n    def get(self):\n        if self.x:\n            return 2\n        return 0\n\n    def put(self):\n        pass\n";

function at(text: string, marked?: string): Target {
  const from = marked === undefined ? text.length : text.indexOf(marked);
  return { text, from, to: marked === undefined ? from : from + marked.length, name: "a.py" };
}

describe("proposeContent", () => {
  it("replaces the selection, and keeps the end of its last line", () => {
    const { how, content } = proposeContent(at(FILE, "    return 1\n"), "    return 11\n", "python") as {
      how: string;
      content: string;
    };
    expect(how).toBe("selection");
    expect(content).toBe(FILE.replace("return 1\n", "return 11\n"));
  });

  it("replaces a definition by its new version, though the last line is another", () => {
    const proposal = proposeContent(at(FILE), "def one():\n    x = 1\n    return x + 10\n", "python");
    expect(proposal).toEqual({
      how: "region",
      content: FILE.replace("    return 1\n", "    x = 1\n    return x + 10\n"),
    });
  });

  it("gives a method that came without indentation the file's", () => {
    const proposal = proposeContent(at(FILE), "def get(self):\n    return 3\n", "python");
    expect(proposal).toEqual({
      how: "region",
      content: FILE.replace("        if self.x:\n            return 2\n        return 0\n", "        return 3\n"),
    });
  });

  it("finds the end of a definition with braces", () => {
    const file = "function a(\n  x,\n) {\n  if (x) {\n    b();\n  }\n}\n\nfunction c() {\n}\n";
    const block = "function c() {\n  d();\n}\n";
    expect(proposeContent(at(file), block, "js")).toEqual({
      how: "region",
      content: file.replace("function c() {\n}\n", block),
    });
    const other = "function a(\n  x,\n) {\n  return x;\n}\n";
    expect(proposeContent(at(file), other, "js")).toEqual({ how: "region", content: `${other}\nfunction c() {\n}\n` });
  });

  it("replaces from the first to the last line of a block that is no single definition", () => {
    const file = "a = 1\nb = 2\nc = 3\nd = 4\n";
    expect(proposeContent(at(file), "bb = 2\nx\nd = 4", "").how).toBe("cursor");
    expect(proposeContent(at(file, ""), "aa = 1\n", "").how).toBe("cursor");
    const proposal = proposeContent({ ...at(file), from: 0, to: 0 }, "b = 2\nnew = 0\nc = 3\n", "");
    expect(proposal).toEqual({ how: "cursor", content: `b = 2\nnew = 0\nc = 3\n${file}` });
    const named = "alpha = 1\nbeta = 2\ngamma = 3\ndelta = 4\n";
    expect(proposeContent(at(named), "beta = 2\nnew = 0\ndelta = 4\n", "")).toEqual({
      how: "region",
      content: "alpha = 1\nbeta = 2\nnew = 0\ndelta = 4\n",
    });
  });

  it("does not guess between two places", () => {
    const file = "def get():\n    a\n\ndef get():\n    b\n";
    expect(proposeContent(at(file), "def get():\n    c\n", "python").how).toBe("cursor");
  });

  it("replaces the whole file by a block that begins like it and is half as long", () => {
    const file = "name: a\non: push\njobs:\n  x: 1\n";
    const block = "name: a\non: pull\njobs:\n  y: 2\n";
    expect(proposeContent(at(file), block, "yaml")).toEqual({ how: "file", content: block });
    expect(proposeContent(at(""), "new\n", "")).toEqual({ how: "file", content: "new\n" });
  });

  it("takes nothing away for a block that says that the rest stays", () => {
    for (const rest of ["# ...", "    # ... existing code ...", "// … rest of the file", "..."]) {
      const block = `import os\n${rest}\n${"x = 1\n".repeat(40)}    def put(self):\n        pass\n`;
      const proposal = proposeContent(at(FILE), block, "python");
      expect(proposal).toMatchObject({ how: "cursor" });
      expect("content" in proposal && proposal.content.includes(FILE)).toBe(true);
    }
  });

  it("applies a diff, also one whose line numbers are a little off", () => {
    const patch = createTwoFilesPatch("a/a.py", "b/a.py", FILE, FILE.replace("return 2", "return 22"));
    expect(proposeContent(at(FILE), patch, "diff")).toEqual({
      how: "patch",
      content: FILE.replace("return 2", "return 22"),
    });
    expect(proposeContent(at(`# new\n# lines\n${FILE}`), patch, "diff")).toEqual({
      how: "patch",
      content: `# new\n# lines\n${FILE.replace("return 2", "return 22")}`,
    });
  });

  it("takes this file's part of a diff for several", () => {
    const mine = createTwoFilesPatch("a/src/a.py", "b/src/a.py", FILE, FILE.replace("return 1", "return 9"));
    const other = createTwoFilesPatch("a/b.py", "b/b.py", "x\n", "y\n");
    expect(proposeContent(at(FILE), `${other}${mine}`, "patch")).toEqual({
      how: "patch",
      content: FILE.replace("return 1", "return 9"),
    });
  });

  it("says that a diff of something else does not fit, and never writes it into the file as text", () => {
    expect(proposeContent(at(FILE), createTwoFilesPatch("a.py", "a.py", "x\ny\nz\n", "x\nq\nz\n"), "diff")).toEqual({
      how: "unfit",
    });
    expect(proposeContent(at(FILE), "--- a\n+++ b\n@@ -1,9 +1,2 @@\nbroken", "diff")).toEqual({ how: "unfit" });
  });

  it("keeps the file's line ends, and otherwise does as with the others", () => {
    const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
    const blocks = [
      "def one():\n    return 5\n",
      createTwoFilesPatch("a.py", "a.py", FILE, FILE.replace("pass", "return")),
      "unrelated = 1\n",
    ];
    for (const block of blocks) {
      const plain = proposeContent(at(FILE), block, "");
      const proposal = proposeContent(at(crlf(FILE)), block, "");
      expect(proposal).toEqual("content" in plain ? { ...plain, content: crlf(plain.content) } : plain);
    }
  });

  it("always yields something for any file and block, and loses nothing of the file at a mere insertion", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), fc.nat(200), (text, block, offset) => {
        const from = Math.min(offset, text.length);
        const proposal = proposeContent({ text, from, to: from, name: "a" }, block, "");
        if (proposal.how === "cursor") {
          expect(proposal.content.startsWith(text.slice(0, from)) && proposal.content.endsWith(text.slice(from))).toBe(
            true,
          );
        }
      }),
    );
  });
});

describe("smallestEdit", () => {
  it("makes the one text of the other, and cuts nothing in two", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "\r\n", "\n", "😀", "😃"), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const edit = smallestEdit(before, after);
        expect(before.slice(0, edit.from) + edit.text + before.slice(edit.to)).toBe(after);
        for (const offset of [edit.from, edit.to]) {
          expect(before.slice(0, offset)).not.toMatch(/\p{Surrogate}/u);
          expect(before.charAt(offset - 1) === "\r" && before.charAt(offset) === "\n").toBe(false);
        }
        expect(edit.text).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it("leaves the equal parts alone", () => {
    expect(smallestEdit("one two three", "one 2 three")).toEqual({ from: 4, to: 7, text: "2" });
  });
});

describe("rebased", () => {
  it("gives up on a file that was written anew, for comparing takes the square of its changes", () => {
    const lines = (sign: string): string =>
      Array.from({ length: 20_000 }, (_, index) => sign + String(index)).join("\n");
    const begin = process.cpuUsage();
    expect(rebased(lines("a"), lines("b"), `${lines("a")}\nmore`)).toBeUndefined();
    expect(process.cpuUsage(begin).user / 1_000).toBeLessThan(5_000);
  });

  const base = "a\nb\nc\nd\ne\nf\ng\nh\n";

  it("keeps what was typed elsewhere meanwhile", () => {
    expect(rebased(base, base.replace("b", "B"), base.replace("h", "H"))).toBe("a\nB\nc\nd\ne\nf\ng\nH\n");
  });

  it("refuses where both changed the same place", () => {
    expect(rebased(base, base.replace("b", "B"), "x\ny\n")).toBeUndefined();
  });
});

describe("hostile blocks", () => {
  it.each([
    ["line ends", `${"\n".repeat(100_000)}x`, ""],
    ["comments of line ends", `//${"\n".repeat(100_000)}x`, ""],
    ["a diff that fits nowhere", `--- a\n+++ a\n@@ -1,20000 +1,1 @@\n${"-x\n".repeat(19_999)}-y\n+q\n`, "diff"],
  ])("of %s are placed at once", (_, block, language) => {
    const text = "x\n".repeat(20_000);
    const begin = process.cpuUsage();
    proposeContent({ name: "a", text, from: 0, to: 0 }, block, language);
    expect(process.cpuUsage(begin).user / 1_000).toBeLessThan(3_000);
  });
});
