/** What a person does with compressions: in the chat that is shown, and in no other. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Compressions } from "../../../src/compression/compressions.js";
import type { SnapshotFiles, TextViews } from "../../../src/compression/documents.js";
import { SnapshotSources } from "../../../src/compression/sources.js";
import { english } from "../../../src/chat/pure/words.js";
import type { NamedPlace } from "../../../src/chat/places.js";
import { fault, stage, type Stage } from "../chat/fakeDaemon.js";
import { compression, result } from "../chat/scriptedEvents.js";

const editor = vi.hoisted(() => ({
  told: [] as string[],
  progress: [] as string[],
  /** What is chosen of what a message offers, and when. */
  choose: (_offered: readonly string[]): Promise<string | undefined> => Promise.resolve(undefined),
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  shown: [] as { document: unknown }[],
}));

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  window: {
    showInformationMessage: (message: string, ...offered: string[]) => {
      editor.told.push(message);
      return editor.choose(offered);
    },
    showErrorMessage: (message: string, ...offered: string[]) => {
      editor.told.push(message);
      return editor.choose(offered);
    },
    showWarningMessage: (message: string, ...offered: string[]) => {
      editor.told.push(message);
      return Promise.resolve(offered[0]);
    },
    withProgress: (
      _options: unknown,
      work: (progress: { report(said: { message: string }): void }, token: unknown) => Promise<unknown>,
    ) => work({ report: ({ message }) => editor.progress.push(message) }, { onCancellationRequested: () => undefined }),
    get visibleTextEditors() {
      return editor.shown;
    },
  },
  commands: {
    registerCommand: (name: string, run: (...args: unknown[]) => unknown) => {
      editor.commands.set(name, run);
      return { dispose: () => editor.commands.delete(name) };
    },
  },
  languages: { registerDocumentLinkProvider: () => ({ dispose: () => undefined }) },
  ProgressLocation: { Window: 10, Notification: 15 },
  Uri: { from: ({ path }: { path: string }) => ({ toString: () => `gemini-view:${path}` }) },
}));

let made: Stage;
const revealed: string[] = [];
let compressions: Compressions;
/** Paths of the documents that were opened to be read. */
const shown: string[] = [];
/** What each of them did with the focus. */
const focus: ("stays" | "moves")[] = [];
/** Chats that were brought into sight. */
const brought: (string | undefined)[] = [];

beforeEach(async () => {
  editor.told.length = editor.progress.length = 0;
  editor.choose = () => Promise.resolve(undefined);
  shown.length = focus.length = brought.length = 0;
  made = stage();
  made.daemon.sessions.set("s1", []);
  const none = { current: () => Promise.resolve(undefined), close: () => Promise.resolve() };
  const views = {
    show: (path: string, _text: string, { preserveFocus = false } = {}) => {
      shown.push(path);
      focus.push(preserveFocus ? "stays" : "moves");
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  compressions = new Compressions({
    chat: made.chat,
    views: views as unknown as TextViews, // no more of them is used
    files: none as unknown as SnapshotFiles, // nothing is being edited
    sources: { learn: () => Promise.resolve(), forget: () => undefined } as unknown as SnapshotSources,
    isChatVisible: () => true,
    showRow: (rowId) => revealed.push(rowId),
    openChat: (sessionId) => Promise.resolve(void brought.push(sessionId)),
  });
  await made.chat.session();
  await made.chat.open("s1");
});

afterEach(() => made.chat.dispose());

const asked = (): (readonly [method: string, sessionId: unknown])[] =>
  made.daemon.calls
    .filter(({ method }) => method.startsWith("gemini/compression/") || method === "gemini/cancel")
    .map(({ method, params }) => [method, params["sessionId"]] as const);
/** The same but for lists, which every opened chat asks for. */
const done = () => asked().filter(([method]) => method !== "gemini/compression/list");

describe("a compression", () => {
  it("that is asked for, or taken back, brings its row into sight", async () => {
    revealed.length = 0;
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("COMPRESSED", { compressionId: "c7" }));
    await compressions.compress(false);
    expect(revealed).toEqual(["c:c7"]);
    made.daemon.answers["gemini/compression/undo"] = () => Promise.resolve(result("UNDONE", { compressionId: "c7" }));
    await compressions.undo("c7");
    expect(revealed).toEqual(["c:c7", "c:c7"]);
  });

  it("is made by the strategy that is named, else by that of the settings", async () => {
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("COMPRESSED"));
    await compressions.compress(false, "record");
    await compressions.compress(false);
    const params = made.daemon.calls.filter(({ method }) => method === "gemini/compress").map((call) => call.params);
    expect(params).toEqual([
      { sessionId: "s1", preview: false, strategy: "record" },
      { sessionId: "s1", preview: false },
    ]);
  });
});

