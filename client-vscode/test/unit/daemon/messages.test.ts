/** What the daemon says and asks by messages of the window, and how long it stands there. */
import { CancellationTokenSource, type CancellationToken } from "vscode-jsonrpc";
import { beforeEach, expect, it, vi } from "vitest";
import { DaemonMessages } from "../../../src/daemon/messages.js";
import type { DaemonPort } from "../../../src/daemon/port.js";
import { Signal } from "../../../src/daemon/signal.js";
import { registerStandingActions } from "../../../src/toasts.js";

const editor = vi.hoisted(() => ({
  /** What stands in the window now. */
  standing: [] as string[],
  plain: [] as string[],
  run: (_number: number): void => undefined,
  /** How the newest is dismissed. */
  shown: undefined as { cancel(): void } | undefined,
}));

vi.mock("vscode", async (original) => {
  const tell = (message: string) => Promise.resolve(void editor.plain.push(message));
  const never = () => ({ dispose: () => undefined });
  return {
    ...(await original<object>()),
    ProgressLocation: { Notification: 15 },
    l10n: { t: (text: string) => text },
    commands: {
      registerCommand: (_name: string, run: (number: number) => void) => {
        editor.run = run;
        return { dispose: () => undefined };
      },
    },
    workspace: { onDidSaveTextDocument: never },
    window: {
      onDidChangeWindowState: never,
      showInformationMessage: tell,
      showWarningMessage: tell,
      showErrorMessage: tell,
      withProgress: async (
        { title }: { title: string },
        work: (progress: unknown, token: CancellationToken) => Promise<void>,
      ) => {
        editor.standing.push(title);
        const shown = new CancellationTokenSource();
        editor.shown = shown;
        await work({ report: () => undefined }, shown.token);
        editor.standing.splice(editor.standing.indexOf(title), 1);
      },
    },
  };
});

const FAULT = "/home/me/.gemini/settings.json:5:5: a comma is missing";
const HINT = "Correct it and save; until then what it last held stays in force.";
const connected = new Signal<void>();
let problems: string[];
let messages: DaemonMessages;

beforeEach(() => {
  editor.standing.length = editor.plain.length = 0;
  problems = [FAULT];
  messages = new DaemonMessages({ info: () => undefined });
  registerStandingActions();
  const daemon: Partial<DaemonPort> = {
    view: { kind: "ready", version: "0.1.0" },
    onEvent: () => ({ dispose: () => undefined }),
    onDidConnect: connected.event,
    request: () => Promise.resolve({ settings: [], trusted: true, problems }),
  };
  messages.follow(daemon as DaemonPort);
});

/** The number of the action with this name, out of the one message that stands. */
function action(label: string): number {
  const [, number] = new RegExp(String.raw`\[${label}\]\(command:[\w.]+\?(\d+)\)`).exec(editor.standing[0] ?? "") ?? [];
  return Number(number);
}

it("what is wrong with a file stands until it is mended, and leads there", async () => {
  messages.show({ type: 2, message: `${FAULT} ${HINT}` });
  await vi.waitFor(() => expect(editor.standing).toHaveLength(1));
  expect(editor.standing[0]).toContain(`${FAULT} ${HINT} [Open Settings File](command:`);
  const mended = vi.fn();
  messages.onDidChange(mended);
  problems = [];
  connected.fire();
  await vi.waitFor(() => expect(editor.standing).toEqual([]));
  expect(mended).toHaveBeenCalledOnce();
});

it("what a person dismisses goes, though it still holds", async () => {
  messages.show({ type: 2, message: `${FAULT} ${HINT}` });
  await vi.waitFor(() => expect(editor.standing).toHaveLength(1));
  editor.shown?.cancel();
  await vi.waitFor(() => expect(editor.standing).toEqual([]));
});

it("a remark that nothing ends is a plain message", async () => {
  problems = [];
  messages.show({ type: 2, message: "/home/me/.gemini/settings.json: restricts tools that are not built in: bosh" });
  await vi.waitFor(() => expect(editor.plain).toHaveLength(1));
  messages.show({ type: 3, message: "Compressed." });
  expect(editor.plain).toHaveLength(2);
  expect(editor.standing).toEqual([]);
});

it("a question is answered by its link, and goes", async () => {
  const { token } = new CancellationTokenSource();
  const params = { type: 2, message: `${FAULT} Go on?`, actions: [{ title: "Wait" }, { title: "Go On" }] };
  const answered = messages.ask(params, token);
  await vi.waitFor(() => expect(action("Go On")).toBeGreaterThan(0));
  const number = action("Go On");
  editor.run(number);
  expect(await answered).toEqual({ title: "Go On" });
  await vi.waitFor(() => expect(editor.standing).toEqual([]));
  editor.run(number); // a late click does nothing
});

it("a question that the daemon takes back goes without an answer", async () => {
  const source = new CancellationTokenSource();
  const answered = messages.ask({ message: `${FAULT} Go on?`, actions: [{ title: "Go On" }] }, source.token);
  await vi.waitFor(() => expect(editor.standing).toHaveLength(1));
  source.cancel();
  expect(await answered).toBeNull();
  await vi.waitFor(() => expect(editor.standing).toEqual([]));
});
