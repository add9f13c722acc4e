/**
 * The document of the panel's page: nothing from the net, markup only through our one sanitiser, no style in it but the one whose hash its
 * policy has, no script but `BEGIN`. VS Code shows a page when it has loaded, so the document loads nothing: it has what the script
 * shows first, with the styles of that, and the rest comes once that is seen.
 */
import { createHash } from "node:crypto";

/** How long the page's script may take before the document says that it does not come, ms. One that comes later takes over all the same. */
export const PATIENCE_MS = 10_000;

/**
 * Loads the page's styles, then its script; where that cannot be had, says so and offers to reload. The addresses and words stand in
 * attributes: no text of anybody's gets into this.
 */
export const BEGIN = `
const { style, script, failed, reload } = document.currentScript.dataset;
const picture = document.getElementById("root").firstElementChild;
const tell = () => {
  const progress = picture.querySelector(".progress");
  if (!picture.isConnected || !progress) return;
  progress.remove();
  const title = picture.querySelector(".blank-title");
  title.setAttribute("role", "alert");
  title.textContent = failed;
  const button = document.createElement("button");
  button.className = "button";
  button.textContent = reload;
  button.onclick = () => acquireVsCodeApi().postMessage({ type: "action", action: { id: "reloadWindow", label: reload } });
  title.after(button);
};
addEventListener("load", () => {
  const styles = document.createElement("link");
  styles.rel = "stylesheet";
  styles.href = style;
  styles.onload = styles.onerror = () => import(script).catch(tell);
  document.head.append(styles);
  setTimeout(tell, ${PATIENCE_MS});
});
`;

export interface PageParts {
  /** The page's scripts are run only with it. */
  readonly nonce: string;
  /** Where the extension's own files come from, as VS Code's policy names it. */
  readonly source: string;
  readonly script: string;
  readonly style: string;
  /** The styles of what the document shows, which `style` has too. */
  readonly firstStyles: string;
  /** What the script imports: asked for at once, not when the script is found to want it. */
  readonly modules: readonly string[];
  /** BCP 47. */
  readonly language: string;
  readonly view: string;
  /** What is shown until the script runs, in the person's language. */
  readonly starting: string;
  /** What is said where the script cannot be loaded, and on the button that reloads the window. */
  readonly failed: string;
  readonly reload: string;
  /** When VS Code asked for the page, Unix milliseconds: what benchmarks count from. */
  readonly askedAt: number;
}

export function pageDocument(parts: PageParts): string {
  const { nonce, source } = parts;
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${source}`,
    `style-src ${source} 'sha256-${createHash("sha256").update(parts.firstStyles).digest("base64")}'`,
    `font-src ${source}`,
    `img-src ${source} data:`,
    "require-trusted-types-for 'script'",
    "trusted-types dompurify",
  ].join("; ");
  const modules = [parts.script, ...parts.modules].map(
    (module) => `<link rel="modulepreload" nonce="${nonce}" href="${escaped(module)}">\n`,
  );
  return `<!DOCTYPE html>
<html lang="${escaped(parts.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${parts.firstStyles}</style>
<link rel="preload" as="style" href="${escaped(parts.style)}">
${modules.join("")}<title>Gemini</title>
</head>
<body data-view="${escaped(parts.view)}" data-asked-at="${parts.askedAt}">
<div id="root">${firstPicture(parts.starting)}</div>
<script nonce="${nonce}" ${data({ style: parts.style, script: parts.script, failed: parts.failed, reload: parts.reload })}>${BEGIN}</script>
</body>
</html>`;
}

/** As the script renders it before the first message of the host. It is no live region: what the script puts in its place is read out. */
function firstPicture(starting: string): string {
  return (
    `<div class="app"><header class="header"></header><main class="main main-blank"><div class="blank">` +
    `<span class="progress" aria-hidden="true"></span><p class="blank-title">${escaped(starting)}</p></div>` +
    `<div class="feed"></div></main><footer class="footer"></footer></div>`
  );
}

function data(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `data-${name}="${escaped(value)}"`)
    .join(" ");
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
