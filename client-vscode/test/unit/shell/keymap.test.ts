import { describe, expect, it } from "vitest";
import {
  composerCommand,
  isFindKey,
  queueEditCommand,
  rovingIndex,
  type ComposerSituation,
  type KeyPress,
} from "../../../webview/shell/keymap.js";

function press(key: string, change: Partial<KeyPress> = {}): KeyPress {
  return {
    key,
    keyCode: 0,
    isComposing: false,
    shiftKey: false,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...change,
  };
}
const calm: ComposerSituation = {
  sendWith: "enter",
  listOpen: false,
  running: false,
  canSteer: false,
  historyUp: false,
  historyDown: false,
  hasQueue: false,
};

describe("the composer's keys", () => {
  it.each([
    ["Enter", {}, "enter", "send"],
    ["Enter", { shiftKey: true }, "enter", undefined],
    ["Enter", { ctrlKey: true }, "enter", "newLine"],
    ["Enter", { altKey: true }, "enter", undefined],
    ["Enter", {}, "ctrlEnter", undefined],
    ["Enter", { shiftKey: true }, "ctrlEnter", undefined],
    ["Enter", { ctrlKey: true }, "ctrlEnter", "send"],
    ["Enter", { metaKey: true }, "ctrlEnter", "send"],
  ] as const)("%s with %o under %s is %s", (key, change, sendWith, command) => {
    expect(composerCommand(press(key, change), { ...calm, sendWith })).toBe(command);
  });

  it.each([{ isComposing: true }, { keyCode: 229 }])(
    "leaves every key to an input method that composes (%o)",
    (change) => {
      for (const key of ["Enter", "Escape", "ArrowUp", "ArrowDown", "Tab"]) {
        const all = { ...calm, listOpen: true, running: true, historyUp: true, historyDown: true, hasQueue: true };
        expect(composerCommand(press(key, change), all)).toBeUndefined();
      }
    },
  );

  it("closes the list with Esc before it stops what runs, never both", () => {
    expect(composerCommand(press("Escape"), { ...calm, listOpen: true, running: true })).toBe("listClose");
    expect(composerCommand(press("Escape"), { ...calm, running: true })).toBe("stop");
    expect(composerCommand(press("Escape"), calm)).toBeUndefined();
  });

  it("gives arrows, Enter and Tab to an open list", () => {
    const open = { ...calm, listOpen: true, historyUp: true, historyDown: true };
    expect(["ArrowUp", "ArrowDown", "Enter", "Tab"].map((key) => composerCommand(press(key), open))).toEqual([
      "listPrevious",
      "listNext",
      "listAccept",
      "listAccept",
    ]);
  });

  it("goes through earlier prompts only from where the caret allows it", () => {
    expect(composerCommand(press("ArrowUp"), { ...calm, historyUp: true })).toBe("older");
    expect(composerCommand(press("ArrowDown"), { ...calm, historyDown: true })).toBe("newer");
    expect(composerCommand(press("ArrowUp"), calm)).toBeUndefined();
    expect(composerCommand(press("ArrowUp", { shiftKey: true }), { ...calm, historyUp: true })).toBeUndefined();
  });

  it("edits the last queued prompt with Alt+↑ if there is one", () => {
    expect(composerCommand(press("ArrowUp", { altKey: true }), { ...calm, hasQueue: true })).toBe("editQueued");
    expect(composerCommand(press("ArrowUp", { altKey: true }), { ...calm, historyUp: true })).toBeUndefined();
  });

  it("leads to the newest message with Shift+Tab and leaves Tab alone", () => {
    expect(composerCommand(press("Tab", { shiftKey: true }), calm)).toBe("newestMessage");
    expect(composerCommand(press("Tab"), calm)).toBeUndefined();
  });
});

describe("the keys of a queued prompt's editor", () => {
  it("saves with the key that sends, gives up with Esc, leaves with Alt+↓", () => {
    expect(queueEditCommand(press("Enter"), "enter")).toBe("save");
    expect(queueEditCommand(press("Enter", { shiftKey: true }), "enter")).toBeUndefined();
    expect(queueEditCommand(press("Enter"), "ctrlEnter")).toBeUndefined();
    expect(queueEditCommand(press("Enter", { ctrlKey: true }), "ctrlEnter")).toBe("save");
    expect(queueEditCommand(press("Escape"), "enter")).toBe("cancel");
    expect(queueEditCommand(press("ArrowDown", { altKey: true }), "enter")).toBe("leave");
    expect(queueEditCommand(press("ArrowUp", { altKey: true }), "enter")).toBe("previous");
    expect(queueEditCommand(press("Enter", { isComposing: true }), "enter")).toBeUndefined();
  });
});

describe("the find key", () => {
  it("is Ctrl+F, on a Mac ⌘F, and nothing beside it", () => {
    expect(isFindKey(press("f", { ctrlKey: true }), "other")).toBe(true);
    expect(isFindKey(press("F", { ctrlKey: true }), "other")).toBe(true);
    expect(isFindKey(press("f", { metaKey: true }), "mac")).toBe(true);
    expect(isFindKey(press("f", { ctrlKey: true }), "mac")).toBe(false);
    expect(isFindKey(press("f", { ctrlKey: true, shiftKey: true }), "other")).toBe(false);
    expect(isFindKey(press("f"), "other")).toBe(false);
  });
});

describe("moving in a list", () => {
  it("wraps at both ends and knows Home and End", () => {
    expect(rovingIndex("ArrowDown", 2, 3)).toBe(0);
    expect(rovingIndex("ArrowUp", 0, 3)).toBe(2);
    expect(rovingIndex("Home", 2, 3)).toBe(0);
    expect(rovingIndex("End", 0, 3)).toBe(2);
    expect(rovingIndex("ArrowDown", 0, 0)).toBeUndefined();
    expect(rovingIndex("x", 0, 3)).toBeUndefined();
  });
});
