/** What a compression keeps of a conversation that people had, in the real VS Code: listed, not wanted any more, gone after the next one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Panel } from "./support/panel.js";
import { patiently } from "./support/patience.js";
import { repository } from "./support/places.js";
import { snapshot, summarised } from "./support/snapshots.js";
import { keepPicture, stage } from "./support/stage.js";

const ASIDE = "Last October half of my people ran through Frankfurt with a cake.";
const PROMISE = "Our days start at nine, also the fun ones.";
const RULE = "Never book anything without asking me.";
const SNAPSHOT = snapshot({ overall_goal: "An offsite for fourteen people is planned" });

interface Natural {
  readonly history: readonly { readonly role: string; readonly parts: readonly { readonly text: string }[] }[];
}

const set = stage("kept", { emulator: true, settings: { "geminiCompanion.compression.strategy": "record" } });

test("what a person said is listed with its prompt, need not be kept, and is gone after the next compression", async () => {
  const panel = await set.newChat();
  const { window, emulator } = set;
  const file = join(repository, "tests/data/natural/travel-team-offsite.json");
  const { history } = JSON.parse(readFileSync(file, "utf8")) as Natural; // ours
  const texts = history.map(({ parts }) => parts.map(({ text }) => text).join("\n"));
  await emulator.script(
    texts.flatMap((text, index) =>
      history[index]?.role === "model" ? [{ pieces: [`Answer ${index}. ${text}`] }] : [],
    ),
  );
  for (const [index, text] of texts.entries())
    if (history[index]?.role === "user" && index + 1 < texts.length)
      await panel.ask(index === 0 ? `${RULE} ${text}` : text, `Answer ${index + 1}.`);

  await emulator.script(summarised(SNAPSHOT), "snapshot");
  await window.command("Gemini: Compress Chat");
  const divider = panel.divider(/Chat compressed/);
  await divider.getByText(/[\d,]+ → [\d,]+ tokens, \d+% less/).waitFor();
  await panel.isIdle();
  await window.panelWidth(480);
  const what = divider.getByRole("button", { name: "What is kept" });
  await what.focus();
  await keepPicture(set, "kept", "1-divider");
  expect((await set.ask(panel, "Where were we?", "At the offsite.")).text).toContain(ASIDE);

  // From the divider, with the keyboard alone.
  await what.focus();
  await window.page.keyboard.press("Enter");
  const list = panel.frame.getByRole("dialog", { name: "What is kept" });
  await list.getByText(/\d+ of your \d+ sentences stand word for word/).waitFor();
  await list.getByText(PROMISE).waitFor();
  await keepPicture(set, "kept", "2-list");
  await list.getByRole("searchbox", { name: "Filter the sentences" }).fill("frankfurt with");
  const entry = list.getByRole("listitem").filter({ hasText: ASIDE });
  await patiently(
    "only the one sentence is listed",
    async () => (await list.getByRole("listitem").count()) === 1 || undefined,
  );
  await list.getByRole("searchbox").focus();
  await reaches(panel, /^Don’t keep: Oh no no no\. Last October/);
  await window.page.keyboard.press("Enter");
  await entry.getByText("goes with the next compression").waitFor();
  expect(await focused(panel), "the button that takes it back has the focus").toMatch(
    /^Keep again: Oh no no no\. Last October/,
  );
  await list.getByText("Your changes count from the next compression on.").waitFor();
  await keepPicture(set, "kept", "3-not-wanted");

  // A rule in force has its own list.
  await list.getByRole("searchbox").fill(RULE);
  await list.getByText("a rule in force").waitFor();
  await list.getByRole("button", { name: /^Show rules: / }).click();
  const rules = panel.frame.getByRole("dialog", { name: "Rules" });
  await rules.getByRole("list", { name: "Rules in force" }).getByText(RULE).waitFor();
  await keepPicture(set, "kept", "4-rules");
  await window.page.keyboard.press("Escape");

  // From the palette, in the other theme and narrow.
  await window.theme("light");
  await window.panelWidth(300);
  await window.command("Gemini: Show What a Compression Keeps");
  await list.getByText("Your changes count from the next compression on.").waitFor();
  await keepPicture(set, "kept", "5-narrow-and-light");
  await emulator.script(summarised(SNAPSHOT), "snapshot");
  await list.getByRole("button", { name: "Compress Again" }).click();
  await list.waitFor({ state: "hidden" });
  await patiently("it is compressed again", async () => (await divider.count()) === 2 || undefined);
  await panel.isIdle();
  const { text } = await set.ask(panel, "And now?", "It goes on.");
  expect(text).not.toContain(ASIDE);
  expect(text).toContain(PROMISE);
  expect(text).toContain(RULE);
});

const focused = (panel: Panel): Promise<string> =>
  panel.frame.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");

/** Goes on with Tab until something of this name has the focus. */
async function reaches(panel: Panel, name: RegExp): Promise<void> {
  await patiently(`Tab reaches ${String(name)}`, async () => {
    await set.window.page.keyboard.press("Tab");
    return name.test(await focused(panel)) || undefined;
  });
}
