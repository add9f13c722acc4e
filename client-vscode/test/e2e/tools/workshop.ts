/** A workspace with a fault and a test that finds it, and the words for what tools show in the panel. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import type { ScriptedReply } from "../support/emulator.js";
import type { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import type { Stage } from "../support/stage.js";
import { makeProject } from "../support/project.js";

/** Fails until the tokenizer gives the last word too. */
const TEST = `import sys
import unittest

sys.path.insert(0, "src")
from tokenizer import tokens


class Tokens(unittest.TestCase):
    def test_the_last_word_counts(self):
        self.assertEqual(list(tokens("one two")), ["one", "two"])
`;
const MAKEFILE = "test:\n\tpython3 -B -m unittest discover -s tests\n";
/** No interpreter: of those a rule is never offered. */
export const RUN_TESTS = "make test";
/** The end of the tokenizer as it is, and as it should be. */
export const LAST = "            buffer.append(character)\n";
export const MENDED = `${LAST}    if buffer:\n        yield "".join(buffer)\n`;

/** A piece that calls a tool. */
export function calls(call: string, args: Readonly<Record<string, unknown>>) {
  return { call, args };
}

/** An edit that mends the tokenizer. */
export const MENDS = calls("replace", { file_path: "src/tokenizer.py", old_string: LAST, new_string: MENDED });

/** A chat in a workspace that is as it was made, whose answers are these. */
export async function chatWith(set: Stage, replies: readonly ScriptedReply[]): Promise<Panel> {
  makeProject(set.server.workspace);
  write(set, "tests/test_words.py", TEST);
  write(set, "Makefile", MAKEFILE);
  const panel = await set.newChat();
  await set.emulator.script(replies);
  return panel;
}

export function write(set: Stage, path: string, text: string): void {
  const file = join(set.server.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export function read(set: Stage, path: string): string {
  return readFileSync(join(set.server.workspace, path), "utf8");
}

export function remove(set: Stage, path: string): void {
  rmSync(join(set.server.workspace, path), { force: true });
}

/** The file has this text, sooner or later. */
export async function hasText(set: Stage, path: string, text: string): Promise<void> {
  await patiently(`${path} has ${text}`, () => read(set, path).includes(text) || undefined, 20_000);
}

/** What is asked about a call. */
export function question(panel: Panel, title: string | RegExp): Locator {
  const name =
    typeof title === "string" ? `Gemini asks: ${title}` : new RegExp(`^Gemini asks: ${title.source}`, title.flags);
  return panel.frame.getByRole("group", { name });
}

/**
 * Presses a button of a question, until `comes` shows, or the question is gone: it is deaf in its first moment, and what is pressed then
 * is pressed again.
 */
export async function press(asked: Locator, button: string, comes?: Locator): Promise<void> {
  const one = asked.getByRole("button", { name: button, exact: true });
  await one.waitFor();
  const isDone = async (): Promise<boolean> =>
    comes === undefined ? !(await one.isVisible()) : comes.first().isVisible();
  await patiently(`"${button}" is taken`, async () => {
    await one.click({ timeout: 2_000 }).catch(() => undefined);
    return patiently("it is seen", async () => (await isDone()) || undefined, 3_000);
  });
}

/** The line of a call. */
export function row(panel: Panel, title: string | RegExp): Locator {
  return panel.answers.locator(".tool").filter({ has: panel.frame.locator("summary", { hasText: title }) });
}

/** Waits for the end of the turn, with this as its last words. */
export async function ends(panel: Panel, words: string): Promise<void> {
  await panel.answers.getByText(words).waitFor();
  await panel.isIdle();
}

/** What the calls of the last answer with calls came to, as the model is told. */
export async function told(set: Stage): Promise<string> {
  const { responses } = await patiently("the model is told what came of the calls", async () =>
    (await set.emulator.requests("streamGenerateContent")).findLast(({ responses: all }) => all.length > 0),
  );
  return JSON.stringify(responses);
}

/** Chooses what tools may do unasked. */
export async function inMode(panel: Panel, mode: "Ask first" | "Plan" | "Accept edits"): Promise<void> {
  await panel.button(/^Mode: /).click();
  await panel.frame.getByRole("menu", { name: "Mode" }).getByRole("menuitemradio", { name: mode }).click();
  await panel.button(`Mode: ${mode}`).waitFor();
}

/** A line is in a file so often. */
export function expectLines(set: Stage, path: string, count: number): void {
  expect(read(set, path).trimEnd().split("\n").length, path).toBe(count);
}
