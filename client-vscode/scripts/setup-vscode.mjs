// Brings a real VS Code (code-server) and a Chromium that drives it: node scripts/setup-vscode.mjs
//
// Both land outside the repository, in COMPANION_E2E_CACHE or the user's cache folder, once per version. Package managers are the only
// source, and no install script of a package is run but the compilation of VS Code's logger: without it its log files stay empty.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const say = (line) => process.stdout.write(`${line}\n`);
const CODE_SERVER = "4.139.1"; // VS Code 1.139.1
const NODE = "24.9.0"; // what that version of VS Code is built for
const NPM = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];

/** Where everything is kept; `tools.json` in it says what the tests use. */
const cacheFolder =
  process.env.COMPANION_E2E_CACHE ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "gemini-companion-e2e");

/** What the person at the keyboard has to mend; told without a stack. */
class Unfit extends Error {}

function fail(message) {
  throw new Unfit(message);
}

/** Runs a command quietly; shows what it said if it fails. */
function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    ...options,
  });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) fail(`${command} ${args.join(" ")} failed with ${status}:\n${(stdout + stderr).slice(-4000)}`);
}

function codeServer() {
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    fail(
      `The end-to-end tests need Linux on x64 or arm64; this is ${process.platform} on ${process.arch}. Run them in a container.`,
    );
  }
  const nodePackage = `node-linux-${process.arch}`;
  const folder = join(cacheFolder, `code-server-${CODE_SERVER}-node-${NODE}-${process.arch}`);
  const tools = (root) => ({
    node: join(root, "node_modules", nodePackage, "bin", "node"),
    codeServer: join(root, "node_modules", "code-server", "out", "node", "entry.js"),
  });
  if (existsSync(folder)) return tools(folder);

  say(`Getting VS Code (code-server ${CODE_SERVER}; once, a minute or so)`);
  const unfinished = `${folder}.${process.pid}`; // becomes `folder` when it is whole, so that a folder with that name always is
  const vscode = join(unfinished, "node_modules", "code-server", "lib", "vscode");
  mkdirSync(unfinished, { recursive: true });
  try {
    writeFileSync(join(unfinished, "package.json"), '{ "private": true }\n');
    run("npm", [...NPM, `${nodePackage}@${NODE}`, `code-server@${CODE_SERVER}`], { cwd: unfinished });
    run("npm", [...NPM, "--omit=dev"], { cwd: vscode }); // its own lock file is out of step: `npm ci` refuses it
    const node = join(unfinished, "node_modules", nodePackage);
    const compiling = { ...process.env, PATH: `${join(node, "bin")}:${process.env.PATH}`, npm_config_nodedir: node };
    run("npm", ["rebuild", "--foreground-scripts", "@vscode/spdlog"], { cwd: vscode, env: compiling });
    if (!existsSync(join(vscode, "node_modules/@vscode/spdlog/build/Release/spdlog.node")))
      fail("VS Code's logger was not compiled.");
    try {
      renameSync(unfinished, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error; // else another run was faster
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return tools(folder);
}

function chromium() {
  const find = () =>
    [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
      (path) => path && existsSync(path),
    );
  if (!find()) {
    const packages = ["chromium", "fonts-dejavu-core"];
    const apt = spawnSync("apt-get", ["--version"]);
    if (apt.error || process.getuid?.() !== 0) {
      fail(`Chromium is missing: apt-get install ${packages.join(" ")} (as root), or set CHROMIUM to the path of one.`);
    }
    say(`Getting ${packages.join(", ")}`);
    run("apt-get", ["update", "-qq"]);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], { env });
  }
  return find() ?? fail("Chromium was installed, but not under a path that is known here: set CHROMIUM.");
}

try {
  mkdirSync(cacheFolder, { recursive: true });
  const tools = { ...codeServer(), chromium: chromium() };
  writeFileSync(join(cacheFolder, "tools.json"), `${JSON.stringify(tools, null, 2)}\n`);
} catch (error) {
  if (!(error instanceof Unfit)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
