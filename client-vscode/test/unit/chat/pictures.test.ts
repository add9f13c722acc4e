import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pictures } from "../../../src/chat/pictures.js";
import { writtenIn } from "../../../src/chat/pure/history.js";
import { promptOf } from "../../../src/chat/pure/promptParts.js";
import { decodeDraft, encodeDraft, EMPTY_DRAFT } from "../../../src/chat/pure/savedDraft.js";
import { english } from "../../../src/chat/pure/words.js";
import { DraftFiles } from "../../../src/chat/draftFiles.js";
import { MOST_PICTURES, pictureType } from "../../../src/panel/pictures.js";
import { PNG, screenshot } from "../../panel/pictures.js";
import { stage } from "./fakeDaemon.js";

let folder: string;
const part = { inlineData: { mimeType: "image/png", data: PNG, displayName: "screenshot.png" } };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pictures-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("knows the kinds of pictures by how they begin", () => {
  const kind = (text: string) => pictureType(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  expect(kind("\x89PNG\r\n\x1a\n...")).toBe("image/png");
  expect(kind("\xff\xd8\xff\xe0")).toBe("image/jpeg");
  expect(kind("RIFF....WEBPVP8 ")).toBe("image/webp");
  expect(kind("....ftypheic....")).toBe("image/heic");
  expect(kind("....ftypmif1....")).toBe("image/heif");
  for (const other of ["", "GIF89a", "<svg xmlns=", "BM......", "....ftypavif", "....ftypisom"])
    expect(kind(other)).toBeUndefined();
});

it("keeps the bytes once, by digest, for the next window, where only the owner may read them", async () => {
  const pictures = new Pictures(folder, english);
  expect(pictures.add("screenshot.png", PNG)).toEqual(screenshot);
  pictures.add("the same.png", PNG);
  const path = await pictures.path(screenshot.digest);
  expect(await readdir(join(folder, "pictures"))).toEqual([`${screenshot.digest}.png`]);
  expect((await stat(path ?? "")).mode & 0o77).toBe(0);
  expect(await new Pictures(folder, english).part(screenshot)).toEqual(part);
});

it("keeps them in memory where there is no workspace", async () => {
  const pictures = new Pictures(undefined, english);
  pictures.add("screenshot.png", PNG);
  expect(await pictures.read(screenshot.digest)).toEqual({ type: "image/png", data: PNG });
  expect(await pictures.path(screenshot.digest)).toBeUndefined();
});

it("takes no file for a picture that is none, and says of one that is gone what to do", async () => {
  const pictures = new Pictures(folder, english);
  expect(() => pictures.add("a.png", btoa("#!/bin/sh"))).toThrow("no picture that Gemini takes");
  await expect(pictures.part(screenshot)).rejects.toMatchObject({ data: { kind: "pictureGone" } });
});

it("removes what neither a draft nor a shown prompt names", async () => {
  const pictures = new Pictures(folder, english);
  pictures.add("screenshot.png", PNG);
  await new DraftFiles(folder).write("s1", { ...EMPTY_DRAFT, queue: [{ id: "q0", text: "", pictures: [screenshot] }] });
  await pictures.sweep();
  expect(await pictures.path(screenshot.digest)).toBeDefined();
  await new DraftFiles(folder).forget("s1");
  await pictures.sweep([{ text: "", pictures: [screenshot] }]);
  expect(await pictures.path(screenshot.digest)).toBeDefined();
  await pictures.sweep();
  expect(await pictures.path(screenshot.digest)).toBeUndefined();
});

it("keeps no bytes in a draft, and only as many pictures as a prompt may have", () => {
  const many = Array.from({ length: 1_000 }, () => screenshot);
  const kept = encodeDraft({ ...EMPTY_DRAFT, pictures: many });
  expect(decodeDraft(kept).pictures).toHaveLength(MOST_PICTURES);
  expect(encodeDraft({ ...EMPTY_DRAFT, pictures: [screenshot] })).not.toContain(PNG.slice(20, 60));
});

it("is found again in the parts that went to the daemon", () => {
  const written = { text: "What is this?", pictures: [screenshot] };
  const parts = promptOf(written, [part]);
  expect(parts).toEqual([{ text: "What is this?" }, part]);
  expect(writtenIn(Array.isArray(parts) ? parts : [])).toEqual(written);
  expect(promptOf({ text: "", pictures: [screenshot] }, [part])).toEqual([part]);
});

it("goes with a prompt, waits with one in the queue, and goes again with Retry", async () => {
  const { chat, daemon } = stage();
  await chat.begin();
  const picture = chat.pictures.add("screenshot.png", PNG);
  const prompts = () =>
    daemon.calls.filter(({ method }) => method === "gemini/chat").map(({ params }) => params["prompt"]);
  daemon.answers["gemini/chat"] = () => Promise.reject(new Error("no network"));
  await chat.prompts.submit("look", false, { pictures: [picture] });
  expect(prompts()).toEqual([[{ text: "look" }, part]]);
  const row = chat.conversation.rows.find(({ kind }) => kind === "prompt");
  expect(row).toMatchObject({ text: "look", pictures: [screenshot] });
  expect(chat.saved).toMatchObject({ draft: "look", pictures: [screenshot] });
  await chat.prompts.retry(chat.retryTurn ?? "");
  expect(prompts()).toHaveLength(2);
  expect(prompts()[1]).toEqual([{ text: "look" }, part]);
});

it("hands the prompt back where the bytes of its picture are gone", async () => {
  const { chat, daemon } = stage();
  await chat.begin();
  await chat.prompts.submit("look", false, { pictures: [screenshot] });
  expect(daemon.calls.some(({ method }) => method === "gemini/chat")).toBe(false);
  await vi.waitFor(() => expect(chat.saved).toMatchObject({ draft: "look", pictures: [screenshot] }));
});
