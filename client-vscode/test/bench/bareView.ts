/** An extension with nothing but a view of one word: what VS Code itself takes until a view's page is seen. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client } from "../e2e/support/places.js";

export const BARE_VIEW = {
  id: "bare.view",
  /** Shows it, in the palette. */
  command: "Bare: Show View",
  /** What the status bar says when the extension is activated. */
  isUp: "Bare extension is up",
};

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"/>`;

/** It stands where ours does, and is activated as ours is. */
const MANIFEST = {
  name: "bare",
  publisher: "bench",
  version: "1.0.0",
  engines: { vscode: "^1.106.0" },
  main: "./extension.js",
  extensionKind: ["workspace"],
  activationEvents: ["onStartupFinished"],
  contributes: {
    viewsContainers: { secondarySidebar: [{ id: "bare", title: "Bare", icon: "icon.svg" }] },
    views: { bare: [{ type: "webview", id: BARE_VIEW.id, name: "Bare", icon: "icon.svg" }] },
    commands: [{ command: "bare.show", title: "Show View", category: "Bare" }],
  },
};

const CODE = `
const { commands, window } = require("vscode");
exports.activate = ({ subscriptions }) => {
  const provider = {
    resolveWebviewView({ webview }) {
      const askedAt = Date.now();
      webview.options = { enableScripts: true, localResourceRoots: [] };
      webview.html = \`<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head>
<body data-view="${BARE_VIEW.id}" data-asked-at="\${askedAt}">Word</body></html>\`;
    },
  };
  const options = { webviewOptions: { retainContextWhenHidden: true } };
  const status = window.createStatusBarItem();
  status.text = "${BARE_VIEW.isUp}";
  status.show();
  subscriptions.push(
    status,
    window.registerWebviewViewProvider("${BARE_VIEW.id}", provider, options),
    commands.registerCommand("bare.show", () => commands.executeCommand("${BARE_VIEW.id}.focus")),
  );
};
`;

/** Packs it, in a folder that `remove` takes away. */
export function bareExtension(): { readonly vsix: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "companion-bare-"));
  const files = {
    "package.json": JSON.stringify(MANIFEST),
    "extension.js": CODE,
    "icon.svg": ICON,
    "README.md": "A view.",
    LICENSE: "-",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const vsix = join(folder, "bare.vsix");
  const vsce = join(client, "node_modules/@vscode/vsce/vsce");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", vsix],
    { cwd: folder, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`The bare extension could not be packed:\n${stdout}${stderr}`);
  return { vsix, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
