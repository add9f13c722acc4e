/** Memory files in a real VS Code: listed, opened, added to, and in the next request. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patiently } from "./support/patience.js";
import { keepPicture, stage } from "./support/stage.js";

const set = stage("memory", { emulator: true });

test("the list shows the project's file, opens it, and keeps a fact that the next request has", async () => {
  const file = join(set.server.workspace, "GEMINI.md");
  writeFileSync(file, "Four spaces, no tabs.\n@./docs/gone.md\n");
  const panel = await set.newChat();
  await set.window.command("Gemini: Memory…");
  const list = panel.frame.getByRole("dialog", { name: "Memory" });
  await list.getByText("./docs/gone.md: there is no such file").waitFor();
  const field = list.getByRole("textbox", { name: "New fact" });
  await patiently("the fact stands in the field", async () => {
    await field.fill("Tests run with make test.");
    return (await field.inputValue()) === "Tests run with make test." || undefined;
  });
  await keepPicture(set, "memory", "list");
  await field.press("Enter");
  await patiently("the file has the fact", () =>
    Promise.resolve(readFileSync(file, "utf8").includes("- Tests run with make test.") || undefined),
  );
  await list.getByRole("button", { name: /^Open .*GEMINI\.md$/ }).click();
  await set.window.page.getByRole("tab", { name: /^GEMINI\.md/ }).waitFor();
  await keepPicture(set, "memory", "opened");
  const { text } = await set.ask(panel, "How do I run the tests?", "With make test.");
  expect(text).toContain("Four spaces, no tabs.");
  expect(text).toContain("- Tests run with make test.");
});
