// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { MOST_PICTURES, PICTURES_BYTES } from "../../../src/panel/pictures.js";
import { photo, PNG, screenshot } from "../../panel/pictures.js";
import { Mounted } from "./mounted.js";

let panel: Mounted;
const bytes = Uint8Array.from(atob(PNG), (character) => character.charCodeAt(0));
const file = (name = "screenshot.png", content: BlobPart = bytes, type = "image/png") =>
  new File([content], name, { type });
const sends = () => panel.host.sent.filter(({ type }) => type === "send");
const chip = /^screenshot\.png/;

afterEach(() => panel.unmount());

/** Pastes a file, and waits for the chip that it becomes. */
async function attached(): Promise<void> {
  expect(await panel.paste("", ["Files"], [file()])).toBe(true);
  await vi.waitFor(() => expect(panel.has("button", chip)).toBe(true));
}

async function dropped(...files: File[]): Promise<boolean> {
  const drop = new Event("drop", { bubbles: true, cancelable: true });
  Object.assign(drop, { dataTransfer: { types: ["Files"], files, getData: () => "" } });
  panel.prompt.dispatchEvent(drop);
  await vi.waitFor(() => expect(panel.shell.attaching).toBe(0));
  return drop.defaultPrevented;
}

it("shows a picture that is pasted as a chip, and sends it by its digest", async () => {
  panel = await Mounted.with();
  await attached();
  expect(panel.host.asked("addPicture")).toEqual([{ do: "addPicture", name: "screenshot.png", data: PNG }]);
  expect(panel.get("button", chip).textContent).toContain("kB");
  expect(panel.shell.polite.value.text).toContain("Attached: screenshot.png");
  await panel.type("What is this?");
  await panel.press("Enter");
  expect(sends()).toEqual([{ type: "send", text: "What is this?", pictures: [screenshot] }]);
  expect(panel.has("button", chip)).toBe(false);
});

it("sends a picture without a word, takes one out again, and opens one", async () => {
  panel = await Mounted.with();
  expect(await dropped(file())).toBe(true);
  await vi.waitFor(() => expect(panel.has("button", chip)).toBe(true));
  await panel.click("button", chip);
  expect(panel.host.sent.at(-1)).toEqual({ type: "openPicture", digest: screenshot.digest });
  await panel.click("button", "Take screenshot.png out");
  expect(panel.has("button", chip)).toBe(false);
  panel.prompt.focus();
  await panel.press("Enter");
  expect(sends()).toEqual([]);
  await attached();
  panel.prompt.focus();
  await panel.press("Enter");
  expect(sends()).toEqual([{ type: "send", text: "", pictures: [screenshot] }]);
});

it.each([
  [
    "of a kind that Gemini does not take",
    file("old.gif", "GIF89a", "image/gif"),
    "old.gif is no picture that Gemini takes.",
    "PNG",
  ],
  ["that is called a picture and is none", file("fake.png", "#!/bin/sh"), "fake.png is no picture", "PNG"],
  [
    "that is too large",
    file("big.png", new Blob([bytes, new Uint8Array(PICTURES_BYTES)])),
    "too large (10.5 MB)",
    "smaller",
  ],
])("says at once of a file %s what to do", async (_kind, wrong, message, hint) => {
  panel = await Mounted.with();
  await dropped(wrong);
  expect(panel.shell.note.value?.message).toContain(message);
  expect(panel.shell.note.value?.hint).toContain(hint);
  expect(panel.shell.assertive.value.text).toContain(message);
  expect(panel.host.asked("addPicture")).toEqual([]);
});

it("says which picture is one too many", async () => {
  panel = await Mounted.with();
  panel.shell.pictures.value = Array.from({ length: MOST_PICTURES }, (_, at) => ({
    ...photo,
    digest: `${at}`.repeat(64),
    bytes: 1,
  }));
  await dropped(file());
  expect(panel.shell.note.value?.message).toBe("screenshot.png is one too many: a prompt takes 10 pictures.");
});

it("keeps a draft's pictures with the host, and has them again after a reload", async () => {
  panel = await Mounted.with();
  await panel.sync({}, [], { text: "", scroll: "end" });
  await attached();
  panel.drafts.flush();
  expect(panel.host.sent.at(-1)).toEqual({ type: "draft", draft: 1, text: "", scroll: "end", pictures: [screenshot] });
  await panel.unmount();
  panel = await Mounted.with({}, []);
  await panel.sync({}, [], { text: "look", scroll: "end", pictures: [screenshot] });
  expect(panel.get("button", chip).textContent).toContain("screenshot.png");
});

it("keeps what was attached beside a prompt that comes back, and takes another chat's draft in its place", async () => {
  panel = await Mounted.with();
  await panel.sync({}, [], { text: "", scroll: "end" });
  await attached();
  await panel.take({ type: "command", command: { do: "setDraft", draft: 1, text: "again", pictures: [photo] } });
  expect(panel.shell.pictures.value).toEqual([photo, screenshot]);
  await panel.take({ type: "command", command: { do: "setDraft", draft: 2, text: "other" } });
  expect(panel.shell.pictures.value).toEqual([]);
});

it("has the pictures of an earlier prompt with it under ↑, and none of the draft's is lost", async () => {
  panel = await Mounted.with();
  panel.host.answering = false;
  panel.prompt.focus();
  await panel.press("ArrowUp");
  panel.host.questions.at(-1)?.settle({ prompts: [{ text: "see this", pictures: [photo] }] });
  await vi.waitFor(() => expect(panel.prompt.value).toBe("see this"));
  expect(panel.shell.pictures.value).toEqual([photo]);
  await panel.press("ArrowDown");
  expect([panel.prompt.value, panel.shell.pictures.value]).toEqual(["", []]);
});

it("shows the pictures of a prompt that waits, and leaves them with it when its text is changed", async () => {
  panel = await Mounted.with({ queue: [{ id: "q1", text: "next", pictures: [screenshot] }] });
  expect(panel.has("button", chip)).toBe(true);
  await panel.click("button", "Edit queued prompt");
  const area = panel.get("textbox", "Queued prompt");
  if (!(area instanceof HTMLTextAreaElement)) throw new Error("No text area.");
  await panel.type("next, please", area);
  await panel.press("Enter");
  expect(panel.host.sent.at(-1)).toEqual({
    type: "queue",
    do: "edit",
    id: "q1",
    text: "next, please",
    pictures: [screenshot],
  });
});

it("says that a command takes no pictures, and keeps both", async () => {
  panel = await Mounted.with();
  await attached();
  await panel.type("/compress now");
  await panel.press("Enter");
  expect(panel.shell.note.value?.message).toBe("A command takes no pictures.");
  expect([sends(), panel.prompt.value, panel.shell.pictures.value]).toEqual([[], "/compress now", [screenshot]]);
});
