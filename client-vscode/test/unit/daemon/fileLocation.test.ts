import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileLocationIn, parseFileLocation } from "../../../src/daemon/pure/fileLocation.js";

describe("the place in a message about settings", () => {
  it.each([
    [
      "/home/me/.gemini/settings.json:3:5: model.name: expected a text. It is left out.",
      "/home/me/.gemini/settings.json:3:5",
    ],
    [
      "C:\\Users\\Me\\.gemini\\settings.json:12:1: is not valid JSON: a comma is missing.",
      "C:\\Users\\Me\\.gemini\\settings.json:12:1",
    ],
    ["\\\\server\\share\\.gemini\\settings.json:1:1: x", "\\\\server\\share\\.gemini\\settings.json:1:1"],
    ["/a folder: 7/.gemini/settings.json:2:9: x", "/a folder: 7/.gemini/settings.json:2:9"],
    ["/w/.gemini/settings.json: cannot be read (Permission denied).", "/w/.gemini/settings.json"],
  ])("is found in %s", (message, place) => {
    expect(fileLocationIn(message)).toBe(place);
  });

  it.each([
    "The session store cannot be written.",
    "the editor's geminiCompanion settings: model.name: expected a text",
    "GEMINI_SYSTEM_MD: /w/x.md: there is no such file",
    "see /w/settings.json:3:5: x",
    "",
  ])("is none in %j", (message) => {
    expect(fileLocationIn(message)).toBeUndefined();
  });

  it("is read with and without its numbers, which begin at 1", () => {
    expect(parseFileLocation("/w/settings.json")).toEqual({ path: "/w/settings.json", line: 1, column: 1 });
    expect(parseFileLocation("/w/settings.json:4")).toEqual({ path: "/w/settings.json", line: 4, column: 1 });
    expect(parseFileLocation("C:\\w\\settings.json:4:7")).toEqual({ path: "C:\\w\\settings.json", line: 4, column: 7 });
    expect(parseFileLocation("/w/settings.json:0:0")).toEqual({ path: "/w/settings.json", line: 1, column: 1 });
    expect(parseFileLocation("")).toBeUndefined();
  });

  it("is the one that was written, whatever the folder is called", () => {
    const folder = fc.string({ minLength: 1, maxLength: 20 }).filter((name) => !/[\r\n]|:\d+:\d+: /.test(name));
    fc.assert(
      fc.property(
        folder,
        fc.integer({ min: 1, max: 99_999 }),
        fc.integer({ min: 1, max: 999 }),
        (name, line, column) => {
          const path = `/w/${name}/settings.json`;
          expect(
            parseFileLocation(fileLocationIn(`${path}:${line}:${column}: model.name: expected a text`) ?? ""),
          ).toEqual({
            path,
            line,
            column,
          });
        },
      ),
    );
  });
});
