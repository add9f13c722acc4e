/** Slash commands and skills in a real VS Code: listed, picked, asked about, sent; a skill used and turned off. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patiently } from "./support/patience.js";
import { keepPicture, stage } from "./support/stage.js";
import { calls, ends, press, question } from "./tools/workshop.js";

const set = stage("commands", { emulator: true });

/** Writes a file of the project. */
function write(path: string, text: string): void {
  const file = join(set.server.workspace, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

test("a project's command is picked from the list, its shell line asked about, and shown as it was sent", async () => {
  write(
    ".gemini/commands/git/review.toml",
    'description = "Review what I name"\nprompt = "Review {{args}}. !{echo seen; touch ran}"\n',
  );
  write(".gemini/commands/broken.toml", 'prompt = "!{"\n');
  const panel = await set.newChat();
  await set.emulator.script([{ pieces: ["Reviewed."] }]);
  const list = panel.frame.getByRole("listbox", { name: "Commands" });
  await patiently("the list has the command", async () => {
    await panel.composer.fill("");
    await panel.composer.pressSequentially("/git");
    return (await list.getByText("/git:review").count()) > 0 || undefined;
  });
  await keepPicture(set, "commands", "list");
  await panel.composer.press("Tab");
  expect(await panel.composer.inputValue()).toBe("/git:review ");
  await panel.composer.pressSequentially("the tokenizer");
  await panel.composer.press("Enter");
  const asked = question(panel, /Run echo seen/);
  await asked.getByText(/A command file of the project runs it/).waitFor();
  await keepPicture(set, "commands", "asked");
  await press(asked, "Yes");
  await ends(panel, "Reviewed.");
  const prompt = panel.prompts.last();
  await prompt.getByText("/git:review the tokenizer").waitFor();
  await prompt.getByText("Command of this project, ran 1 command").waitFor();
  await keepPicture(set, "commands", "sent");
  await prompt.getByRole("button", { name: "Show what was sent" }).click();
  await set.window.page.getByRole("tab", { name: /^git-review\.md/ }).waitFor();
  await keepPicture(set, "commands", "shown");
  const request = (await set.emulator.requests("streamGenerateContent")).at(-1);
  expect(request?.text).toContain("Review the tokenizer. seen");
  rmSync(join(set.server.workspace, "ran"));
});

test("a skill is used after a yes, and turned off in its list", async () => {
  write(
    ".agents/skills/letters/SKILL.md",
    "---\nname: letters\ndescription: How letters are written here\n---\nBe kind.\n",
  );
  const panel = await set.newChat();
  await set.emulator.script([
    { pieces: ["I look. ", calls("activate_skill", { name: "letters" })] },
    { pieces: ["Dear reader."] },
  ]);
  await panel.send("Write a letter.");
  const asked = question(panel, /Use the skill letters/);
  await asked.getByText(/How letters are written here/).waitFor();
  await keepPicture(set, "commands", "skill-asked");
  await press(asked, "Yes");
  await ends(panel, "Dear reader.");
  const requests = await set.emulator.requests("streamGenerateContent");
  expect(requests.at(-1)?.system).toContain("- letters: How letters are written here");
  await set.window.command("Gemini: Skills…");
  const skills = panel.frame.getByRole("dialog", { name: "Skills" });
  const letters = skills.getByRole("switch", { name: "letters" });
  await letters.waitFor();
  await keepPicture(set, "commands", "skills");
  await letters.press("Space");
  await patiently("it is off", async () => !(await letters.isChecked()) || undefined);
  await skills.press("Escape");
  const { system } = await set.ask(panel, "And another one?", "Dear me.");
  expect(system).not.toContain("How letters are written here");
});
