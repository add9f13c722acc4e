import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { chatAsMarkdown } from "../../../src/chat/pure/asMarkdown.js";
import { errorView } from "../../../src/chat/pure/faults.js";
import { findIn } from "../../../src/chat/pure/finding.js";
import { meterOf, panelState, type PanelSources } from "../../../src/chat/pure/panelState.js";
import { PromptQueue } from "../../../src/chat/pure/queue.js";
import { asText } from "../../../src/chat/pure/slashes.js";
import { english as t } from "../../../src/chat/pure/words.js";
import { QUEUE_LIMIT } from "../../../src/panel/limits.js";
import type { CompressionStatusReport, ContextFile } from "../../../src/protocol.gen.js";
import { statusText } from "../../../src/compression/pure/texts.js";
import { meterText, percent } from "../../../src/status/pure/meterText.js";
import { ScriptedEvents } from "./scriptedEvents.js";
import { baseState } from "../../panel/chatRows.js";

const NUMBER = (value: number): string => value.toLocaleString("en-US");
const REPORT: CompressionStatusReport = {
  sessionId: "s",
  state: "idle",
  hasFailedCompressionAttempt: false,
  forceFullIdeContext: false,
  tokenCount: 409_000,
  tokenCountSource: "api",
  tokenLimit: 1_048_576,
  threshold: 0.5,
  tokensUntilCompression: 115_288,
  compressionAt: 524_288,
  compressions: 1,
  canUndo: true,
  mode: "auto",
  isDue: false,
};

