/** Measures the panel in a real VS Code with the packed extension: the limits of the bench in Chromium, and what only VS Code can show. */
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Figures, leastOf, LIMITS, type Measured, medians, report } from "../browser/figures.mjs";
import { conversation } from "../browser/rows.js";
import { patiently } from "../e2e/support/patience.js";
import { daemonCommand } from "../e2e/support/places.js";
import { stage } from "../e2e/support/stage.js";
import { BARE_VIEW, bareExtension } from "./bareView.js";
import type { PanelBench } from "./panelPage.js";

declare const bench: PanelBench;

const MESSAGES = 5_000;
/** The first starts of an extension read it from the disk and compile it; a few later ones tell what it takes. */
const STARTS = 5;
/** How often the panel and the bare view are shown, in turns. */
const ROUNDS = 7;
const CHATS = ["Long chat one", "Long chat two", "Long chat three"];

const bare = bareExtension();
const set = stage("bench", { also: [bare.vsix] });
const results: Record<string, Measured> = {};

async function measure(
  name: string,
  take: (attempt: number) => Promise<Figures>,
  limits: Figures = {},
  attempts?: number,
): Promise<void> {
  hold(name, await leastOf(take, limits, attempts), limits);
}

function hold(name: string, measured: Measured, limits: Figures): void {
  results[name] = measured;
  for (const [what, limit] of Object.entries(limits))
    expect.soft(measured.values[what], `${name}: ${what}`).toBeLessThan(limit);
}

beforeAll(async () => {
  importChats();
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "panelPage.ts")],
    bundle: true,
    format: "iife",
    target: "chrome138",
    write: false,
    logLevel: "error",
  });
  await set.window.page.addInitScript({ content: outputFiles[0]?.text ?? "" });
});
afterAll(() => {
  bare.remove();
  report(results);
});

