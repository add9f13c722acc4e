// Serves a page of the tests under the panel's own policy, and opens it in Chromium.
import { createServer } from "node:http";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const NONCE = "dGhlIG5vbmNlIG9mIHRoZSB0ZXN0cw";
/** The policy of the real page; the address of this server stands for the extension's own files. */
const policy = (self) =>
  `default-src 'none'; script-src 'nonce-${NONCE}'; style-src ${self}; font-src ${self}; img-src ${self} data:; ` +
  "require-trusted-types-for 'script'; trusted-types dompurify";
const TYPES = { ".js": "text/javascript", ".css": "text/css" };
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Builds `entry` (TypeScript beside this file) with `styles`, and opens it. `close` ends everything that was started. */
export async function openPage(entry, { width = 400, height = 800, styles = "transcript/transcript.css" } = {}) {
  const outdir = await mkdtemp(join(tmpdir(), "transcript-page-"));
  const folder = import.meta.dirname;
  await build({
    entryPoints: { page: join(folder, entry), styles: join(folder, "../../webview", styles) },
    bundle: true,
    minify: true,
    format: "esm",
    splitting: true,
    platform: "browser",
    target: "chrome138",
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir,
    logLevel: "error",
  });
  const server = createServer((request, response) => void serve(request, response, outdir));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const self = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ARGUMENTS,
    ignoreDefaultArgs: ["--hide-scrollbars"], // people have them, and drag them
  });
  const page = await browser.newPage({ viewport: { width, height } });
  const seen = { requests: [], errors: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  await page.goto(self);
  await page.waitForFunction(() => "tests" in window);
  const close = async () => {
    await browser.close();
    server.close();
    await rm(outdir, { recursive: true, force: true });
  };
  return { page, self, seen, close };
}

async function serve(request, response, outdir) {
  const self = `http://${request.headers.host}`;
  if (request.url === "/") {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy(self) });
    response.end(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Transcript</title><link rel="stylesheet" href="/styles.css">` +
        `<link rel="stylesheet" href="/page.css"></head><body><main id="root"></main><script type="module" nonce="${NONCE}" src="/page.js"></script></body></html>`,
    );
    return;
  }
  if (request.url === "/page.css") {
    response.writeHead(200, { "content-type": "text/css" });
    response.end(
      "html,body{height:100%;margin:0}*{box-sizing:border-box}body{font:13px/1.4 sans-serif}#root{position:relative;height:100%;overflow:hidden}",
    );
    return;
  }
  const name = request.url.slice(1);
  try {
    if (!/^[\w.-]+$/.test(name)) throw new Error("no such file");
    const content = await readFile(join(outdir, name));
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
    response.end(content);
  } catch {
    response.writeHead(404);
    response.end();
  }
}
