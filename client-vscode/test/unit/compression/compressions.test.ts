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
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  shown: [] as { document: unknown }[],
}));

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  window: {
    showInformationMessage: (message: string) => {
      editor.told.push(message);
      return Promise.resolve(undefined);
    },
    showWarningMessage: (message: string, ...offered: string[]) => {
      editor.told.push(message);
      return Promise.resolve(offered[0]);
    },
    withProgress: (_options: unknown, work: (progress: { report(): void }, token: unknown) => Promise<unknown>) =>
      work({ report: () => undefined }, { onCancellationRequested: () => undefined }),
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
let compressions: Compressions;

beforeEach(async () => {
  editor.told.length = 0;
  made = stage();
  made.daemon.sessions.set("s1", []);
  const none = { current: () => undefined } as unknown as SnapshotFiles; // nothing is being edited
  compressions = new Compressions({
    chat: made.chat,
    views: {} as TextViews, // nothing is shown
    files: none,
    sources: {} as SnapshotSources,
    isChatVisible: () => true,
  });
  await made.chat.session();
  await made.chat.open("s1");
});

afterEach(() => made.chat.dispose());

const asked = (): unknown[] =>
  made.daemon.calls
    .filter(({ method }) => method.startsWith("gemini/compression/") || method === "gemini/cancel")
    .map(({ method, params }) => [method, params["sessionId"]]);

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
