/**
 * The page of the panel: wires VS Code's API, the shell and the transcript, and says `ready`. The transcript, with all that Markdown takes,
 * is a chunk of its own: the shell shows and takes keys while that comes.
 */
import { render } from "preact";
import { Bridge, type VsCodeApi } from "./bridge.js";
import type { Decoders } from "./decoders.js";
import { openFind } from "./shell/actions.js";
import { App } from "./shell/app.js";
import { takesText } from "./shell/drop.js";
import { DraftReporter } from "./shell/draftReporter.js";
import { isFindKey } from "./shell/keymap.js";
import { Messages } from "./shell/messages.js";
import { Shell, ShellProvider } from "./shell/shell.js";
import { t } from "./strings.js";

/** VS Code puts it into the page; a second call of it throws. */
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
const bridge = new Bridge(
  api,
  (message) => messages.take(message),
  () => loaded(),
  () => document.visibilityState === "visible",
);
const shell = new Shell(bridge);
const drafts = new DraftReporter(shell, {
  read: () => loaded().draft(api.getState()),
  write: (state) => api.setState(state),
});
const messages = new Messages(shell, drafts);

const early: unknown[] = [];
const loading = Promise.all([import("./transcript/transcript.js"), import("./decoders.js")]);
let decoders: Decoders | undefined;
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root.");
root.replaceChildren(); // what the document showed until now looks the same
render(
  <ShellProvider value={shell}>
    <App
      onFeed={(feed) => {
        // A part of the page can be gone: the extension was updated, and this window still runs the old one.
        startTranscript(feed).catch(() => (shell.broken.value = true));
      }}
    />
  </ShellProvider>,
  root,
);

/** Nothing is received before `startTranscript` is through. */
function loaded(): Decoders {
  if (decoders === undefined) throw new Error("A message was read before the page was loaded.");
  return decoders;
}

/** Messages are asked for when there is something to put them into; what came before waits for it. */
async function startTranscript(feed: HTMLElement): Promise<void> {
  const [{ Transcript }, loadedDecoders] = await loading;
  decoders = loadedDecoders.decoders;
  const transcript = new Transcript(feed, {
    send: (message) => bridge.send(message),
    loadRows: (from, to) => {
      bridge.call({ do: "rows", from, to }).then(
        (page) => transcript.setRows(shell.total.peek(), page.from, page.rows),
        (error: unknown) => shell.show(error),
      );
    },
    announce: (text, assertive) => shell.announce(text, assertive),
    t,
    thumbnail: (digest) => shell.thumbnails.of(digest),
    confirm: (question) => shell.confirm(question),
  });
  transcript.onScrolled(() => drafts.changed());
  shell.transcript = transcript;
  for (const data of early.splice(0)) bridge.receive(data);
  bridge.start();
}

shell.draft.subscribe(() => drafts.changed());
shell.pictures.subscribe(() => drafts.changed());

window.addEventListener("message", ({ data }: { readonly data: unknown }) => {
  if (shell.transcript === undefined) early.push(data);
  else bridge.receive(data);
});
window.addEventListener("focus", () => bridge.send({ type: "focus", focused: true }));
window.addEventListener("blur", () => {
  drafts.flush();
  bridge.send({ type: "focus", focused: false });
});
document.addEventListener("focusout", () => drafts.flush());
window.addEventListener("pagehide", () => drafts.flush());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") bridge.wake();
  else drafts.flush();
});
document.addEventListener("keydown", (event) => {
  const platform = shell.panel.peek()?.settings.platform;
  if (platform === undefined || !isFindKey(event, platform)) return;
  event.preventDefault();
  // The editor would answer the same key by giving the panel its focus anew, and what is typed meanwhile would be lost.
  event.stopPropagation();
  openFind(shell);
});
// A browser opens a dropped file in place of the page.
for (const type of ["dragover", "drop"] as const)
  document.addEventListener(type, (event) => {
    if (!takesText(event)) event.preventDefault();
  });
// Names and places only: the text of an error may hold text of the chat. Without an error it is the browser's remark on a late layout.
window.addEventListener(
  "error",
  ({ error, lineno, colno }: { readonly error: unknown; readonly lineno: number; readonly colno: number }) => {
    if (error instanceof Error) bridge.send({ type: "defect", message: `${error.name} at ${lineno}:${colno}` });
  },
);
window.addEventListener("unhandledrejection", ({ reason }: { readonly reason: unknown }) => {
  bridge.send({
    type: "defect",
    message: reason instanceof Error ? `${reason.name} in a promise` : "a promise was rejected",
  });
});

if (document.hasFocus()) bridge.send({ type: "focus", focused: true });
