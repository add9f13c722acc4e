/** No key, a wrong key, the right key. */
import { expect, test } from "vitest";
import { filesWith, below, picture } from "./seeing.js";
import type { Stage } from "../support/stage.js";

const FIRST_KEY = "the-first-key-of-the-person";
const WRONG_KEY = "a-key-that-nobody-knows";
const RIGHT_KEY = "the-key-that-is-right";
/** What the input box of the key says. */
const INPUT = /secret storage/;

export function keys(set: Stage): void {
  test("without a key the offline model answers and says so; the key that is set then goes to the service and nowhere else", async () => {
    const panel = await set.newChat();
    await below(panel).getByText("The built-in offline model answers.").waitFor();
    await picture(set, "no-key");
    await panel.send("What does the tokenizer do?");
    await panel.answers
      .last()
      .getByText(/offline model/i)
      .first()
      .waitFor();
    await panel.isIdle();
    expect(await set.emulator.requests()).toEqual([]);
    await picture(set, "no-key-answered");

    await panel.button("Set API Key").click();
    await set.window.quickInput.getByText(INPUT).waitFor();
    await picture(set, "key-input");
    await set.window.answer(INPUT, FIRST_KEY);
    await below(panel).getByText("The built-in offline model answers.").waitFor({ state: "hidden" });
    const { key } = await set.ask(panel, "And now?", "Now Gemini answers.");
    expect(key).toBe(FIRST_KEY);
    expect(set.server.extensionLog()).not.toBe("");
    expect(filesWith(set.server.folder, FIRST_KEY)).toEqual([]);
  });

  test("a key that is refused is told with a way to set another; then the retry gets its answer", async () => {
    const panel = await set.newChat();
    await set.window.command("Gemini: Set API Key");
    await set.window.answer(INPUT, WRONG_KEY);
    await set.emulator.accept([RIGHT_KEY]);
    await panel.send("Do you know me?");
    const answer = panel.answers.last();
    await answer.getByText(/refused the credentials .*API key not valid/).waitFor();
    await answer.getByText("Set a key from Google AI Studio, then try again.").waitFor();
    await answer.getByRole("button", { name: "Retry" }).first().waitFor();
    await picture(set, "wrong-key");
    await answer.getByRole("button", { name: "Set API Key" }).click();
    await set.window.answer(INPUT, RIGHT_KEY);
    await set.emulator.script([{ pieces: ["Now I do."] }]);
    await panel.answers.last().getByRole("button", { name: "Retry" }).first().click();
    await panel.answers.getByText("Now I do.").waitFor();
    await panel.isIdle();
    expect((await set.emulator.requests("streamGenerateContent")).at(-1)?.key).toBe(RIGHT_KEY);
    expect(filesWith(set.server.folder, WRONG_KEY)).toEqual([]);
  });

  test("credentials that the service rejects with 401 are told the same way", async () => {
    const panel = await set.newChat();
    await set.emulator.script([{ fault: "unauthenticated" }]);
    await panel.send("Do you know me?");
    await panel.answers.last().getByRole("button", { name: "Set API Key" }).waitFor();
    await panel.answers.last().getByRole("button", { name: "Retry" }).first().waitFor();
  });

  test("what is no key is refused before it is kept", async () => {
    const panel = await set.newChat();
    await set.window.command("Gemini: Set API Key");
    await set.window.quickField.fill("two words");
    await set.window.quickInput.getByText("A key has no spaces and no characters beyond ASCII.").waitFor();
    await set.window.page.keyboard.press("Escape");
    expect((await set.ask(panel, "Still there?", "Still here.")).key).toBe(RIGHT_KEY);
  });
}
