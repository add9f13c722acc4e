/** Chromium, with every name but loopback unknown to it: whatever VS Code or a page asks of the world fails, and is remembered. */
import { type Browser, chromium, type Page, type Request } from "playwright-core";
import { tools } from "./places.js";

/** VS Code's own service worker answers for this host; nothing of it leaves the browser. */
const ANSWERED_INSIDE = /(^|\.)vscode-resource\.vscode-cdn\.net$/;

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: tools().chromium,
    args: [
      ...[
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

/** What a page asked of other machines, from now on. It has to stay empty. */
export function outsideRequests(page: Page, own: string): readonly string[] {
  const found: string[] = [];
  const { host } = new URL(own);
  page.context().on("request", (request: Request) => {
    const url = new URL(request.url());
    if (/^(https?|wss?):$/.test(url.protocol) && url.host !== host && !ANSWERED_INSIDE.test(url.hostname))
      found.push(url.href);
  });
  return found;
}
