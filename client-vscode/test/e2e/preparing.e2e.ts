/** A compression that nobody waits for: prepared while an answer streams, installed with the next prompt, the person typing on. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { snapshot, summarised } from "./support/snapshots.js";
import { keepPicture, stage } from "./support/stage.js";
import { sentences } from "./support/texts.js";

const SNAPSHOT = snapshot();

const set = stage("preparing", { emulator: true });
beforeAll(() => {
  const settings = join(set.server.folder, "home/.gemini");
  mkdirSync(settings, { recursive: true });
  writeFileSync(
    join(settings, "settings.json"),
    JSON.stringify({ model: { tokenLimit: 30_000 }, companion: { compression: { background: "auto" } } }),
  );
});

test("it is prepared, announced and installed while answers stream and the person types on", async () => {
  const panel = await set.newChat();
  const { window, emulator } = set;
  await emulator.script([{ pieces: [{ gate: "writing" }, SNAPSHOT] }, ...summarised(SNAPSHOT)], "snapshot");
  const share = async (): Promise<number> => Number.parseInt(await panel.meter.innerText(), 10);
  let turn = 0;
  const question = (): string =>
    `Question ${++turn}: ${"what happens to the last word of a text, and why? ".repeat(30)}`;
  const answered = (): string =>
    `Answer ${turn}. ${sentences("The tokenizer keeps its buffer until a space comes", 90)}`;

  // The snapshot is not written: every prompt goes first, past the trigger at half of the window too.
  do {
    const text = question();
    await emulator.script([{ pieces: [answered()] }]);
    await panel.ask(text, `Answer ${turn}.`);
  } while ((await share()) < 52);
  await panel.button(/A compression is being prepared while you work/).waitFor();
  expect(await panel.divider(/ompress/).count()).toBe(0);

  // It becomes ready while an answer streams.
  await emulator.script([{ pieces: ["This answer is long. ", { gate: "answering" }, "Now it is done."] }]);
  await panel.send("A short one?");
  await emulator.reached("answering");
  await panel.composer.fill("What I type mean");
  await emulator.release("writing");
  await panel.button(/A compression is prepared: you will not wait for it/).waitFor();
  await window.statusItem("%").locator(".codicon-check").waitFor();
  await panel.composer.press("End");
  await panel.composer.pressSequentially("while");
  expect(await panel.composer.inputValue()).toBe("What I type meanwhile");
  await keepPicture(set, "preparing", "1-prepared-while-an-answer-streams");
  expect(await panel.divider(/ompress/).count()).toBe(0);
  await emulator.release("answering");
  await panel.isIdle();

  // The next prompt takes it along, and is answered at once.
  const before = (await emulator.requests("generateContent")).length;
  await emulator.script([{ pieces: ["This one too. ", { gate: "answering again" }, "Done."] }]);
  await panel.send("And now?");
  await emulator.reached("answering again");
  await panel.divider(/Chat compressed in the background/).waitFor();
  await panel.composer.fill("And this goes ");
  await panel.composer.pressSequentially("on.");
  expect(await panel.composer.inputValue()).toBe("And this goes on.");
  await panel.stop.waitFor();
  await keepPicture(set, "preparing", "2-installed-while-an-answer-streams");
  const last = (await emulator.requests("streamGenerateContent")).at(-1);
  expect(last?.text).toContain("The user mends the tokenizer");
  expect(last?.text).not.toContain("Question 1:");
  expect((await emulator.requests("generateContent")).length).toBe(before);
  await emulator.release("answering again");
  await panel.isIdle();

  const done = panel.divider(/Chat compressed in the background/);
  await done.getByText(/[\d,]+ → [\d,]+ tokens, \d+% less/).waitFor();
  await done.getByRole("button", { name: "Undo" }).waitFor();
  expect(await share()).toBeLessThan(45);
  await keepPicture(set, "preparing", "3-compressed-in-the-background");
});
