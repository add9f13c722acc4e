// Builds everything that the .vsix carries into out/: node esbuild.mjs [--watch] [--dev]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build, context } from "esbuild";

const dev = process.argv.includes("--dev");
const watch = process.argv.includes("--watch");

/** Schemas have no effect but their value. esbuild does not see that over a module's edge, and would carry those that a bundle does not use. */
const pureSchemas = {
  name: "pure-schemas",
  setup(build) {
    build.onLoad({ filter: /[\\/](?:panel[\\/]\w+|protocol\.schemas\.gen)\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: source.replace(/\bv\.\w+\(/g, "/* @__PURE__ */ $&"), loader: "ts" };
    });
  },
};

const common = {
  bundle: true,
  minify: !dev,
  sourcemap: dev ? "inline" : false,
  legalComments: "none",
  metafile: true,
  plugins: [pureSchemas],
  logLevel: "warning",
};

const host = {
  ...common,
  platform: "node",
  target: "node20",
  format: "cjs",
  outdir: "out",
  outExtension: { ".js": ".cjs" },
  external: ["vscode", "./languageClient.cjs"],
  // The language client is a file of its own: it is loaded when the daemon starts, not when the extension is activated.
  entryPoints: { extension: "src/extension.ts", languageClient: "src/daemon/languageClient.ts" },
};

const page = {
  ...common,
  platform: "browser",
  target: "chrome138",
  format: "esm",
  splitting: true,
  outdir: "out/panel",
  chunkNames: "chunk-[hash]",
  jsx: "automatic",
  jsxImportSource: "preact",
  entryPoints: { panel: "webview/main.tsx", styles: "webview/styles/panel.css" },
};

/** Names of all modules that the page loads as it starts, but its entry: those that this imports, and those that it asks for by itself. */
function modulesOfPage({ outputs }) {
  const found = new Set();
  const add = (file, kinds) => {
    for (const { path, kind, external } of outputs[file].imports) {
      if (external || found.has(path) || !kinds.includes(kind)) continue;
      found.add(path);
      add(path, ["import-statement"]);
    }
  };
  add("out/panel/panel.js", ["import-statement", "dynamic-import"]);
  return [...found].map((path) => basename(path));
}

/** The styles of the document's first picture, which stand in it. */
async function firstStyles() {
  const { target, logLevel } = page;
  const first = {
    entryPoints: ["webview/styles/first.css"],
    bundle: true,
    minify: true,
    write: false,
    target,
    logLevel,
  };
  const { outputFiles } = await build(first);
  return outputFiles[0].text.trim();
}

await mkdir("out/panel", { recursive: true });
async function make(name, options) {
  const made = await context(options);
  const { metafile } = await made.rebuild();
  await writeFile(`out/${name}.meta.json`, JSON.stringify(metafile));
  if (watch) await made.watch();
  else await made.dispose();
  return metafile;
}

const modules = modulesOfPage(await make("page", page));
await make("host", {
  ...host,
  define: { PAGE_MODULES: JSON.stringify(modules), FIRST_STYLES: JSON.stringify(await firstStyles()) },
});
