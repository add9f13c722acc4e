/** What was changed, and the way back. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, hasText, inMode, MENDS, read, remove, write } from "./workshop.js";

export function changing(set: Stage): void {
  test("changed files are counted, looked at and undone one by one, and a prompt is gone back to with its files", async () => {
    const panel = await chatWith(set, [
      { pieces: [MENDS, calls("write_file", { file_path: "notes/one.md", content: "one\n" })] },
      { pieces: ["The first is done."] },
      {
        pieces: [
          calls("replace", { file_path: "src/parser.py", old_string: '"limit": 10', new_string: '"limit": 20' }),
          calls("replace", { file_path: "README.md", old_string: "Counts words", new_string: "Counts all words" }),
          calls("write_file", { file_path: "notes/two.md", content: "two\n" }),
        ],
      },
      { pieces: ["The second is done."] },
    ]);
    const { page } = set.window;
    await inMode(panel, "Accept edits");
    await panel.send("The first.");
    await ends(panel, "The first is done.");
    await panel.send("The second.");
    await ends(panel, "The second is done.");
    const bar = panel.frame.getByRole("region", { name: "Changed files" });
    const fold = bar.getByRole("button", { name: /^5 files changed/ });
    await fold.click();
    await keepPicture(set, "tools", "changes");

    await bar.getByRole("button", { name: /^src\/parser\.py/ }).click();
    await page.locator(".tab.active", { hasText: "before and now" }).waitFor();
    await keepPicture(set, "tools", "changes-diff");
    await set.window.command("View: Close Editor");
    await bar.getByRole("button", { name: "Undo the changes of notes/two.md" }).click();
    await bar.getByRole("button", { name: /^4 files changed/ }).waitFor();
    await patiently("the new file is gone", () => !has(set, "notes/two.md") || undefined);

    write(set, "README.md", read(set, "README.md").replace("Counts all words", "Counts some words"));
    await panel.prompts.last().getByRole("button", { name: "Go back to here…" }).click();
    await set.window.quickInput.getByText("Put back: src/parser.py").first().waitFor();
    await set.window.quickInput.getByText("Left as they are: README.md").first().waitFor();
    await keepPicture(set, "tools", "going-back");
    await set.window.pick("Chat and files");
    await hasText(set, "src/parser.py", '"limit": 10');
    await panel.frame
      .getByText(/Left as they are:/)
      .first()
      .waitFor();
    await panel.answers.getByText("The first is done.").waitFor();
    await panel.answers.getByText("The second is done.").waitFor({ state: "detached" });
    await patiently(
      "the prompt stands in the composer",
      async () => (await panel.composer.inputValue()) === "The second." || undefined,
    );
    await keepPicture(set, "tools", "gone-back");
    expect(read(set, "README.md"), "what somebody wrote since stays").toContain("Counts some words");
    expect(has(set, "notes/one.md"), "what was before the prompt stays").toBe(true);
    remove(set, "notes/one.md");
  });
}

function has(set: Stage, path: string): boolean {
  return existsSync(join(set.server.workspace, path));
}
