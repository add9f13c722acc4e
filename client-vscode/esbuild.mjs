// Builds everything that the .vsix carries into out/: node esbuild.mjs [--watch] [--dev]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { context } from "esbuild";

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

await mkdir("out/panel", { recursive: true });
for (const [name, options] of Object.entries({ host, page })) {
  const build = await context(options);
  const result = await build.rebuild();
  await writeFile(`out/${name}.meta.json`, JSON.stringify(result.metafile));
  if (watch) await build.watch();
  else await build.dispose();
}