describe("an action on a compression", () => {
  const actions: [string, () => Promise<void>][] = [
    ["undo", () => compressions.undo()],
    ["undo of one", () => compressions.undo("c1")],
    ["apply", () => compressions.apply("c1")],
    ["view", () => compressions.view()],
    ["edit", () => compressions.edit("c1")],
    ["compare", () => compressions.compare("c1")],
    ["cancel", () => compressions.cancel("c1")],
    ["rate", () => compressions.rate(undefined, 5)],
  ];

  it.each(actions)("asks nothing of the chat before this one while this one is empty: %s", async (_, act) => {
    await made.chat.startNew();
    made.daemon.calls.length = 0;
    await act();
    expect(asked()).toEqual([]);
  });

  it("names the chat that is shown", async () => {
    made.daemon.calls.length = 0;
    made.daemon.answers["gemini/compression/list"] = () => Promise.resolve({ compressions: [] });
    await compressions.view();
    await compressions.cancel("c1");
    expect(asked()).toEqual([
      ["gemini/compression/list", "s1"],
      ["gemini/cancel", "s1"],
    ]);
    expect(editor.told).toHaveLength(1);
  });
});

describe("an undo", () => {
  it("that waits for an answer says so on the row that it was asked for, until it is done", async () => {
    made.chat.conversation.load(
      [],
      [compression("inForce", 1), compression("inForce", 2, { compressionId: "c2" })],
      [],
      new Set(),
    );
    const undone: (() => void)[] = [];
    made.daemon.answers["gemini/compression/undo"] = () =>
      new Promise((resolve) => undone.push(() => resolve(result("UNDONE", { compressionId: "c2", undone: ["c2"] }))));
    made.daemon.emit({ type: "turnStarted", prompt: [{ text: "go on" }], model: "m" }, "t1");
    const undoing = compressions.undo();
    await vi.waitFor(() => expect(undone).toHaveLength(1));
    expect(made.chat.conversation.divider("c2")?.undoWaits).toBe(true);
    expect(made.chat.conversation.divider("c1")?.undoWaits).toBeUndefined();
    expect(made.daemon.calls.at(-1)?.params).toEqual({ sessionId: "s1", compressionId: "c2" });
    undone[0]?.();
    await undoing;
    expect(made.chat.conversation.divider("c2")?.undoWaits).not.toBe(true);
  });

  it("that waits is called off from its row, however often it was asked for", async () => {
    made.chat.conversation.load([], [compression("inForce", 1)], [], new Set());
    made.daemon.answers["gemini/compression/undo"] = (_params, token) =>
      new Promise((_, reject) => token?.onCancellationRequested(() => reject(fault("cancelled", -32800))));
    made.daemon.emit({ type: "turnStarted", prompt: [{ text: "go on" }], model: "m" }, "t1");
    const undoing = [compressions.undo(), compressions.undo("c1")];
    await vi.waitFor(() =>
      expect(made.daemon.calls.filter(({ method }) => method === "gemini/compression/undo")).toHaveLength(2),
    );
    expect(made.chat.conversation.divider("c1")?.undoWaits).toBe(true);
    compressions.cancelUndo("c1");
    await Promise.all(undoing);
    expect(made.chat.conversation.divider("c1")).toMatchObject({ state: "compressed", undoWaits: false });
    expect(made.chat.fault).toBeUndefined();
  });

  it("that fails waits no longer, and is told", async () => {
    made.chat.conversation.load([], [compression("inForce", 1)], [], new Set());
    made.daemon.answers["gemini/compression/undo"] = () => Promise.reject(fault("compressionNotFound", 1009));
    made.daemon.emit({ type: "turnStarted", prompt: [{ text: "go on" }], model: "m" }, "t1");
    await compressions.undo("c1");
    expect(made.chat.conversation.divider("c1")?.undoWaits).toBe(false);
    expect(made.chat.fault?.kind).toBe("compressionNotFound");
  });
});

