/** Previews that are being edited: what was saved of them is there in the next window, and goes with its chat. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Uri } from "vscode";
import { DraftFiles } from "../../../src/chat/draftFiles.js";
import { SnapshotFiles } from "../../../src/compression/documents.js";
import { EditedPreviews } from "../../../src/compression/editedPreviews.js";

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  FileChangeType: { Changed: 1 },
  FileType: { File: 1 },
  FileSystemError: { FileNotFound: () => new Error("not found") },
  TabInputText: Object,
  Uri: {
    from: (parts: { scheme: string; path: string; query: string }) => ({
      ...parts,
      toString: () => `${parts.scheme}:${parts.path}?${parts.query}`,
    }),
  },
  window: { showTextDocument: () => Promise.resolve(), tabGroups: { all: [] } },
  workspace: {
    registerFileSystemProvider: () => ({ dispose: () => undefined }),
    openTextDocument: () => Promise.resolve({}),
    textDocuments: [],
  },
}));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "previews-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The files of a window; each has read nothing yet. */
const opened = (): SnapshotFiles => new SnapshotFiles(new EditedPreviews(folder));
const uri: Uri = SnapshotFiles.uri({ compressionId: "c1", sessionId: "s1" });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const kept = (): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" });

it("what was saved is there after a reload, for the editor and for who applies it", async () => {
  const before = opened();
  await before.edit("c1", "s1", "As it came.");
  await before.writeFile(uri, bytes("As I wrote it."));
  expect(new TextDecoder().decode(await opened().readFile(uri))).toBe("As I wrote it.");
  expect((await opened().stat(uri)).size).toBe(14);
  expect(await opened().current("c1", "s1")).toBe("As I wrote it.");
  const again = opened();
  await again.edit("c1", "s1", "As it came.");
  expect(await again.current("c1", "s1")).toBe("As I wrote it.");
  expect(await again.current("c1", "s2"), "another chat's").toBeUndefined();
});

it("one that is answered is gone, also if its editor saves once more", async () => {
  const files = opened();
  await files.edit("c1", "s1", "As it came.");
  await files.close("c1", "s1");
  await files.writeFile(uri, bytes("Too late."));
  expect(await opened().current("c1", "s1")).toBeUndefined();
});

it("goes with its chat", async () => {
  await opened().edit("c1", "s1", "As it came.");
  const drafts = new DraftFiles(folder);
  await drafts.forget("s2");
  expect(kept()).toContain(join("drafts", "s1.previews", "c1.md"));
  await drafts.forget("s1");
  expect(kept()).toEqual(["drafts"]);
});

it("leads nowhere else, and is edited all the same where nothing can be kept", async () => {
  writeFileSync(join(folder, "c1.md"), "Another's.");
  const files = opened();
  expect(await files.current("c1", "..")).toBeUndefined();
  expect(await files.current("../c1", "s1")).toBeUndefined();
  const unkept = new SnapshotFiles(new EditedPreviews(undefined));
  await unkept.edit("c1", "s1", "As it came.");
  expect(await unkept.current("c1", "s1")).toBe("As it came.");
});
