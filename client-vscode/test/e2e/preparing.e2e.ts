/** A compression that nobody waits for: prepared while an answer streams, installed with the next prompt, the person typing on. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Panel } from "./support/panel.js";
import { snapshot, summarised } from "./support/snapshots.js";
import { keepPicture, stage } from "./support/stage.js";
import { sentences } from "./support/texts.js";

const SNAPSHOT = snapshot();

const set = stage("preparing", { emulator: true });
beforeAll(() => {
  const settings = join(set.server.folder, "home/.gemini");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ model: { tokenLimit: 30_000 } }));
});

test("it is prepared, announced and installed while answers stream and the person reads and types on", async () => {
  const panel = await set.newChat();
  const { window, emulator } = set;
  const { keyboard } = window.page; // types where the focus is, as a person does
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

  // It becomes ready while an answer streams, something further up is read, and the next prompt is typed.
  await emulator.script([{ pieces: ["This answer is long. ", { gate: "answering" }, "Now it is done."] }]);
  await panel.send("A short one?");
  await emulator.reached("answering");
  await scrollUp(panel);
  await watch(panel);
  await keyboard.type("What I type", { delay: 40 });
  await emulator.release("writing");
  await keyboard.type(" is not lost,", { delay: 40 });
  await panel.button(/A compression is prepared: you will not wait for it/).waitFor();
  await window.statusItem("%").locator(".codicon-check").waitFor();
  await keyboard.type(" nor held up.", { delay: 40 });
  expect(await panel.composer.inputValue()).toBe("What I type is not lost, nor held up.");
  await keepPicture(set, "preparing", "1-prepared-while-an-answer-streams");
  expect(await panel.divider(/ompress/).count()).toBe(0);
  expect(await watched(panel)).toEqual(UNDISTURBED);

  // The prompt waits for its turn, and takes the compression along: it is installed while the person reads and types.
  const before = (await emulator.requests("generateContent")).length;
  await emulator.script([{ pieces: ["This one too. ", { gate: "answering again" }, "Done."] }]);
  await keyboard.press("Enter");
  await panel.queue.getByText("What I type is not lost").waitFor();
  await scrollUp(panel);
  await watch(panel);
  await keyboard.type("And this", { delay: 40 });
  await emulator.release("answering");
  await keyboard.type(" goes on while it is sent,", { delay: 40 });
  await emulator.reached("answering again");
  await keyboard.type(" and after.", { delay: 40 });
  expect(await panel.composer.inputValue()).toBe("And this goes on while it is sent, and after.");
  await keepPicture(set, "preparing", "2-installed-while-something-is-read");
  expect(await watched(panel)).toEqual(UNDISTURBED);
  await panel.frame
    .getByRole("button", { name: /latest|end/i })
    .first()
    .click();
  await panel.divider(/Chat compressed in the background/).waitFor();
  await panel.stop.waitFor();
  // It stands where it came, above the prompt that it was installed with.
  const shown = [
    panel.answers.filter({ hasText: "Now it is done." }),
    panel.divider(/Chat compressed in the background/),
    panel.prompts.filter({ hasText: "What I type" }),
    panel.answers.filter({ hasText: "This one too." }),
  ];
  const tops = await Promise.all(shown.map((row) => row.evaluate((one) => one.getBoundingClientRect().top)));
  expect(tops).toEqual([...tops].sort((a, b) => a - b));
  await keepPicture(set, "preparing", "3-installed-while-an-answer-streams");
  const last = (await emulator.requests("streamGenerateContent")).at(-1);
  expect(last?.text).toContain("The user mends the tokenizer");
  expect(last?.text).toContain("user: Question 1:"); // quoted beside the snapshot
  expect((await emulator.requests("generateContent")).length).toBe(before);
  await emulator.release("answering again");
  await panel.isIdle();

  const done = panel.divider(/Chat compressed in the background/);
  await done.getByText(/[\d,]+ → [\d,]+ tokens, \d+% less/).waitFor();
  await done.getByRole("button", { name: "Undo" }).waitFor();
  expect(await panel.composer.inputValue()).toBe("And this goes on while it is sent, and after.");
  expect(await share()).toBeLessThan(45);
  await keepPicture(set, "preparing", "4-compressed-in-the-background");
});

test("a preview that is being edited is left alone by what is prepared, and is applied after a turn", async () => {
  const { window } = set;
  const { panel, preview } = await previewed();
  await preview.getByRole("button", { name: "Edit" }).click();
  await window.page.locator(".tab.active", { hasText: /^snapshot\.md/ }).waitFor();
  await set.ask(panel, "A turn while I edit", "Answered.");
  await preview.getByRole("button", { name: "Apply" }).waitFor();
  await window.command("Gemini: Apply Edited Snapshot");
  await panel.divider(/^Chat compressed$/).waitFor();
  expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain("A turn while I edit");
});

test("a preview that is discarded holds back nothing: the next prompt takes along what is prepared", async () => {
  const { panel, preview } = await previewed();
  await set.ask(panel, "A turn while I look", "Answered.");
  expect(await panel.divider(/Chat compressed/).count()).toBe(0);
  await set.window.page.locator(".tab", { hasText: /^Snapshot\.md/ }).waitFor();
  await preview.getByRole("button", { name: "Discard" }).click();
  await set.window.noTab(/^Snapshot/);
  await panel.divider(/Preview discarded/).waitFor();
  await keepPicture(set, "preparing", "5-discarded");
  await set.ask(panel, "And now?", "It goes on.");
  await panel.divider(/Chat compressed in the background/).waitFor();
});

/** A chat past the trigger, with a compression that is prepared, and the preview of one that the person asked for. */
async function previewed() {
  const panel = await set.newChat();
  await set.emulator.script(summarised(SNAPSHOT, 9), "snapshot");
  for (let turn = 1, share = 0; share < 51; turn++, share = Number.parseInt(await panel.meter.innerText(), 10)) {
    await set.emulator.script([
      { pieces: [`Answer ${turn}. ${sentences("The tokenizer keeps its buffer until a space comes", 90)}`] },
    ]);
    await panel.ask(`Question ${turn}: ${"what happens to the last word of a text? ".repeat(30)}`, `Answer ${turn}.`);
  }
  await panel.button(/A compression is prepared/).waitFor();
  await set.window.command("Gemini: Preview Compression");
  return { panel, preview: panel.divider(/Preview of a compression/) };
}

