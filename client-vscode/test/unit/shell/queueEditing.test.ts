import { describe, expect, it } from "vitest";
import {
  beginEdit,
  previousPrompt,
  reconcileEdit,
  savedText,
  withRescued,
} from "../../../webview/shell/queueEditing.js";

const queue = [
  { id: "q1", text: "first" },
  { id: "q2", text: "second" },
];
const edit = beginEdit({ id: "q2", text: "second" });

describe("editing a queued prompt", () => {
  it("begins at the last one and goes up from there", () => {
    expect(previousPrompt(queue, undefined)?.id).toBe("q2");
    expect(previousPrompt(queue, edit)?.id).toBe("q1");
    expect(previousPrompt(queue, beginEdit({ id: "q1", text: "first" }))).toBeUndefined();
  });

  it("saves what changed, and neither a blank nor what was there", () => {
    expect(savedText({ ...edit, text: " new text " })).toBe("new text");
    expect(savedText({ ...edit, text: "  " })).toBeUndefined();
    expect(savedText(edit)).toBeUndefined();
  });

  it("goes on while its prompt waits, though the queue moves", () => {
    expect(reconcileEdit(edit, queue.slice(1))).toEqual({ edit });
  });

  it("rescues a change whose prompt was sent meanwhile", () => {
    expect(reconcileEdit({ ...edit, text: "second, better" }, queue.slice(0, 1))).toEqual({
      edit: undefined,
      rescued: "second, better",
    });
    expect(reconcileEdit(edit, [])).toEqual({ edit: undefined });
  });

  it("puts a rescued text behind the draft, never over it", () => {
    expect(withRescued("", "text")).toBe("text");
    expect(withRescued("a draft\n", "text")).toBe("a draft\n\ntext");
  });
});
