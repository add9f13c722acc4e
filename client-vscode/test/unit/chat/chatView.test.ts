import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { WebviewView } from "vscode";
import { ChatView, type ViewNeeds } from "../../../src/chat/chatView.js";

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  Uri: { joinPath: (...parts: readonly unknown[]) => parts.join("/") },
  commands: { executeCommand: () => Promise.resolve() },
  env: { language: "en" },
  l10n: {},
}));

/** Longer than the daemon's start waits for any page, ms. */
const LONG = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A view's page as VS Code hands it over: what is posted to the host, and its end. */
function shownView() {
  let receive = (_message: unknown): void => undefined;
  let end = (): void => undefined;
  const posted: unknown[] = [];
  const webview = {
    cspSource: "",
    asWebviewUri: (uri: unknown) => uri,
    postMessage: (message: unknown) => Promise.resolve(posted.push(message) > 0),
    onDidReceiveMessage: (listener: typeof receive) => void (receive = listener),
  };
  const view = {
    webview,
    visible: true,
    onDidChangeVisibility: () => undefined,
    onDidDispose: (listener: typeof end) => void (end = listener),
  } as unknown as WebviewView; // what of it is used
  return { view, post: (message: unknown) => receive(message), end: () => end(), posted };
}

function chatView(loaded = Promise.resolve()) {
  const begin = vi.fn(() => Promise.resolve());
  const none = () => ({ dispose: () => undefined });
  const chat = {
    begin,
    loaded,
    saved: { draft: "", pasted: [], scroll: undefined },
    draftStore: { number: 1 },
    conversation: { rows: [] },
    t: (text: string) => text,
    ...{ onDidChange: none, onDidChangeRows: none, onDelta: none, onOutput: none, onPrefill: none },
  };
  const needs = { context: { extensionUri: "" }, chat, state: () => ({}), log: () => undefined };
  const provider = new ChatView(needs as unknown as ViewNeeds); // what of it is used
  const resolve = (view: WebviewView) => provider.resolveWebviewView(view, undefined, {} as never);
  return { begin, resolve, provider };
}

test("the daemon is started when the page is there, once", async () => {
  const { begin, resolve } = chatView();
  const { view, post } = shownView();
  resolve(view);
  await vi.advanceTimersByTimeAsync(0);
  expect(begin).not.toHaveBeenCalled();
  post({ type: "ready", boot: true });
  await vi.advanceTimersByTimeAsync(0);
  expect(begin).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(LONG);
  expect(begin).toHaveBeenCalledOnce();
});

test("a page that does not come holds up the daemon for a moment only", async () => {
  const { begin, resolve } = chatView();
  resolve(shownView().view);
  await vi.advanceTimersByTimeAsync(LONG);
  expect(begin).toHaveBeenCalledOnce();
});

test("a view that is gone before its page was there starts nothing", async () => {
  const { begin, resolve } = chatView();
  const { view, end } = shownView();
  resolve(view);
  end();
  await vi.advanceTimersByTimeAsync(LONG);
  expect(begin).not.toHaveBeenCalled();
});

test("a page that says that it is there while the draft is still read, and goes, says it for itself alone", async () => {
  let read = (): void => undefined;
  const { begin, resolve, provider } = chatView(new Promise<void>((done) => (read = done)));
  const gone = shownView();
  const next = shownView();
  resolve(gone.view);
  gone.post({ type: "ready", boot: true });
  gone.end();
  resolve(next.view);
  read();
  const command = provider.command({ do: "find" });
  await vi.advanceTimersByTimeAsync(0);
  expect(next.posted).toEqual([]);
  expect(begin).not.toHaveBeenCalled();
  next.post({ type: "ready", boot: true });
  await vi.advanceTimersByTimeAsync(0);
  await command;
  expect(next.posted.at(-1)).toMatchObject({ type: "command", command: { do: "find" } });
});