describe("what is asked for while an answer is made", () => {
  beforeEach(() => {
    made.daemon.emit({ type: "turnStarted", prompt: [{ text: "go on" }], model: "m" }, "t1");
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("NOOP"));
  });

  it("waits for it if it is a compression, and says so", async () => {
    await compressions.compress(false);
    expect(editor.progress).toEqual(["waiting for the answer to end"]);
  });

  it("does not if it is a preview", async () => {
    await compressions.preview();
    expect(editor.progress).toEqual([]);
  });
});

describe("what belongs to a chat that is not shown any more", () => {
  const listed = compression("preview", 1, { status: "PREVIEW", snapshot: "What matters." });

  beforeEach(() => {
    made.daemon.sessions.set("s2", []);
    made.daemon.answers["gemini/compression/list"] = ({ sessionId }) =>
      Promise.resolve({ compressions: sessionId === "s1" ? [listed] : [] });
    made.daemon.answers["gemini/compression/undo"] = () => Promise.resolve(result("UNDONE"));
    made.daemon.answers["gemini/compression/apply"] = () => Promise.resolve(result("COMPRESSED"));
    made.daemon.answers["gemini/compression/discard"] = () => Promise.resolve(null);
  });

  const onceAnotherIsShown = (label: string) => async (offered: readonly string[]) => {
    if (!offered.includes(label)) return undefined;
    await made.chat.open("s2");
    return label;
  };

  it("is undone where the message stood for it, and not in the chat that is shown by then", async () => {
    made.daemon.status = { canUndo: true };
    editor.choose = onceAnotherIsShown("Undo");
    await compressions.showStatus();
    expect(done()).toEqual([["gemini/compression/undo", "s1"]]);
    expect(editor.told).toHaveLength(2); // no row shows the outcome
  });

  it("is previewed where the message stood for it", async () => {
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("NOOP"));
    editor.choose = onceAnotherIsShown("Preview Compression");
    await compressions.showStatus();
    expect(made.daemon.calls.findLast(({ method }) => method === "gemini/compress")?.params).toEqual({
      sessionId: "s1",
      preview: true,
    });
  });

  it("is opened when its preview is ready, and not called missing", async () => {
    made.daemon.answers["gemini/compress"] = async () => {
      await made.chat.open("s2");
      return result("PREVIEW", { compressionId: "c1" });
    };
    await compressions.preview();
    expect(shown).toEqual(["c1/Snapshot.md"]);
    expect(editor.told).toEqual([]);
  });

  it("leaves the focus where the person writes, and takes it only where it was asked to be shown", async () => {
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("PREVIEW", { compressionId: "c1" }));
    await compressions.preview();
    await compressions.view("c1");
    expect(focus).toEqual(["stays", "moves"]);
  });

  it("is applied and discarded from the editor that holds it", async () => {
    await made.chat.open("s2");
    await compressions.apply("c1", "s1");
    await compressions.discard("c1", "s1");
    expect(done()).toEqual([
      ["gemini/compression/apply", "s1"],
      ["gemini/compression/discard", "s1"],
    ]);
    expect(made.chat.fault).toBeUndefined();
    expect(made.chat.saved.discarded).toEqual([]);
  });

  it("is out of date there too, and a new preview is one of its chat", async () => {
    await made.chat.open("s2");
    made.daemon.answers["gemini/compression/apply"] = () => Promise.reject(fault("compressionNotFound", 1009));
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("NOOP"));
    await compressions.apply("c1", "s1");
    await vi.waitFor(() =>
      expect(made.daemon.calls.findLast(({ method }) => method === "gemini/compress")?.params["sessionId"]).toBe("s1"),
    );
    expect(made.chat.fault).toBeUndefined();
  });

  it.each([
    ["a compression", "gemini/compress", () => compressions.compress(false)],
    ["a preview", "gemini/compress", () => compressions.preview()],
    ["an undo", "gemini/compression/undo", () => compressions.undo("c1")],
    ["an installing", "gemini/compression/apply", () => compressions.apply("c1", "s1")],
    ["a rating", "gemini/compression/rate", () => compressions.rate("c1", 4)],
  ] as const)(
    "fails there: the fault of %s is not one of the chat that is shown by then",
    async (_what, method, work) => {
      made.daemon.answers[method] = async () => {
        await made.chat.open("s2");
        throw fault("modelUnavailable", 1004);
      };
      editor.choose = ([offered]) => Promise.resolve(offered);
      await work();
      expect(made.chat.fault).toBeUndefined();
      expect([editor.told.length, brought]).toEqual([1, ["s1"]]);
    },
  );

  it("fails there although nothing can be asked of the daemon", async () => {
    vi.spyOn(made.chat, "ready").mockRejectedValue(fault("starting", 1));
    editor.choose = ([offered]) => Promise.resolve(offered);
    await compressions.undo("c1", "s2");
    expect([made.chat.fault, editor.told.length, brought]).toEqual([undefined, 1, ["s2"]]);
  });

  it("fails there when its preview cannot be discarded", async () => {
    await made.chat.open("s2");
    made.daemon.answers["gemini/compression/discard"] = () => Promise.reject(fault("storage", 1008));
    await compressions.discard("c1", "s1");
    expect(made.chat.fault).toBeUndefined();
    expect(editor.told).toHaveLength(1);
  });

  it("lends its progress to no other compression", async () => {
    made.daemon.answers["gemini/compress"] = () => {
      const progress = { type: "compressionProgress", compressionId: "c9", elapsedMs: 1 } as const;
      made.daemon.emit({ ...progress, phase: "verifying" }, undefined, "s2");
      made.daemon.emit({ ...progress, phase: "installing" }, undefined, "s1");
      return Promise.resolve(result("NOOP"));
    };
    await compressions.compress(false);
    expect(editor.progress).toEqual(["installing"]);
  });
});

