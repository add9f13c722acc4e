import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideHref, isWithin } from "../../../src/editor/pure/hrefs.js";
import { mentionOf } from "../../../src/editor/pure/mentions.js";

const ONE = [{ name: "app", path: "/w/app" }];
const TWO = [...ONE, { name: "lib", path: "/w/lib" }];
const WINDOWS = [{ name: "app", path: "C:\\w\\app" }];

describe("decideHref", () => {
  it("lets web pages be opened, in their plain spelling", () => {
    expect(decideHref(" https://example.com/a?b=c#d ", ONE, "linux")).toEqual({
      open: "web",
      url: "https://example.com/a?b=c#d",
    });
  });

  it("opens no address that pretends to be another", () => {
    for (const href of [
      "https://good.example@evil.example/",
      "http://user:pass@host/",
      "https://",
      "http://exa mple/",
    ]) {
      expect(decideHref(href, ONE, "linux")).toEqual({ open: "nothing", because: "malformed" });
    }
  });

  it("opens no other scheme", () => {
    const schemes = [
      "javascript:alert(1)",
      "command:workbench.action.terminal.new",
      "vscode://x/y",
      "data:text/html,x",
      "mailto:a@b",
      "file://server/share/x",
      "vscode-remote://h/w/app/a",
      "JavaScript:x",
    ];
    for (const href of schemes) expect(decideHref(href, ONE, "linux")).toEqual({ open: "nothing", because: "scheme" });
  });

  it("knows lines and columns", () => {
    const place = (href: string): unknown => decideHref(href, ONE, "linux");
    expect(place("src/a.py:12")).toEqual({ open: "file", candidates: ["/w/app/src/a.py"], line: 12 });
    expect(place("src/a.py:12:3")).toEqual({ open: "file", candidates: ["/w/app/src/a.py"], line: 12, column: 3 });
    expect(place("/w/app/src/a.py:12-20")).toEqual({
      open: "file",
      candidates: ["/w/app/src/a.py"],
      line: 12,
      lastLine: 20,
    });
    expect(place("src/a.py#L5-L9")).toEqual({ open: "file", candidates: ["/w/app/src/a.py"], line: 5, lastLine: 9 });
    expect(place("Makefile:7")).toEqual({ open: "file", candidates: ["/w/app/Makefile"], line: 7 });
    expect(place("README.md#usage")).toEqual({ open: "file", candidates: ["/w/app/README.md"] });
    expect(place("a.py:0")).toEqual({ open: "file", candidates: ["/w/app/a.py"] });
  });

  it("tries every root, and the one that the path is named after", () => {
    expect(decideHref("lib/x.ts", TWO, "linux")).toEqual({
      open: "file",
      candidates: ["/w/app/lib/x.ts", "/w/lib/lib/x.ts", "/w/lib/x.ts"],
    });
  });

  it("reads escaped paths, and the plain spelling of a name with a percent sign", () => {
    expect(decideHref("my%20file.ts", ONE, "linux")).toEqual({
      open: "file",
      candidates: ["/w/app/my file.ts", "/w/app/my%20file.ts"],
    });
    expect(decideHref("file:///w/app/my%20file.ts", ONE, "linux")).toMatchObject({
      candidates: ["/w/app/my file.ts", "/w/app/my%20file.ts"],
    });
  });

  it("opens nothing outside the roots", () => {
    for (const href of [
      "/etc/passwd",
      "../../etc/passwd",
      "src/../../x",
      "..%2f..%2fetc/passwd",
      "%2e%2e/secret",
      "file:///etc/passwd",
      "/w/application/a",
      "~/.ssh/id_rsa/../../..",
    ]) {
      const opening = decideHref(href, ONE, "linux");
      const candidates = opening.open === "file" ? opening.candidates : [];
      expect(candidates.every((file) => file.startsWith("/w/app/"))).toBe(true);
    }
    expect(decideHref("/etc/passwd", ONE, "linux")).toEqual({ open: "nothing", because: "outside" });
    expect(decideHref("a.py", [], "linux")).toEqual({ open: "nothing", because: "outside" });
  });

  it("never leads out of the roots, whatever the link", () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "a",
      "%2e%2e",
      "%2f",
      "/",
      "\\",
      "C:",
      "w",
      "app",
      "\u202e",
      "#L3",
      ":4",
      "file:///",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 10 }),
        fc.constantFrom("/", ""),
        fc.constantFrom("linux", "win32"),
        (pieces, glue, platform) => {
          const roots = platform === "win32" ? WINDOWS : ONE;
          const opening = decideHref(pieces.join(glue), roots, platform);
          expect(opening.open).not.toBe("web");
          if (opening.open === "file")
            for (const file of opening.candidates)
              expect(roots.some((root) => isWithin(file, root.path, platform))).toBe(true);
        },
      ),
    );
  });

  it("knows Windows' paths", () => {
    expect(decideHref("C:\\w\\app\\a.ts:3", WINDOWS, "win32")).toEqual({
      open: "file",
      candidates: ["C:\\w\\app\\a.ts"],
      line: 3,
    });
    expect(decideHref("file:///C:/w/app/a.ts", WINDOWS, "win32")).toMatchObject({ candidates: ["C:\\w\\app\\a.ts"] });
    expect(decideHref("D:\\x", WINDOWS, "win32")).toEqual({ open: "nothing", because: "outside" });
    expect(decideHref("\\\\server\\share\\x", WINDOWS, "win32")).toEqual({ open: "nothing", because: "outside" });
  });

  it("takes no empty, endless or control-character link", () => {
    for (const href of ["", "  ", "a\nb", "a\u0000b", "x".repeat(5_000), "#here"])
      expect(decideHref(href, ONE, "linux")).toEqual({ open: "nothing", because: "malformed" });
  });
});

describe("mentionOf", () => {
  it("names a file by its path inside the only root, and by its absolute path among several", () => {
    expect(mentionOf("/w/app/src/a.py", ONE, "linux")).toBe("@src/a.py");
    expect(mentionOf("/w/lib/a.py", TWO, "linux")).toBe("@/w/lib/a.py");
    expect(mentionOf("C:\\w\\app\\src\\a.py", WINDOWS, "win32")).toBe("@src/a.py");
  });

  it("quotes what would end too early", () => {
    expect(mentionOf("/w/app/my notes.md", ONE, "linux")).toBe('@"my notes.md"');
    expect(mentionOf("/w/app/what?", ONE, "linux")).toBe('@"what?"');
  });

  it("names nothing outside, and nothing that cannot be quoted", () => {
    expect(mentionOf("/etc/passwd", ONE, "linux")).toBeUndefined();
    expect(mentionOf('/w/app/a"b', ONE, "linux")).toBeUndefined();
    expect(mentionOf("/w/app/a", [], "linux")).toBeUndefined();
  });
});
