// The document of the panel's page, under its own policy: `node test/browser/document.mjs [words of a name]`.
/* global document */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const client = join(import.meta.dirname, "../..");
const folder = await mkdtemp(join(tmpdir(), "panel-document-"));
const common = { bundle: true, minify: true, outdir: folder, logLevel: "error", format: "esm" };
await build({
  ...common,
  entryPoints: { panel: join(client, "webview/main.tsx"), styles: join(client, "webview/styles/panel.css") },
  entryNames: "[name]",
  splitting: true,
  platform: "browser",
  target: "chrome138",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const made = {
  document: join(client, "src/chat/pure/pageDocument.ts"),
  first: join(client, "webview/styles/first.css"),
};
await build({ ...common, entryPoints: made, platform: "node", outExtension: { ".js": ".mjs" } });
const { pageDocument, PATIENCE_MS } = await import(pathToFileURL(join(folder, "document.mjs")).href);
const firstStyles = (await readFile(join(folder, "first.css"), "utf8")).trim();
const TYPES = { ".js": "text/javascript", ".css": "text/css" };

/** Opens the document. `held` are files whose answer waits until they are let go, `missing` those that are not there. */
async function open({ held = [], missing = [] } = {}) {
  let self = "";
  let letGo = () => undefined;
  const gone = new Promise((resolve) => (letGo = resolve));
  const server = createServer(async (request, response) => {
    const name = request.url.slice(1);
    if (held.includes(name)) await gone;
    if (name === "") {
      const address = (file) => `${self}/${file}`;
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      const parts = {
        script: address("panel.js"),
        style: address("styles.css"),
        modules: [],
        source: self,
        firstStyles,
      };
      const words = { starting: "Starting…", failed: "It could not be loaded.", reload: "Reload Window" };
      response.end(pageDocument({ ...parts, ...words, nonce: "bm9uY2U", language: "en", view: "v", askedAt: 1 }));
      return;
    }
    const content = missing.includes(name) ? undefined : await readFile(join(folder, name)).catch(() => undefined);
    response.writeHead(content === undefined ? 404 : 200, { "content-type": TYPES[extname(name)] ?? "text/plain" });
    response.end(content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  self = `http://127.0.0.1:${server.address().port}`;
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
  const page = await browser.newPage({ viewport: { width: 300, height: 500 } });
  await page.clock.install();
  await page.addInitScript(() => {
    const sent = [];
    const refused = [];
    const api = { postMessage: (message) => sent.push(message), getState: () => undefined, setState: () => undefined };
    Object.assign(window, { sent, refused, acquireVsCodeApi: () => api });
    window.addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective));
  });
  await page.goto(self, { waitUntil: "load" });
  const close = async () => {
    letGo();
    await browser.close();
    server.closeAllConnections();
    server.close();
  };
  return { page, letGo, close };
}

const isReady = (page) => page.waitForFunction(() => window.sent.some(({ type }) => type === "ready"));
const refused = (page) => page.evaluate(() => window.refused);
const alert = (page) => page.getByRole("alert").filter({ hasText: "It could not be loaded." });

const scenes = {
  "runs the panel, and its policy refuses nothing of it": async () => {
    const { page, close } = await open();
    await isReady(page);
    assert.deepEqual(await refused(page), []);
    await page.clock.fastForward(PATIENCE_MS + 1);
    assert.equal(await alert(page).count(), 0);
    return close;
  },

  "lets no text become code, and loads nothing from elsewhere": async () => {
    const { page, close } = await open();
    await isReady(page);
    const outcome = await page.evaluate(async () => {
      const refusal = (work) => {
        try {
          work();
          return "";
        } catch (error) {
          return error.name;
        }
      };
      const image = document.createElement("img");
      image.src = "http://127.0.0.1:9/elsewhere.png";
      await new Promise((resolve) => (image.onerror = resolve));
      return [
        refusal(() => new Function("1")),
        refusal(() => document.createRange().createContextualFragment("<b>x</b>")),
      ];
    });
    assert.deepEqual(outcome, ["EvalError", "TypeError"]);
    assert.ok((await refused(page)).includes("img-src"));
    return close;
  },

  "begins without its styles, if they are not there": async () => {
    const { page, close } = await open({ missing: ["styles.css"] });
    await isReady(page);
    return close;
  },

  "says at once that its script is not there, and reloads when asked": async () => {
    const { page, close } = await open({ missing: ["panel.js"] });
    await alert(page).waitFor();
    if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT });
    await page.getByRole("button", { name: "Reload Window" }).click();
    const action = { id: "reloadWindow", label: "Reload Window" };
    assert.deepEqual(await page.evaluate(() => window.sent), [{ type: "action", action }]);
    assert.deepEqual(await refused(page), []);
    return close;
  },

  "says after a while that its script does not come, and begins when it comes all the same": async () => {
    const { page, letGo, close } = await open({ held: ["panel.js"] });
    assert.equal(await alert(page).count(), 0);
    await page.clock.fastForward(PATIENCE_MS + 1);
    await alert(page).waitFor();
    letGo();
    await isReady(page);
    assert.equal(await alert(page).count(), 0);
    return close;
  },
};

const wanted = process.argv.slice(2).join(" ");
for (const [name, scene] of Object.entries(scenes)) {
  if (!name.includes(wanted)) continue;
  try {
    const close = await scene();
    await close();
    console.log(`ok    ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAIL  ${name}\n      ${error.message}`);
  }
}
await rm(folder, { recursive: true, force: true });
process.exit();
