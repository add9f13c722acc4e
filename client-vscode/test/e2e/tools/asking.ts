/** What the model asks the person, and what it plans to do. */
import { expect, test } from "vitest";
import { keepPicture, type Stage } from "../support/stage.js";
import { SUMMARISED, talk } from "../scenes/deciding.js";
import { calls, chatWith, ends, press, question, told } from "./workshop.js";

export function asking(set: Stage): void {
  test("a question of the model is answered with an option, and another one in own words", async () => {
    const options = [{ label: "SQLite", description: "A file" }, { label: "Postgres" }];
    const panel = await chatWith(set, [
      { pieces: [calls("ask_user", { questions: [{ question: "Which database?", options }] })] },
      { pieces: [calls("ask_user", { questions: [{ question: "How large will it be?" }] })] },
      { pieces: ["Thank you."] },
    ]);
    await panel.send("Store the counts.");
    const first = question(panel, /Which database/);
    await first.waitFor();
    await keepPicture(set, "tools", "asked");
    await press(first, "SQLite");
    const second = question(panel, /How large will it be/);
    await second.getByRole("textbox", { name: "Your own words" }).fill("A few megabytes");
    await press(second, "Answer");
    await ends(panel, "Thank you.");
    await keepPicture(set, "tools", "answered");
    expect(await told(set)).toContain("A few megabytes");
    expect(
      (await set.emulator.requests("streamGenerateContent")).some(({ responses }) =>
        JSON.stringify(responses).includes("SQLite"),
      ),
    ).toBe(true);
  });

  test("the list of tasks stays over the composer, and through a compression", async () => {
    const todos = [
      { description: "Find the lost word", status: "completed" },
      { description: "Give the last buffer", status: "in_progress" },
      { description: "Test an empty text", status: "pending" },
    ];
    const panel = await chatWith(set, [
      { pieces: [calls("write_todos", { todos })] },
      { pieces: ["That is the plan."] },
    ]);
    await panel.send("What is to be done?");
    await ends(panel, "That is the plan.");
    const bar = panel.frame.getByRole("region", { name: "Tasks" });
    await bar.getByText("Give the last buffer").waitFor();
    await bar.getByText("1 of 3 done").waitFor();
    await talk(set, panel);
    await set.emulator.script(SUMMARISED, "snapshot");
    await set.window.command("Gemini: Compress Chat");
    await panel.divider(/Chat compressed/).waitFor();
    await panel.isIdle();
    await bar.getByRole("button").first().click();
    await bar.getByRole("listitem").filter({ hasText: "Test an empty text" }).waitFor();
    await keepPicture(set, "tools", "tasks");
  });
}
