/** Runs `test/host` inside the real extension host, against a daemon that it plays itself. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Outcome } from "../host/checks.js";
import { launch } from "./support/browser.js";
import { patiently } from "./support/patience.js";
import { artifacts, client, tools } from "./support/places.js";
import { VsCodeServer } from "./support/vscodeServer.js";
import { Workbench } from "./support/workbench.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "companion-host-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("inside the extension host", { timeout: 180_000 }, async () => {
  const module = join(folder, "index.cjs");
  await build({
    entryPoints: [join(client, "test/host/index.ts")],
    outfile: module,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    external: ["vscode"],
    logLevel: "error",
  });
  const socket = join(folder, "daemon.sock");
  const outcomes = join(folder, "outcomes.json");
  const server = await VsCodeServer.start({
    install: false,
    testDriver: true,
    settings: { "geminiCompanion.server.command": [tools().node, join(client, "test/host/pipe.mjs"), socket] },
    env: { COMPANION_HOST_SOCKET: socket, COMPANION_HOST_OUTCOMES: outcomes },
  });
  const browser = await launch();
  try {
    const remote = (path: string) => `vscode-remote://${new URL(server.url).host}${path}`;
    const payload = JSON.stringify([
      ["extensionDevelopmentPath", remote(client)],
      ["extensionTestsPath", remote(module)],
    ]);
    await Workbench.open(
      browser,
      server,
      `?folder=${encodeURIComponent(server.workspace)}&payload=${encodeURIComponent(payload)}`,
    );
    await patiently("the checks are done", () => existsSync(outcomes) || undefined, 120_000);
    const found = JSON.parse(readFileSync(outcomes, "utf8")) as Outcome[]; // our own module's
    expect(found.filter(({ error }) => error !== undefined).map(({ name, error }) => `${name}: ${error}`)).toEqual([]);
    expect(found.length).toBeGreaterThan(10);
  } catch (error) {
    const kept = join(artifacts, "failed", "host");
    mkdirSync(kept, { recursive: true });
    server.keepLogs(kept);
    for (const page of browser.contexts().flatMap((context) => context.pages()))
      await page.screenshot({ path: join(kept, "window.png") });
    throw error;
  } finally {
    await browser.close();
    await server.stop();
  }
});
