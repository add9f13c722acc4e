/** Chats beside each other, in the real VS Code: a prompt goes where it was meant to, and a chat that was left says how it stands. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Panel } from "./support/panel.js";
import { keepPicture, stage } from "./support/stage.js";

const set = stage("chats", { emulator: true });

test("a prompt right after New Chat goes into the new chat, also right after the window was reloaded", async () => {
  const panel = await set.newChat();
  const { window, emulator } = set;
  await window.panelWidth(480);
  await set.ask(panel, "What is a token?", "A piece of text.");
  for (const reloads of [false, true]) {
    if (reloads) await window.reload();
    const shown = new Panel(await window.panel());
    await shown.composer.waitFor();
    if (reloads) await keepPicture(set, "chats", "1-reloaded");
    await emulator.reset();
    await emulator.script([{ pieces: ["Of the new chat."] }]);
    await shown.button("New chat").click();
    await shown.composer.fill("Where am I?");
    await shown.composer.press("Enter");
    const request = await emulator.asked(1);
    expect(request.text).toContain("Where am I?");
    expect(request.text).not.toContain("A piece of text.");
    expect(request.text).not.toContain("What is a token?");
    await shown.answers.filter({ hasText: "Of the new chat." }).waitFor();
    await shown.isIdle();
    expect(await shown.prompts.count()).toBe(1);
  }
});

test("a chat that was left while it answers is marked in the list, then has news, and is at rest once it was seen", async () => {
  const panel = await set.newChat();
  const { emulator } = set;
  await emulator.script([{ pieces: ["It begins,", { gate: "end" }, " and ends."] }]);
  await panel.send("Take your time.");
  await emulator.reached("end");
  await panel.send("Then this.");
  await panel.button("New chat").click();
  await panel.frame.getByText("Ask about your code").waitFor();
  await panel.button(/^Untitled chat/).click();
  const list = panel.frame.getByRole("dialog", { name: "Chats" });
  const entry = list.getByRole("listitem").filter({ hasText: "Answering…" });
  await entry.getByText("1 prompt waits").waitFor();
  await keepPicture(set, "chats", "2-answering");
  await emulator.release("end");
  await list.getByRole("listitem").filter({ hasText: "New answer" }).waitFor();
  await keepPicture(set, "chats", "3-answered");
  await emulator.script([{ pieces: ["And this."] }]);
  await list.getByRole("listitem").filter({ hasText: "New answer" }).getByRole("button").first().click();
  await panel.answers.filter({ hasText: "And this." }).waitFor();
  await panel.isIdle();
});

test("a settings file that cannot be read stands above the composer until it is mended", async () => {
  const panel = await set.newChat();
  await set.ask(panel, "Hello?", "Hello."); // a chat that is not begun is told of nothing
  const file = join(set.server.folder, "home", ".gemini", "settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "{ broken");
  await panel.frame.getByText(/settings\.json cannot be read\./).waitFor();
  await keepPicture(set, "chats", "4-unread");
  await set.window.toast(`${file}:1`).getByRole("button", { name: "Dismiss" }).click(); // it stands over the panel's corner
  await panel.button("Open the File").click();
  await set.window.page.getByRole("tab", { name: /settings\.json/ }).waitFor();
  writeFileSync(file, "{}");
  await panel.frame.getByText(/settings\.json cannot be read\./).waitFor({ state: "detached" });
});
