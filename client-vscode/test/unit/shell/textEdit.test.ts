// @vitest-environment jsdom
/** Changes of the composer's text from code. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { replaceText } from "../../../webview/shell/textEdit.js";

const typed = vi.fn((..._command: unknown[]) => true);
let area: HTMLTextAreaElement;

beforeEach(() => {
  typed.mockClear();
  Object.assign(document, { execCommand: typed }); // jsdom has none
  area = document.createElement("textarea");
  area.value = "Explain: ";
  document.body.replaceChildren(area);
});
afterEach(() => Reflect.deleteProperty(document, "execCommand"));

it("types a text of a few lines, so that it can be taken back", () => {
  replaceText(area, { start: 9, end: 9, text: "one\ntwo" });
  expect(typed).toHaveBeenCalledExactlyOnceWith("insertText", false, "one\ntwo");
});

it("puts a text of very many lines in at once, and says so as if it were typed", () => {
  const log = Array.from({ length: 1_700 }, (_, line) => `line ${line}`).join("\n");
  const heard = vi.fn();
  area.addEventListener("input", heard);
  replaceText(area, { start: 0, end: 7, text: log });
  expect(typed).not.toHaveBeenCalled();
  expect(area.value).toBe(`${log}: `);
  expect(area.selectionStart).toBe(log.length);
  expect(heard).toHaveBeenCalledOnce();
});