/** What `watched` says of a page on which nothing took the focus, a letter or the reader's place. */
const UNDISTURBED = {
  focusLost: 0,
  lettersLost: 0,
  moved: 0,
  looked: expect.toSatisfy((frames: number) => frames > 20) as number,
};

/** Reads a little further up, with the wheel. */
async function scrollUp(panel: Panel): Promise<void> {
  const box = await panel.transcript.boundingBox();
  if (box === null) throw new Error("There is no transcript.");
  const { mouse } = set.window.page;
  await mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const place = (): Promise<number> => panel.transcript.evaluate((feed) => feed.scrollTop);
  const was = await place();
  await mouse.wheel(0, -400);
  await expect.poll(place).toBeLessThan(was);
  for (let at = -1; at !== (at = await place());) await panel.frame.evaluate(() => new Promise(requestAnimationFrame));
}

/** Looks from now on, at every frame, where the focus is, what the composer holds and where the text stands that is read. */
async function watch(panel: Panel): Promise<void> {
  await panel.composer.focus();
  await panel.transcript.evaluate((feed) => {
    const composer = document.activeElement as HTMLTextAreaElement;
    const top = feed.getBoundingClientRect().top;
    const read = [...feed.querySelectorAll("article")].find((one) => one.getBoundingClientRect().bottom > top);
    if (read === undefined) throw new Error("Nothing is read.");
    const place = read.getBoundingClientRect().top;
    const seen = { looked: 0, focusLost: 0, lettersLost: 0, moved: 0 };
    let length = composer.value.length;
    (window as Window & { seen?: typeof seen }).seen = seen;
    const look = (): void => {
      if ((window as Window & { seen?: typeof seen }).seen !== seen) return;
      seen.looked++;
      if (document.activeElement !== composer) seen.focusLost++;
      if (composer.value.length < length) seen.lettersLost++;
      length = composer.value.length;
      if (!read.isConnected || Math.abs(read.getBoundingClientRect().top - place) > 2) seen.moved++;
      requestAnimationFrame(look);
    };
    look();
  });
}

/** In how many frames since `watch` something was not as it should be. */
async function watched(panel: Panel): Promise<unknown> {
  return await panel.frame.evaluate(() => {
    const kept = window as Window & { seen?: unknown };
    const seen = kept.seen;
    delete kept.seen;
    return seen;
  });
}
