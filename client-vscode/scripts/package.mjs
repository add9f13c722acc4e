// Makes the .vsix: node scripts/package.mjs FOLDER
// FOLDER has the daemon's wheel and gets the .vsix. Use `make package`: it builds the wheel first.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const say = (line) => process.stdout.write(`${line}\n`);
const MAX_VSIX = 3_000_000;
const MAX_FIRST_CHUNK = 80_000; // bytes, gzip: what the panel's page loads before it shows anything
const EXPECTED = [
  /^package\.json$/,
  /^package\.nls(\.[\w-]+)?\.json$/,
  /^README\.md$/,
  /^CHANGELOG\.md$/,
  /^LICENSE$/,
  /^THIRD_PARTY_NOTICES\.md$/,
  /^l10n\/[\w.-]+\.json$/,
  /^media\/[\w./-]+\.(svg|png|md)$/,
  /^out\/(extension|languageClient)\.cjs$/,
  /^out\/panel\/[\w.-]+\.(js|css|svg)$/,
  /^server\/[\w.-]+\.whl$/,
  /^server\/constraints\.txt$/,
];
const REQUIRED = [
  "package.json",
  "LICENSE",
  "THIRD_PARTY_NOTICES.md",
  "out/extension.cjs",
  "out/languageClient.cjs",
  "out/panel/panel.js",
  "out/panel/styles.css",
  "server/constraints.txt",
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(root);
const dist = resolve(process.argv[2] ?? join(repository, "dist"));
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(" ")} failed:\n${error?.message ?? stdout + stderr}`);
  return stdout;
}

/** What the daemon is made from, on a machine that does not have it: its wheel and the versions that were tested. */
function bringDaemon() {
  const wheel = `gemini_companion-${version}-py3-none-any.whl`;
  if (!existsSync(join(dist, wheel)))
    throw new Error(
      `${wheel} is not in ${dist}: run make package. (The daemon and the extension have the same version.)`,
    );
  rmSync(join(root, "server"), { recursive: true, force: true });
  mkdirSync(join(root, "server"));
  copyFileSync(join(dist, wheel), join(root, "server", wheel));
  copyFileSync(join(repository, "constraints.txt"), join(root, "server", "constraints.txt"));
}

/** The entry of the page with everything that it imports statically, in bytes of gzip. */
function firstChunk() {
  const { outputs } = JSON.parse(readFileSync(join(root, "out", "page.meta.json"), "utf8"));
  const files = new Set();
  const add = (file) => {
    if (files.has(file)) return;
    files.add(file);
    for (const { path, kind, external } of outputs[file].imports)
      if (kind === "import-statement" && !external) add(path);
  };
  add("out/panel/panel.js");
  return [...files].reduce((bytes, file) => bytes + gzipSync(readFileSync(join(root, file))).length, 0);
}

function checkContents(vsce) {
  const files = run(process.execPath, [vsce, "ls", "--no-dependencies"]).split("\n").filter(Boolean);
  const surprising = files.filter((file) => !EXPECTED.some((pattern) => pattern.test(file)));
  if (surprising.length) throw new Error(`The .vsix would carry what nobody expects there: ${surprising.join(", ")}`);
  const missing = REQUIRED.filter((file) => !files.includes(file));
  if (missing.length) throw new Error(`The .vsix would lack ${missing.join(", ")}`);
}

bringDaemon();
copyFileSync(join(repository, "LICENSE"), join(root, "LICENSE"));
rmSync(join(root, "out"), { recursive: true, force: true });
run(process.execPath, ["esbuild.mjs"]);
run(process.execPath, ["scripts/notices.mjs", "--check"]);
const vsce = join(root, "node_modules/@vscode/vsce/vsce");
checkContents(vsce);
const vsix = join(dist, `${name}-${version}.vsix`);
const listed = run(process.execPath, [
  vsce,
  "package",
  "--no-dependencies",
  "--allow-missing-repository",
  "--no-rewrite-relative-links",
  "--out",
  vsix,
]);
const size = statSync(vsix).size;
const first = firstChunk();
say(
  `${listed
    .split("\n")
    .filter((line) => /[├└│]/.test(line))
    .join("\n")}`,
);
say(`${vsix}: ${(size / 1e6).toFixed(2)} MB; first chunk of the page ${(first / 1e3).toFixed(1)} kB gzip`);
if (size > MAX_VSIX) throw new Error(`The .vsix is larger than ${MAX_VSIX / 1e6} MB.`);
if (first > MAX_FIRST_CHUNK) throw new Error(`The page's first chunk is larger than ${MAX_FIRST_CHUNK / 1e3} kB gzip.`);
