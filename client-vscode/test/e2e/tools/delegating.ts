/** What the model hands to a subagent. */
import { expect, test } from "vitest";
import { keepPicture, type Stage } from "../support/stage.js";
import { calls, chatWith, ends, MENDS, press, question, row } from "./workshop.js";

export function delegating(set: Stage): void {
  test("a subagent works in a folded row, asks here by its name, and leads to its own chat", async () => {
    const task = { agent_name: "generalist", prompt: "Mend the tokenizer" };
    const panel = await chatWith(set, [
      { pieces: ["I hand it over. ", calls("invoke_agent", task)] },
      { pieces: [calls("read_file", { file_path: "src/tokenizer.py" })] },
      { pieces: [MENDS] },
      { pieces: ["The last word is given now."] },
      { pieces: ["The subagent mended it."] },
    ]);
    await panel.send("Mend the tokenizer.");
    const asked = question(panel, /Generalist: Edit/);
    await asked.waitFor();
    await keepPicture(set, "tools", "subagent-asks");
    await press(asked, "Yes");
    await ends(panel, "The subagent mended it.");
    const handed = row(panel, /^Hand to a subagent: Mend the tokenizer/);
    await handed.getByText(/2 calls/).waitFor();
    await handed.locator("summary").click();
    await handed.getByRole("group", { name: "Output" }).getByText("The last word is given now.").waitFor();
    await keepPicture(set, "tools", "subagent-done");
    const answers = (await set.emulator.requests("streamGenerateContent")).map(({ responses }) =>
      JSON.stringify(responses),
    );
    expect(answers.at(-1)).toContain("The last word is given now.");
    await handed.getByRole("button", { name: /^Open the chat of the subagent/ }).click();
    await panel.frame.getByText("The last word is given now.").first().waitFor();
    await row(panel, /^Read src\/tokenizer.py/)
      .first()
      .waitFor();
    await keepPicture(set, "tools", "subagent-chat");
  });
}