/** Sessions of 5,000 messages and 3 MB, one for each attempt: a daemon that has one in memory already would be quicker. */
function importChats(): void {
  const { folder, workspace } = set.server;
  const contents = conversation(MESSAGES / 2, 1_200).map((row) =>
    row.kind === "prompt"
      ? { role: "user", parts: [{ text: row.text }] }
      : { role: "model", parts: [{ text: row.kind === "answer" ? row.text : "" }] },
  );
  for (const chat of CHATS) {
    const last = contents.with(-1, { role: "model", parts: [{ text: `The end of ${chat}.` }] });
    const file = join(folder, `${chat}.json`);
    writeFileSync(file, JSON.stringify(last));
    const env = { ...process.env, HOME: join(folder, "home"), COMPANION_DATA_DIR: join(folder, "companion") };
    const { status, stderr } = spawnSync(daemonCommand, ["sessions", "import", file], {
      cwd: workspace,
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`A session could not be imported:\n${stderr}`);
  }
}

test("activation, by VS Code's own measure, loading the code included", async () => {
  const start = async (attempt: number) => {
    if (attempt > 0) await set.window.reload();
    return { ms: await activationTime() };
  };
  await measure("activation", start, LIMITS.activation, STARTS);
});

async function activationTime(): Promise<number> {
  const { window } = set;
  await window.command("Developer: Show Running Extensions");
  const row = window.page
    .locator(".runtime-extensions-editor .monaco-list-row")
    .filter({ hasText: "Gemini Companion" })
    .first();
  const [, time] = await patiently(
    "the activation time is shown",
    async () => /Activation: (\d+)ms/.exec(await row.innerText()) ?? undefined,
    30_000,
  );
  await window.command("View: Close Editor");
  return Number(time);
}

/** What all their windows may take, on a machine however busy, ms. */
const WINDOWS_MS = 400_000;

test("the panel's first picture, beside that of a view with one word", { timeout: WINDOWS_MS }, async () => {
  const show = (command: string, view?: string) => async () => {
    await newWindow();
    await set.window.command(command);
    return (await set.window.panel(view)).evaluate(() => bench.firstPicture());
  };
  const views = { page: show("Gemini: Focus Chat"), bare: show(BARE_VIEW.command, BARE_VIEW.id) };
  await views.bare(); // the browser's first webview waits for VS Code's service worker to be installed
  const shown = await medians(views, ROUNDS);
  const [ours, theirs] = [shown.page.values["firstPaintMs"] ?? NaN, shown.bare.values["firstPaintMs"] ?? NaN];
  const values = { ...shown.page.values, overBareMs: ours - theirs, percentOfBare: (ours / theirs) * 100 };
  results["bare"] = shown.bare;
  hold("page", { ...shown.page, values }, LIMITS.page);
  await openWindow(""); // the project's own, which has the chats
});

let windows = 0;
/** A window that has started: its timers come at their time for a second. On a machine that is never free it is not waited for longer. */
const CALM = { turns: 20, stepMs: 50, lateMs: 10, limitMs: 6_000 };

/** Opens the project under a name that no window had: none of the views is shown again. */
async function newWindow(): Promise<void> {
  const folder = `${set.server.workspace}-${++windows}`;
  symlinkSync(set.server.workspace, folder);
  await openWindow(`?folder=${encodeURIComponent(folder)}`);
}

/** Opens a window in place of the one that is there, and waits until it has started with its extensions. */
async function openWindow(query: string): Promise<void> {
  const { window, server } = set;
  await window.page.goto(server.url + query, { waitUntil: "domcontentloaded" });
  await window.isUp();
  await window.statusItem(BARE_VIEW.isUp).waitFor();
  await window.page.evaluate(calm, CALM);
}

/** Resolves in the page when so many timers in a row came at their time, or when the limit is over. */
async function calm({ turns, stepMs, lateMs, limitMs }: typeof CALM): Promise<void> {
  const giveUpAt = performance.now() + limitMs;
  for (let turn = 0; turn < turns && performance.now() < giveUpAt; turn++) {
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    if (performance.now() - start > stepMs + lateMs) turn = -1;
  }
}

test("messages between host and page", async () => {
  const { frame } = await set.newChat();
  await measure("host", () => frame.evaluate(() => bench.roundTrips(200)));
});

test("a session of 5,000 messages, out of the daemon's store", async () => {
  const { frame } = await set.newChat();
  const open = async (attempt: number) => {
    const chat = CHATS[attempt] ?? "";
    await set.window.command("Gemini: Chats…");
    const entry = frame.getByRole("list", { name: "Chats" }).getByRole("button", { name: new RegExp(`^${chat}`) });
    await entry.waitFor();
    const opened = frame.evaluate((text) => bench.fromClickTo(text), `The end of ${chat}.`);
    await entry.click();
    return { openMs: await opened, nodes: await frame.evaluate(() => bench.nodes()) };
  };
  await measure("session", open, LIMITS.session);
});

test("an answer that streams", async () => {
  const { frame } = await set.newChat();
  await measure(
    "stream",
    (attempt) => watched(frame, () => frame.evaluate((number) => bench.stream(number, 2_000, 60_000), attempt)),
    LIMITS.stream,
  );
});

test("a list of 5,000 messages", async () => {
  const frame = await set.window.panel();
  await measure(
    "list",
    (attempt) =>
      watched(frame, () =>
        frame.evaluate(([number, messages]) => bench.list(number, messages), [attempt, MESSAGES] as const),
      ),
    LIMITS.list,
  );
});

/** What the page's thread was busy with meanwhile. The workbench shares that thread: its part is in the figures. */
async function watched(frame: Frame, work: () => Promise<Figures>): Promise<Figures> {
  const session = await frame.page().context().newCDPSession(frame.page());
  try {
    await session.send("Performance.enable");
    const metrics = async () =>
      new Map((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    const before = await metrics();
    const values = await work();
    const after = await metrics();
    const spent = (name: string) => ((after.get(name) ?? NaN) - (before.get(name) ?? NaN)) * 1000;
    return {
      busyMs: spent("ScriptDuration"),
      layoutMs: spent("LayoutDuration") + spent("RecalcStyleDuration"),
      taskMs: spent("TaskDuration"),
      ...values,
    };
  } finally {
    await session.detach();
  }
}
