// @vitest-environment jsdom
/** What tools did and may do, around the transcript: mode, tasks, changed files, prompts to the running turn. */
import { act } from "preact/test-utils";
import { afterEach, describe, expect, it } from "vitest";
import type { PanelState } from "../../../src/panel/contract.js";
import { baseState } from "../../panel/chatRows.js";
import { CHANGED, TASKS } from "../../panel/toolRows.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
afterEach(() => panel.unmount());

function work(change: Partial<PanelState["work"]>): Partial<PanelState> {
  return { work: { ...baseState.work, ...change } };
}

async function click(element: HTMLElement): Promise<void> {
  await act(() => element.click());
}

async function press(key: string, held: KeyboardEventInit = {}): Promise<void> {
  await act(() => {
    panel.prompt.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...held }));
  });
}

async function write(text: string): Promise<void> {
  await act(() => {
    panel.prompt.value = text;
    panel.prompt.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

describe("the mode", () => {
  it("stands beside the model, is chosen in a menu, and is told when it changes", async () => {
    panel = await Mounted.with();
    await click(panel.get("button", "Mode: Ask first"));
    expect(panel.all("menuitemradio").map((one) => one.getAttribute("aria-checked"))).toEqual([
      "true",
      "false",
      "false",
    ]);
    await click(panel.get("menuitemradio", /^Plan/));
    expect(panel.host.sent).toContainEqual({ type: "mode", mode: "plan" });
    await panel.state(work({ mode: "plan" }));
    expect(panel.has("button", "Mode: Plan")).toBe(true);
    expect(panel.shell.polite.value.text).toBe("Gemini reads and plans, and changes nothing");
  });

  it("of another chat is no news", async () => {
    panel = await Mounted.with();
    await panel.state({ ...work({ mode: "plan" }), session: { sessionId: "s2", title: "" } });
    expect(panel.shell.polite.value.text).toBe("");
  });

  it("opens from the palette", async () => {
    panel = await Mounted.with();
    await panel.take({ type: "command", command: { do: "openMode" } });
    expect(panel.has("menu", "Mode")).toBe(true);
  });
});

describe("the tasks", () => {
  it("are folded to the current one, and all of them unfold", async () => {
    panel = await Mounted.with(work({ tasks: TASKS }));
    const fold = panel.get("button", /Flush the buffer/);
    expect(fold.textContent).toContain("1 of 3 done");
    expect(panel.all("listitem", /Read the tokenizer/)).toHaveLength(0);
    await click(fold);
    expect(panel.get("region", "Tasks").textContent).toContain("Write a test");
    expect(panel.get("region", "Tasks").querySelector("[aria-current=step]")?.textContent).toContain("in progress");
  });

  it("are gone when nothing is left to do", async () => {
    panel = await Mounted.with(work({ tasks: TASKS.map((task) => ({ ...task, status: "completed" })) }));
    expect(panel.has("region", "Tasks")).toBe(false);
  });
});

describe("the changed files", () => {
  it("are counted, and each can be seen, kept and undone", async () => {
    panel = await Mounted.with(work({ changes: CHANGED }));
    expect(panel.get("region", "Changed files").textContent).toContain("3 files changed+41 −7");
    await click(panel.get("button", /3 files changed/));
    for (const name of ["Keep the changes of src/tokenizer.py", "Undo the changes of tests/test_flush.py"])
      await click(panel.get("button", name));
    await click(panel.get("button", /^src\/tokenizer.py/));
    expect(panel.host.sent.filter(({ type }) => type === "changes")).toEqual([
      { type: "changes", do: "keep", path: "/ws/src/tokenizer.py" },
      { type: "changes", do: "undo", path: "/ws/tests/test_flush.py" },
      { type: "changes", do: "diff", path: "/ws/src/tokenizer.py" },
    ]);
  });

  it("are kept and undone all at once", async () => {
    panel = await Mounted.with(work({ changes: CHANGED }));
    await click(panel.get("button", "Keep all changes"));
    await click(panel.get("button", "Undo all changes"));
    expect(panel.host.sent.filter(({ type }) => type === "changes")).toEqual([
      { type: "changes", do: "keep" },
      { type: "changes", do: "undo" },
    ]);
  });

  it("that cannot be undone say why, and are not", async () => {
    panel = await Mounted.with(work({ changes: CHANGED }));
    await click(panel.get("button", /3 files changed/));
    const undo = panel.get("button", "Undo the changes of build/out.txt");
    expect([undo.getAttribute("aria-disabled"), undo.title]).toEqual(["true", "What it was before was not kept."]);
    await click(undo);
    expect(panel.host.sent.filter(({ type }) => type === "changes")).toEqual([]);
  });
});

describe("a prompt to the running turn", () => {
  const running = { job: { kind: "turn", id: "t2" }, ...work({ canSteer: true }) } as const;

  it("goes with Ctrl+Enter, and Enter queues as before", async () => {
    panel = await Mounted.with(running);
    await write("and lint");
    await press("Enter", { ctrlKey: true });
    await write("then commit");
    await press("Enter");
    expect(panel.host.sent.filter(({ type }) => type === "send")).toEqual([
      { type: "send", text: "and lint", steer: true },
      { type: "send", text: "then commit" },
    ]);
  });

  it("goes with the button", async () => {
    panel = await Mounted.with(running);
    await write("and lint");
    await click(panel.get("button", "Send into this answer"));
    expect(panel.host.sent).toContainEqual({ type: "send", text: "and lint", steer: true });
    expect(panel.prompt.value).toBe("");
  });

  it("needs a turn that runs: else Ctrl+Enter is a new line", async () => {
    panel = await Mounted.with();
    await write("a");
    await press("Enter", { ctrlKey: true });
    expect(panel.has("button", "Send into this answer")).toBe(false);
    expect(panel.host.sent.filter(({ type }) => type === "send")).toEqual([]);
  });
});

it("the way to a question leads to the row that asks", async () => {
  panel = await Mounted.with();
  await panel.take({ type: "command", command: { do: "toQuestion", row: 3, callId: "c1" } });
  expect(panel.transcript.received).toContain("question 3 c1");
});