describe("a preview that is out of date when it is applied", () => {
  it("is called that in its row and in a message, which offers a new one", async () => {
    const listed = [compression("preview", 1, { status: "PREVIEW" })];
    made.chat.conversation.load([], listed, [], new Set());
    made.daemon.answers["gemini/compression/list"] = () => Promise.resolve({ compressions: listed });
    made.daemon.answers["gemini/compression/apply"] = () => Promise.reject(fault("staleVersion", 1008));
    made.daemon.answers["gemini/compress"] = () => Promise.resolve(result("NOOP"));
    await compressions.apply("c1");
    await vi.waitFor(() =>
      expect(made.daemon.calls.at(-1)).toMatchObject({ method: "gemini/compress", params: { preview: true } }),
    );
    expect(made.chat.conversation.divider("c1")?.state).toBe("outdated");
    expect(editor.told).toEqual([expect.stringContaining("The preview is out of date")]);
    expect(made.chat.fault).toBeUndefined();
  });
});

describe("a line of a snapshot", () => {
  it("leads to its source though the document that shows it became shorter", async () => {
    const places: NamedPlace[] = [];
    const sources = new SnapshotSources({
      daemon: made.daemon,
      show: (place) => {
        places.push(place);
        return Promise.resolve();
      },
      nameOf: () => undefined,
      t: english,
    });
    made.daemon.answers["gemini/compression/sources"] = () =>
      Promise.resolve({ compressionId: "c1", lines: [{ line: 7, turnIds: ["t1"], entryIds: ["e1"] }] });
    await sources.learn("c1/Snapshot.md", "s1", "c1");
    const uri = { toString: () => "gemini-view:/c1/Snapshot.md" };
    const lineAt = (line: number) => {
      if (line >= 2) throw new Error("Illegal value for `line`");
      return { text: "words" };
    };
    editor.shown.push({ document: { uri, lineCount: 2, lineAt } });
    await editor.commands.get("geminiCompanion.showSource")?.("gemini-view:/c1/Snapshot.md", 7);
    expect(places).toEqual([{ turnId: "t1", sessionId: "s1", words: "" }]);
    editor.shown.length = 0;
    sources.dispose();
  });
});
