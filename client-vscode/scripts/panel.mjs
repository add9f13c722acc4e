// Shows the panel in a browser, with played states in place of an editor: npm run panel. Rebuilds on change; Ctrl+C ends it.
import { join } from "node:path";
import { context } from "esbuild";

const root = join(import.meta.dirname, "..");
const folder = join(root, "test", "panel");
const build = await context({
  entryPoints: {
    player: join(folder, "player.ts"),
    playedPanel: join(folder, "playedPanel.ts"),
    styles: join(root, "webview", "styles", "panel.css"),
  },
  outdir: join(folder, "static", "built"), // nothing is written: the server has it in memory
  write: false,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "chrome138",
  sourcemap: "inline",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
await build.watch();
const { port } = await build.serve({ host: "127.0.0.1", servedir: join(folder, "static") });
process.stdout.write(`The panel is at http://127.0.0.1:${port}/ (Ctrl+C ends it)\n`);
