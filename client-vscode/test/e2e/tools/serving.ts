/** An MCP server that the workspace's settings name: what a person sees of it, does about it, and gets from it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Panel } from "../support/panel.js";
import { python, repository } from "../support/places.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, ends, press, question, row, told } from "./workshop.js";

const SERVER = join(repository, "tests/support/mcp_server.py");
const PICTURES = "mcp";
/** It greets on its output, which is no message, and so stands in its log. */
const SETTINGS = { mcpServers: { tester: { command: python, args: [SERVER, "banner"] } } };

export function serving(set: Stage): void {
  beforeAll(() => {
    const folder = join(set.server.workspace, ".gemini");
    mkdirSync(folder);
    writeFileSync(join(folder, "settings.json"), JSON.stringify(SETTINGS, null, 2));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  test("a repository's server starts after the person agreed to its command; the list tells where it stands and what it offers", async () => {
    const panel = await set.newChat();
    await set.ask(panel, "Is a server there?", "Not yet.");
    await panel.frame
      .getByRole("paragraph")
      .filter({ hasText: /wants to start the MCP server tester/ })
      .waitFor();
    await keepPicture(set, PICTURES, "wants-to-start");

    const list = await servers(set, panel);
    const tester = list.getByRole("listitem").filter({ hasText: "tester" }).first();
    await tester.getByText("waits for your consent").waitFor();
    await tester.getByText(SERVER).waitFor();
    expect(await tester.getByRole("button", { name: "Restart: tester" }).count(), "nothing starts it yet").toBe(0);
    await keepPicture(set, PICTURES, "consent");
    await tester.getByRole("button", { name: "Agree and Start: tester" }).press("Enter");
    await tester.getByText("ready · 2 tools").waitFor();
    await tester.getByRole("button", { name: "What It Offers" }).press("Enter");
    await tester.getByText("mcp_tester_echo").waitFor();
    await tester.getByText("/write-a-poem").waitFor();
    await keepPicture(set, PICTURES, "offers");
    await tester.getByRole("button", { name: "Log" }).press("Enter");
    await tester.getByText(/Welcome!/).waitFor();
    await keepPicture(set, PICTURES, "log");

    await tester.getByRole("button", { name: "Disable: tester" }).press("Enter");
    await tester.getByText("disabled").waitFor();
    await keepPicture(set, PICTURES, "disabled");
    await tester.getByRole("button", { name: "Enable: tester" }).press("Enter");
    await tester.getByText("starts with the next prompt").waitFor();
    await tester.getByRole("button", { name: "Restart: tester" }).press("Enter");
    await tester.getByText("ready · 2 tools").waitFor();
    await list.press("Escape");
    await list.waitFor({ state: "detached" });
  });

  test("a tool of the server runs after a yes, its failure is told, and the server is there again", async () => {
    const panel = await set.newChat();
    const echo = (text: string) => ({ pieces: ["I ask it. ", calls("mcp_tester_echo", { text })] });
    await set.emulator.script([echo("hello"), { pieces: ["It said hello."] }]);
    await panel.send("Say hello to it.");
    const asked = question(panel, /mcp_tester_echo/);
    await asked
      .getByText(/"text":\s*"hello"/)
      .first()
      .waitFor(); // nobody says yes to what is not shown
    await keepPicture(set, PICTURES, "asked");
    await press(asked, "Yes");
    await ends(panel, "It said hello.");
    expect(await told(set)).toContain("echo: hello");
    const called = row(panel, /^mcp_tester_echo/).first();
    await called.locator("summary").click();
    await called.getByRole("group", { name: "Output" }).getByText("echo: hello").waitFor();
    await keepPicture(set, PICTURES, "called");

    await set.emulator.script([echo("crash"), { pieces: ["It is gone."] }]);
    await panel.send("Once more.");
    await press(question(panel, /mcp_tester_echo/), "Yes");
    await ends(panel, "It is gone.");
    expect(await told(set)).toContain("It was ended by signal 9.");
    await keepPicture(set, PICTURES, "crashed");
    const list = await servers(set, panel);
    await list.getByText("ready · 2 tools").waitFor();
    await list.press("Escape");
    await list.waitFor({ state: "detached" });
  });

  test("a prompt of the server is completed as a slash command, and what it says goes along", async () => {
    const panel = await set.newChat();
    await panel.composer.pressSequentially("/poem");
    await panel.frame.getByRole("option", { name: /\/write-a-poem/ }).waitFor();
    await keepPicture(set, PICTURES, "prompt-completed");
    await panel.frame.getByRole("option", { name: /\/write-a-poem/ }).click();
    expect(await panel.composer.inputValue()).toBe("/write-a-poem --topic=");
    await panel.composer.press("End");
    await panel.composer.pressSequentially('"green tea"');
    await set.emulator.script([{ pieces: ["Leaves in water."] }]);
    await panel.composer.press("Enter");
    await ends(panel, "Leaves in water.");
    expect((await set.emulator.asked(1)).text).toContain("Write about {'topic': 'green tea'}.");
    await keepPicture(set, PICTURES, "prompt-called");
  });

  test("a resource of the server is completed behind @, goes along, and stands in the receipt", async () => {
    const panel = await set.newChat();
    await panel.composer.pressSequentially("What must I buy? See @tester");
    await panel.frame.getByRole("option", { name: /The first memo/ }).waitFor();
    await keepPicture(set, PICTURES, "resource-completed");
    await panel.frame.getByRole("option", { name: /The first memo/ }).click();
    expect(await panel.composer.inputValue()).toContain("@tester:memo://one");
    await set.emulator.script([{ pieces: ["Milk."] }]);
    await panel.composer.press("Enter");
    await ends(panel, "Milk.");
    expect((await set.emulator.asked(1)).text).toContain("Buy milk.");
    await panel.prompts.last().getByText("Sent: 1 file, 1 text of an MCP server").click();
    await panel.prompts.last().getByText("tester:memo://one", { exact: true }).waitFor();
    await keepPicture(set, PICTURES, "resource-sent");
  });
}

/** The list of servers, opened. */
async function servers(set: Stage, panel: Panel): Promise<Locator> {
  await set.window.command("Gemini: MCP Servers…");
  const list = panel.frame.getByRole("dialog", { name: "MCP Servers" });
  await list.waitFor();
  return list;
}