describe("errors", () => {
  it.each([
    ["unauthenticated", "setApiKey"],
    ["sessionBusy", "takeOver"],
    ["contextOverflow", "compress"],
    ["contextOverflow", "newSession"],
    ["untrustedWorkspace", "manageTrust"],
    ["daemon", "restartDaemon"],
  ])("of the kind %s offer %s", (kind, action) => {
    expect(errorView({ kind, message: "x", hint: "y" }, t, 0).actions.map(({ id }) => id)).toContain(action);
  });

  it("open the settings file where it is broken", () => {
    const message = "/w/.gemini/settings.json:3:5: model.name: expected a text";
    expect(errorView({ kind: "invalidSettings", message }, t, 0).actions).toEqual([
      { id: "openSettingsFile", label: "Open Settings File", argument: "/w/.gemini/settings.json:3:5" },
    ]);
  });

  it("send nobody to the environment for a key that a button sets", () => {
    const hint = (text: string): string =>
      errorView({ kind: "unauthenticated", message: "Refused.", hint: text }, t, 0).hint;
    expect(hint("Set GEMINI_API_KEY in the environment that starts the editor.")).toBe(
      "Set a key from Google AI Studio, then try again.",
    );
    expect(hint("Run `gcloud auth application-default login`.")).toBe("Run `gcloud auth application-default login`.");
  });

  it("name no method of the protocol, which nobody can call here", () => {
    const hint = (kind: string, text: string): string => errorView({ kind, message: "No.", hint: text }, t, 0).hint;
    expect(hint("staleVersion", "Ask for a new preview with gemini/compress.")).toBe("");
    expect(hint("contextOverflow", "Compress it with `gemini/compress`, or choose another.")).toBe(
      "Compress the chat, go on in a new chat, or choose a model with a larger window.",
    );
    const file = "Mend ~/.gemini/settings.json, or /home/me/gemini/settings.json.";
    expect(hint("invalidSettings", file)).toBe(file);
  });

  it("count down to a retry where the service said when", () => {
    const view = errorView(
      { kind: "modelUnavailable", message: "Busy.", retryable: true, retryAfterMs: 4_000 },
      t,
      1_000,
      "t1",
    );
    expect(view.retryAt).toBe(5_000);
    expect(view.actions).toEqual([{ id: "retry", label: "Retry", argument: "t1" }]);
  });

  it("are bearable whatever comes", () => {
    fc.assert(
      fc.property(
        fc.record({ kind: fc.anything(), message: fc.anything(), hint: fc.anything(), retryAfterMs: fc.anything() }),
        (fault) => {
          const view = errorView(fault, t, 0);
          expect(view.message.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("the queue", () => {
  it("gives prompts in their order, and none while it is held", () => {
    const queue = new PromptQueue();
    queue.add({ text: "a" });
    queue.add({ text: "b" });
    expect(queue.take()?.text).toBe("a");
    queue.hold();
    expect(queue.take()).toBeUndefined();
    queue.release();
    expect(queue.take()?.text).toBe("b");
  });

  it("takes no more than the daemon would", () => {
    const queue = new PromptQueue();
    const taken = Array.from({ length: QUEUE_LIMIT + 1 }, (_, index) => queue.add({ text: String(index) }));
    expect(taken.at(-1)).toBe(false);
    expect(queue.prompts).toHaveLength(QUEUE_LIMIT);
  });

  it("edits in place, and removes what was emptied", () => {
    const queue = new PromptQueue();
    queue.add({ text: "a" });
    queue.add({ text: "b" });
    const [first, second] = queue.prompts;
    queue.edit(first?.id ?? "", { text: "A" });
    queue.edit(second?.id ?? "", { text: "  " });
    expect(queue.prompts.map(({ text }) => text)).toEqual(["A"]);
  });

  it("waits for the person after a restart", () => {
    const queue = new PromptQueue();
    queue.restore([{ id: "x", text: "a" }]);
    expect(queue.held).toBe("restored");
    expect(queue.take()).toBeUndefined();
  });
});

describe("a prompt of the log that is sent again", () => {
  it.each([
    ["/compress what?", "//compress what?"],
    [" /undo", " //undo"],
    ["/etc/hosts is wrong", "/etc/hosts is wrong"],
    ["//x", "//x"],
    ["a /b", "a /b"],
  ])("stays text: %s goes as %s", (text, sent) => expect(asText(text)).toBe(sent));
});

describe("find", () => {
  const told = new ScriptedEvents().started("t1", "Where is İstanbul?").said("t1", "a.b A.B axb").completed("t1");

  it("takes the query for text, not for a pattern", () => {
    expect(findIn(told.rows, "a.b", false).map(({ start }) => start)).toEqual([0, 4]);
    expect(findIn(told.rows, "a.b", true).map(({ start }) => start)).toEqual([0]);
  });

  it("tells offsets that are right behind letters that change their length when folded", () => {
    const [match] = findIn(told.rows, "stanbul", false);
    expect(told.chat.prompt("t1")?.text.slice(match?.start, (match?.start ?? 0) + (match?.length ?? 0))).toBe(
      "stanbul",
    );
  });

  it("finds nothing for nothing", () => expect(findIn(told.rows, "", false)).toEqual([]));
});

function outlookOf(...files: readonly ContextFile[]): ReadonlyMap<string, ContextFile> {
  return new Map(files.map((file) => [file.uri, file]));
}

describe("around the transcript", () => {
  const sources: PanelSources = {
    chat: 1,
    daemon: { kind: "ready", version: "1" },
    trusted: true,
    job: { kind: "idle" },
    files: [
      { uri: "file:///w/a.py", isActive: true, selectedLines: [79, 93], included: true },
      { uri: "file:///w/.env", isActive: false, included: true },
      { uri: "file:///w/b.py", isActive: false, included: false },
    ],
    outlook: outlookOf(
      { uri: "file:///w/a.py", name: "a.py", extent: "whole", isActive: true },
      { uri: "file:///w/.env", name: ".env", extent: "none", reason: "a secret by its name" },
      { uri: "file:///w/b.py", name: "b.py", extent: "none", reason: "taken out by you" },
    ),
    relative: (uri) => uri.replace("file:///w/", ""),
    constraints: [],
    reminds: false,
    work: baseState.work,
    queue: [],
    hidden: [],
    settings: { sendWith: "enter", messageKeys: true, announce: "summary", platform: "other", locale: "en" },
    knowsOffline: false,
  };

  it("names chips by file and 1-based lines, and says why one is withheld", () => {
    const { chips } = panelState(sources, t);
    expect(chips.map(({ label, included, withheld }) => [label, included, withheld])).toEqual([
      ["a.py:80-94", true, undefined],
      [".env", true, "a secret by its name"],
      ["b.py", false, undefined],
    ]);
  });

  it.each<[Partial<ContextFile>, string, string | undefined]>([
    [{ extent: "whole" }, "whole", undefined],
    [{ extent: "whole", unsaved: true, reason: "1 secret masked" }, "whole", "unsaved text, 1 secret masked"],
    [{ extent: "lines", lines: [1, 358], lineCount: 500 }, "lines 1–358 of 500", undefined],
    [{ extent: "part", lines: [1, 1], lineCount: 1 }, "part of line 1 of 1", undefined],
    [{ extent: "path" }, "path only", undefined],
    [{ extent: "path", reason: "not a text file" }, "path only: not a text file", undefined],
  ])("say on a chip how much of a file goes along: %o", (ahead, sends, note) => {
    const outlook = outlookOf({ uri: "file:///w/a.py", name: "a.py", extent: "whole", ...ahead });
    const [chip] = panelState({ ...sources, outlook }, t).chips;
    expect([chip?.sends, chip?.note]).toEqual([sends, note]);
  });

  it("names the lines of a long selection that go along, not those that are selected", () => {
    const files = [{ uri: "file:///w/a.py", isActive: true, selectedLines: [0, 499], included: true }] as const;
    const cut = { sent: [1, 358], selected: [1, 500] } as const;
    const outlook = outlookOf({ uri: "file:///w/a.py", name: "a.py", extent: "whole", selectionCut: cut });
    const [chip] = panelState({ ...sources, files, outlook }, t).chips;
    expect(chip?.label).toBe("a.py:1-358");
    expect(chip?.sends).toBe("whole, selection cut: lines 1–358 of 1–500");
  });

  it("says of files beyond the limit that they do not go along, also where names are equal", () => {
    const uris = Array.from({ length: 12 }, (_, index) => `file:///w/${index}/same.py`);
    const files = uris.map((uri, index) => ({ uri, isActive: index === 0, included: true }));
    const reason = "only 10 open files go along";
    const outlook = outlookOf(
      ...uris.map((uri, index) =>
        index < 10
          ? ({ uri, name: "same.py", extent: "path" } as const)
          : ({ uri, name: "same.py", extent: "none", reason } as const),
      ),
    );
    const { chips } = panelState({ ...sources, files, outlook }, t);
    expect(chips.map(({ withheld }) => withheld)).toEqual([...Array<undefined>(10).fill(undefined), reason, reason]);
  });

  it("never asks in its examples about a file whose text does not go along", () => {
    const blob = { uri: "file:///w/blob.bin", isActive: true, included: true };
    const outlook = outlookOf({ uri: blob.uri, name: "blob.bin", extent: "path", reason: "not a text file" });
    const { examples } = panelState({ ...sources, files: [blob], outlook }, t);
    expect(examples.join()).not.toContain("blob.bin");
  });

  it("shows one banner: a fault before distrust before the offline model", () => {
    const models = {
      models: [],
      current: "offline",
      default: "offline",
      provider: "offline",
      isLocal: true,
      reason: "no key",
      hint: "Set one.",
    } as const;
    const fault = errorView({ kind: "storage", message: "Disk full." }, t, 0);
    expect(panelState({ ...sources, models, trusted: false, fault }, t).banner?.kind).toBe("storage");
    expect(panelState({ ...sources, models, trusted: false }, t).banner?.kind).toBe("untrustedWorkspace");
    expect(panelState({ ...sources, models }, t).banner?.kind).toBe("offline");
    expect(panelState({ ...sources, models, knowsOffline: true }, t).banner).toBeUndefined();
  });

  it("asks for no key where there is one and the offline model was chosen", () => {
    const models = {
      models: [],
      current: "gemini-3-pro",
      default: "gemini-3-pro",
      provider: "gemini",
      isLocal: false,
      reason: "the default",
      hint: "",
    } as const;
    const picked = panelState({ ...sources, models, askedModel: "offline" }, t);
    expect(picked.isLocal).toBe(true);
    expect(picked.banner?.actions.map(({ id }) => id)).toEqual(["continueAnyway"]);
    const set = panelState(
      { ...sources, models: { ...models, current: "offline", default: "offline", isLocal: true } },
      t,
    );
    expect(set.banner?.actions.map(({ id }) => id)).toEqual(["continueAnyway"]);
    expect(panelState({ ...sources, models }, t)).toMatchObject({ isLocal: false });
  });

  it("says of a queue that it waits only why it does", () => {
    const held = (queueHeld: "ended" | "restored", more: Partial<PanelSources> = {}): string | undefined =>
      panelState({ ...sources, ...more, queueHeld }, t).banner?.message;
    const info = { ...(sources.info ?? { sessionId: "s1" }), heldBy: 4711 } as NonNullable<PanelSources["info"]>; // no more of it matters
    expect(held("ended", { info }), "nothing can be sent into a chat that another window has").toBeUndefined();
    expect(held("ended")).toContain("stopped or failed");
    expect(held("restored")).not.toContain("stopped or failed");
    expect(panelState(sources, t).banner).toBeUndefined();
  });

  it("asks about the active file in its examples, unless it does not go along", () => {
    expect(panelState(sources, t).examples[0]).toContain("a.py");
    const out = sources.files.map((file) => ({ ...file, included: false }));
    expect(panelState({ ...sources, files: out }, t).examples.join()).not.toContain("a.py");
  });

  it("marks where compression starts, and nothing while it does not start by itself", () => {
    expect(meterOf(REPORT)).toEqual({
      used: 409_000,
      limit: 1_048_576,
      source: "api",
      compressionAt: 524_288,
      mode: "auto",
    });
    expect(meterOf({ ...REPORT, compressionAt: 3_000 })).toMatchObject({ compressionAt: 3_000 }); // a cap, below the threshold
    const { compressionAt: _, ...off } = REPORT;
    expect(meterOf(off)).not.toHaveProperty("compressionAt");
  });

  it("says in the meter, the status bar and the status command what is prepared beside the chat", () => {
    const preparing = { ...REPORT, state: "preparing", phase: "summarising" } as const;
    const prepared = { ...REPORT, state: "prepared", preparedSaves: 300_000 } as const;
    expect(meterOf(REPORT)).not.toHaveProperty("background");
    expect(meterOf(preparing)).toMatchObject({ background: "preparing" });
    expect(meterOf(prepared)).toMatchObject({ background: "prepared", saves: 300_000 });
    expect(meterText(meterOf(preparing), false, t, NUMBER)).toMatchObject({ text: "$(sparkle) 39%" });
    const shown = meterText(meterOf(prepared), false, t, NUMBER);
    expect(shown.text).toBe("$(sparkle) 39% $(check)");
    expect(shown.label).toContain(
      "A compression is prepared: you will not wait for it. It frees about 300,000 tokens.",
    );
    expect(statusText(preparing, t, NUMBER)).toContain("A compression is being prepared while you work.");
    expect(statusText(prepared, t, NUMBER)).toContain("It frees about 300,000 tokens.");
  });

  it("says in the status command why and until when nothing is compressed by itself", () => {
    const paused = { ...REPORT, thresholdReason: "Automatic compression pauses until 500,000 tokens." };
    expect(statusText(paused, t, NUMBER)).toContain(" Automatic compression pauses until 500,000 tokens. ");
  });

  it("has one number for status bar, panel and status command", () => {
    expect(percent(meterOf(REPORT))).toBe("39%");
    expect(meterText(meterOf(REPORT), false, t, NUMBER)).toMatchObject({ text: "$(sparkle) 39%" });
    expect(statusText(REPORT, t, NUMBER)).toContain("409,000 of 1,048,576 tokens are used (39%).");
    expect(percent({ used: 3, limit: 1_000_000, source: "api", mode: "auto" })).toBe("<1%");
  });
});

describe("the chat as Markdown", () => {
  it("holds prompts, answers word for word, and what was compressed", () => {
    const told = new ScriptedEvents().started("t1", "why?").said("t1", "Because\n\n```py\nx\n```").completed("t1");
    told.event({ type: "compressionStarted", compressionId: "c1", trigger: "manual" });
    expect(chatAsMarkdown("My chat", told.rows, t, NUMBER)).toBe(
      "# My chat\n\n## You\n\nwhy?\n\n## Gemini (gemini-3-pro)\n\nBecause\n\n```py\nx\n```\n",
    );
  });
});
