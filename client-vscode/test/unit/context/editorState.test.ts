import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  filesOf,
  withReading,
  MAX_SELECTED,
  noticeOf,
  NOTHING_OPEN,
  withExcluded,
  withIncluded,
  type EditorState,
  type EditorReading,
} from "../../../src/context/pure/editorState.js";

const A = "file:///w/a.py";
const B = "file:///w/b.py";
const C = "file:///other/c.py";

function reading(tabs: readonly string[], active?: string, shown: EditorReading["shown"] = []): EditorReading {
  return { tabs, shown, isTrusted: true, ...(active === undefined ? {} : { active }) };
}

function range(line: number, character: number, endLine: number, endCharacter: number) {
  return { start: { line, character }, end: { line: endLine, character: endCharacter } };
}

const SELECTED = {
  uri: A,
  cursor: { line: 2, character: 0 },
  selection: range(0, 4, 2, 0),
  selectedText: "one\ntwo\n",
  visible: range(0, 0, 40, 0),
};

describe("the order of focus", () => {
  it("puts the file that was active last first", () => {
    let state = withReading(NOTHING_OPEN, reading([A, B, C], A), 100);
    state = withReading(state, reading([A, B, C], B), 200);
    state = withReading(state, reading([A, B, C], A), 300);
    expect(filesOf(state).map(({ uri }) => uri)).toEqual([A, B, C]);
    expect(filesOf(state).map(({ isActive }) => isActive)).toEqual([true, false, false]);
  });

  it("does not change while the person stays in a file", () => {
    const state = withReading(NOTHING_OPEN, reading([A], A), 100);
    expect(noticeOf(withReading(state, reading([A], A), 900)).openFiles[0]?.lastFocusedAt).toBe(100);
  });

  it("keeps the file's place when the focus goes where there is no file", () => {
    const state = withReading(withReading(NOTHING_OPEN, reading([A, B], A), 100), reading([A, B]), 200);
    expect(filesOf(state).map(({ uri, isActive }) => [uri, isActive])).toEqual([
      [A, false],
      [B, false],
    ]);
  });

  it("counts what is in sight at the first look before what is hidden", () => {
    const state = withReading(
      NOTHING_OPEN,
      reading([A, B, C], C, [{ uri: B, cursor: { line: 0, character: 0 } }]),
      100,
    );
    expect(filesOf(state).map(({ uri }) => uri)).toEqual([C, B, A]);
  });

  it("forgets a file that was closed", () => {
    const state = withReading(withReading(NOTHING_OPEN, reading([A, B], A), 100), reading([B], B), 200);
    expect(noticeOf(state).openFiles.map(({ uri }) => uri)).toEqual([B]);
  });

  it("rises strictly from one active file to the next, also when the clock stands still or goes back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(A, B, C), fc.nat(50)), { minLength: 1, maxLength: 20 }),
        (visits) => {
          let state: EditorState = NOTHING_OPEN;
          for (const [uri, now] of visits) {
            state = withReading(state, reading([A, B, C], uri), now);
            expect(filesOf(state)[0]).toMatchObject({ uri, isActive: true });
          }
        },
      ),
    );
  });
});

describe("a selection", () => {
  const state = withReading(NOTHING_OPEN, reading([A, B], A, [SELECTED]), 100);

  it("is told with cursor and visible range", () => {
    expect(noticeOf(state)).toEqual({
      openFiles: [
        {
          uri: A,
          lastFocusedAt: 100,
          isActive: true,
          cursor: SELECTED.cursor,
          selection: SELECTED.selection,
          selectedText: SELECTED.selectedText,
        },
        { uri: B, lastFocusedAt: 0, isActive: false },
      ],
      isTrusted: true,
      visibleRanges: [{ uri: A, range: SELECTED.visible }],
    });
  });

  it("that ends at the beginning of a line leaves that line out of the chip", () => {
    expect(filesOf(state)[0]?.selectedLines).toEqual([0, 1]);
  });

  it("is cut to what the wire takes, never through a character", () => {
    fc.assert(
      fc.property(fc.nat(3), (shift) => {
        const selectedText = "x".repeat(MAX_SELECTED - shift) + "😀".repeat(4);
        const told =
          noticeOf(withReading(NOTHING_OPEN, reading([A], A, [{ ...SELECTED, selectedText }]), 1)).openFiles[0]
            ?.selectedText ?? "";
        expect(told.length).toBeLessThanOrEqual(MAX_SELECTED);
        expect(told.length).toBeGreaterThanOrEqual(MAX_SELECTED - 1);
        expect(told).not.toMatch(/\p{Surrogate}/u);
        expect(selectedText.startsWith(told)).toBe(true);
      }),
    );
  });
});

describe("a file that was taken out", () => {
  const state = withIncluded(withReading(NOTHING_OPEN, reading([A, B], A, [SELECTED]), 100), A, false);

  it("is named as such, and nothing else of it is told", () => {
    const notice = noticeOf(state);
    expect(notice.excluded).toEqual([A]);
    expect(notice.visibleRanges).toEqual([]);
    expect(JSON.stringify(notice)).not.toContain("two");
    expect(notice.openFiles[0]).toEqual({ uri: A, lastFocusedAt: 100, isActive: true });
  });

  it("stays among the chips, so that it can be put back", () => {
    expect(filesOf(state)[0]).toMatchObject({ uri: A, included: false });
    expect(noticeOf(withIncluded(state, A, true))).not.toHaveProperty("excluded");
  });

  it("stays out when it is closed and opened again", () => {
    const again = withReading(withReading(state, reading([B], B), 200), reading([A, B], A, [SELECTED]), 300);
    expect(noticeOf(again).excluded).toEqual([A]);
  });

  it("is restored with a draft, each once", () => {
    expect(withExcluded(NOTHING_OPEN, [A, B, A]).excluded).toEqual([A, B]);
  });
});

describe("a text that no file holds", () => {
  const untitled = "untitled:Untitled-1";
  const book = "file:///w/book.ipynb";
  const cell = { uri: book, cursor: { line: 0, character: 0 }, cell: { number: 3, text: "x = 1\n" } };
  const open = withReading(
    NOTHING_OPEN,
    { ...reading([untitled, book], book, [cell]), untitled: new Map([[untitled, "a draft\n"]]) },
    100,
  );

  it("goes along with its place: an untitled document, and the cell of a notebook that is worked in", () => {
    expect(noticeOf(open).openFiles).toEqual([
      { uri: book, lastFocusedAt: 100, isActive: true, cursor: cell.cursor, text: "x = 1\n", cell: 3 },
      { uri: untitled, lastFocusedAt: 0, isActive: false, text: "a draft\n" },
    ]);
  });

  it("does not when it was taken out", () => {
    const files = noticeOf(withExcluded(open, [untitled, book])).openFiles;
    expect(files.some((file) => "text" in file || "cell" in file)).toBe(false);
  });
});
