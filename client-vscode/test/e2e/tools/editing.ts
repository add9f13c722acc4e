/** What the chat reads and edits. */
import { expect, test } from "vitest";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, hasText, LAST, MENDS, press, question, read, row, told } from "./workshop.js";

export function editing(set: Stage): void {
  test("reads are one row, an edit is corrected in the diff and accepted, and the model is told so", async () => {
    const panel = await chatWith(set, [
      {
        pieces: [
          "I look at it. ",
          calls("read_file", { file_path: "src/tokenizer.py" }),
          calls("grep_search", { pattern: "tokens" }),
        ],
      },
      { pieces: ["The last buffer is never given. ", MENDS] },
      { pieces: ["The last word counts now."] },
    ]);
    await panel.send("Why is the last word dropped? Mend it.");
    const asked = question(panel, "Edit src/tokenizer.py");
    await asked.getByRole("group", { name: "Changes" }).getByText("+    if buffer:").waitFor();
    const group = panel.answers.getByText(/^Looked at 2 things/);
    await group.waitFor();
    await keepPicture(set, "tools", "edit-asked");
    await group.click();
    await row(panel, "Read src/tokenizer.py").waitFor();
    await row(panel, "Search for tokens").waitFor();
    expect(read(set, "src/tokenizer.py"), "nothing is changed before the yes").toContain(LAST);
    expect(read(set, "src/tokenizer.py")).not.toContain(`${LAST}    if buffer`);

    const { page } = set.window;
    await press(asked, "Open Diff", page.locator(".tab.active", { hasText: "proposed" }));
    await page.locator(".editor-instance .modified-in-monaco-diff-editor .view-lines").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# corrected by hand");
    await patiently(
      "the correction stands in the diff",
      async () => (await set.window.editorText()).includes("# corrected by hand") || undefined,
    );
    await keepPicture(set, "tools", "edit-corrected");
    await set.window.command("Gemini: Accept Proposed Change");
    await ends(panel, "The last word counts now.");
    await hasText(set, "src/tokenizer.py", "# corrected by hand");
    expect(read(set, "src/tokenizer.py")).toContain(`${LAST}    if buffer:`);
    expect(await told(set)).toContain("# corrected by hand");
    await set.window.openFile("tokenizer.py");
    await patiently(
      "the open editor has it",
      async () => (await set.window.editorText()).includes("# corrected by hand") || undefined,
    );
    await keepPicture(set, "tools", "edit-done");
  });
}
