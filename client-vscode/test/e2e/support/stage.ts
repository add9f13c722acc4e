/** One VS Code with one window, for all scenes of a file; what a failed scene looked like is kept under `artifacts/`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { launch } from "./browser.js";
import { type AskedRequest, Emulator } from "./emulator.js";
import { Panel } from "./panel.js";
import { artifacts } from "./places.js";
import { type ServerOptions, VsCodeServer } from "./vscodeServer.js";
import { Workbench } from "./workbench.js";

export interface StageOptions extends ServerOptions {
  /** A key and the emulator's address are in the daemon's environment. */
  readonly emulator?: boolean;
}

/** Filled before the first scene of the file. */
export interface Stage {
  server: VsCodeServer;
  browser: Browser;
  window: Workbench;
  /** There if it was asked for. */
  emulator: Emulator;
  /** The key that the daemon was given. */
  readonly key: string;
  /** An empty chat in the panel, with `tokenizer.py` as the active file and the only one, and an emulator that has forgotten everything. */
  newChat(): Promise<Panel>;
  /** Has the emulator answer `answer` to `prompt`, and waits until that is there. */
  ask(panel: Panel, prompt: string, answer: string): Promise<AskedRequest>;
}

const KEY = "emulated-key-of-the-scenes";

/** Sets the stage for a file of scenes, called `name` in `artifacts/`: a scene that fails leaves a screenshot and the logs there. */
export function stage(name: string, options: StageOptions = {}): Stage {
  const set = {
    key: KEY,
    newChat: () => newChat(set),
    ask: (panel, prompt, answer) => ask(set, panel, prompt, answer),
  } as Stage; // the rest comes in beforeAll, which vitest runs before any scene
  const strike: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    let env = options.env;
    if (options.emulator) {
      set.emulator = await Emulator.start();
      strike.push(() => set.emulator.stop());
      env = { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: set.emulator.baseUrl, ...env };
    }
    set.server = await VsCodeServer.start({ ...options, ...(env && { env }) });
    strike.push(() => set.server.stop());
    set.browser = await launch();
    strike.push(() => set.browser.close());
    set.window = await Workbench.open(set.browser, set.server);
  });
  beforeEach(({ onTestFailed }) =>
    onTestFailed(({ task }) => keep(set, join(artifacts, "failed", name, inFileName(task.name)))),
  );
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const step of strike.reverse()) await step().catch((error: unknown) => failures.push(error));
    expect(failures).toEqual([]);
    expect(set.window.outside, "requests that left the machine").toEqual([]);
  });
  return set;
}

async function newChat({ window, emulator }: Stage): Promise<Panel> {
  await window.openFile("tokenizer.py");
  await window.command("Gemini: New Chat");
  const panel = new Panel(await window.panel());
  await panel.composer.waitFor();
  await panel.answers.first().waitFor({ state: "detached" });
  await panel.composer.fill("");
  await panel.chips.getByText("tokenizer.py").waitFor();
  await (emulator as Emulator | undefined)?.reset(); // there only if the stage asked for one
  return panel;
}

async function ask({ emulator }: Stage, panel: Panel, prompt: string, answer: string): Promise<AskedRequest> {
  await emulator.script([{ pieces: [answer] }]);
  await panel.ask(prompt, answer);
  const last = (await emulator.requests("streamGenerateContent")).at(-1);
  if (last === undefined) throw new Error("The emulator was not asked.");
  return last;
}

async function keep(set: Stage, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  set.server.keepLogs(folder);
  const windows = set.browser.contexts().flatMap((context) => context.pages());
  for (const [index, page] of windows.entries())
    await page.screenshot({ path: join(folder, `window-${index + 1}.png`) });
}

/** Keeps a picture of the window as `artifacts/<folder>/<name>.png`. */
export async function keepPicture({ window }: Pick<Stage, "window">, folder: string, name: string): Promise<void> {
  mkdirSync(join(artifacts, folder), { recursive: true });
  await window.page.screenshot({ path: join(artifacts, folder, `${name}.png`) });
}

/** A name as a file may have it. */
export function inFileName(name: string): string {
  return name.replaceAll(/[^\w-]+/g, "-").slice(0, 80);
}
