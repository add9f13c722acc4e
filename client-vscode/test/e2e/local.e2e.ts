/** A long chat with a weak model on this machine: what the panel says of it is true, and no rule is lost. */
import { beforeAll, expect, test } from "vitest";
import { LocalModel, OWN_MODULES, RECORDED_DAEMON, type LocalRequest, type Writer } from "./support/localModel.js";
import type { Panel } from "./support/panel.js";
import { patiently } from "./support/patience.js";
import { keepPicture, stage } from "./support/stage.js";

const NEVER = "Never touch legacy/ without asking me.";
const ALWAYS = "Always run the tests before you commit.";
const PINNED = "The test database listens on port 5433, and its name is tally_spare.";

const FOLDED = { row: /Chat compressed/, says: /^[\d,]+ → [\d,]+ tokens, \d+% less/ };

/** What comes of a snapshot, as its row says it, by what the model writes. What is no snapshot, the daemon writes. */
const OUTCOMES: Readonly<Record<Writer, { readonly row: RegExp; readonly says: RegExp }>> = {
  noise: { row: FOLDED.row, says: /^The model wrote no usable snapshot, so the built-in summariser wrote it\.$/ },
  terse: FOLDED,
  wordy: { row: /Not compressed/, says: /^Compressing is not worth it for a history this small \([\d,]+ tokens\)\./ },
  telling: FOLDED,
};

/** After which turn, what is refused first, and what the snapshot is taken of. */
const COMPRESSIONS: readonly { readonly after: number; readonly refused: readonly Writer[]; readonly taken: Writer }[] =
  [
    { after: 10, refused: ["wordy"], taken: "noise" },
    { after: 20, refused: [], taken: "terse" },
    { after: 30, refused: [], taken: "telling" },
  ];

const set = stage("local", {
  settings: { "geminiCompanion.server.command": RECORDED_DAEMON },
  env: { PYTHONPATH: OWN_MODULES },
});
let model: LocalModel;
beforeAll(() => {
  model = new LocalModel(set.server.folder);
});

test("in thirty turns and three compressions every request has every rule, and each row says what came of it", async () => {
  const panel = await set.newChat();
  await panel.button(/local, on this machine/).waitFor();
  await ask(panel, 1, NEVER);
  await panel.prompts.last().getByText("Rule kept:").waitFor();
  await ask(panel, 2, PINNED);
  await panel.answers.last().getByRole("button", { name: "Pin", exact: true }).click();
  await panel.answers.last().getByRole("button", { name: "Unpin" }).waitFor();
  await ask(panel, 3, ALWAYS);
  await panel.button("3 rules").waitFor();
  await keepPicture(set, "local", "rules");

  for (let turn = 4; turn <= 30; turn++) {
    await ask(panel, turn);
    const compression = COMPRESSIONS.find(({ after }) => after === turn);
    if (compression === undefined) continue;
    const { refused, taken } = compression;
    for (const writer of refused) await compress(panel, writer, turn);
    model.becomes("noise");
    const whole = await ask(panel, turn + 0.2);
    await compress(panel, taken, turn);
    model.becomes("noise");
    const { text } = await ask(panel, turn + 0.4);
    expect(text.length, "less is sent").toBeLessThan(whole.text.length);
    expect(text, "the snapshot is sent").toContain("<overall_goal>");
    expect(text, "what was asked for is quoted").toContain("Step 4:");
    expect(text, "the newest stays").toContain(`Step ${turn}.2:`);
  }

  await set.window.command("Gemini: Rules…");
  const inForce = panel.frame.getByRole("dialog", { name: "Rules" }).getByRole("list", { name: "Rules in force" });
  for (const rule of [NEVER, ALWAYS, PINNED]) await inForce.getByText(rule).waitFor();
  await keepPicture(set, "local", "rules-after");
  const chats = model.asked("main");
  expect(chats.length).toBe(36);
  for (const [rule, from] of [
    [NEVER, 1],
    [PINNED, 2],
    [ALWAYS, 3],
  ] as const) {
    const without = chats.filter(({ text }, index) => index >= from - 1 && !text.includes(rule));
    expect(
      without.map(({ prompt }) => prompt.slice(-200)),
      rule,
    ).toEqual([]);
  }
});

/** Sends a prompt that names files of its own, and waits for whatever the model writes. Returns the request. */
async function ask(panel: Panel, step: number, words = ""): Promise<LocalRequest> {
  const files = ["part", "table", "case"].map((name) => `src/${name}_${step}.py`).join(", ");
  const name = `Step ${step}:`;
  await panel.send(`${name} look at ${files}. ${words} ${"The rest is there to be summarised. ".repeat(12)}`);
  const request = await patiently(`the request of step ${step}`, () =>
    model.asked("main").find(({ prompt }) => prompt.includes(name)),
  );
  await panel.isIdle();
  return request;
}

/** Compresses with a model that writes so, and waits for the row that says what came of it. */
async function compress(panel: Panel, writer: Writer, turn: number): Promise<void> {
  model.becomes(writer);
  const rows = panel.divider(/ompress/);
  await set.window.command("Gemini: Compress Chat");
  const { row, says } = OUTCOMES[writer];
  const newest = panel.divider(row).last();
  await newest.getByText(says).waitFor();
  await panel.isIdle();
  expect(await rows.last().innerText(), "it is the newest row").toMatch(row);
  await keepPicture(set, "local", `${turn}-${writer}`);
}
