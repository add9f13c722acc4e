/**
 * The only file that knows the language client library: one process, one connection. Built as a file of its own, for loading the library
 * takes longer than all the rest of the extension.
 *
 * Open files and edits go through the library's own synchronisation; everything else of it is left out. It shows nothing to the person
 * and logs no message's body, at no level.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { LogLevel, workspace, type CancellationToken, type LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  ResponseError,
  RevealOutputChannelOn,
  StreamMessageReader,
  StreamMessageWriter,
  type DynamicFeature,
  type LanguageClientOptions,
  type Message,
  type MessageTransports,
  type StaticFeature,
} from "vscode-languageclient/node";
import { ServerNotificationMethod, ServerRequestMethod, type InitializationOptions } from "../protocol.gen.js";
import { isNoHandshake, NoHandshake, type Exit, type Launch, type Link, type LinkEvents } from "./link.js";
import { isDaemonFault } from "./port.js";
import { describeMessage, firstLine } from "./pure/tracing.js";
import { readServerFacts } from "./pure/versions.js";

/** What `initialize` may take; a cold disk and a slow machine are allowed for. */
const HANDSHAKE_MS = 60_000;
/** What a polite goodbye may take, and then a signal. */
const GOODBYE_MS = 2_000;

const OWN_NOTIFICATIONS: readonly string[] = [...Object.values(ServerNotificationMethod), "window/showMessage"];
const OWN_REQUESTS: readonly string[] = [...Object.values(ServerRequestMethod), "window/showMessageRequest"];

/** The library's features that the daemon has a use for. The others would offer its commands and code actions a second time. */
const FEATURES: ReadonlySet<string> = new Set([
  "textDocument/didOpen",
  "textDocument/didChange",
  "textDocument/didSave",
  "textDocument/didClose",
  "workspace/didChangeWorkspaceFolders",
]);

/**
 * Starts a daemon and says hello.
 *
 * @throws NoHandshake if it ends, or keeps silent for a minute, before it has answered; nothing is left running then
 */
export async function connect(launch: Launch, log: LogOutputChannel, events: LinkEvents): Promise<Link> {
  const daemon = new DaemonProcess(launch, log);
  const client = new QuietClient(
    daemon,
    clientOptions(log, () => void daemon.kill()),
  );
  for (const method of OWN_NOTIFICATIONS)
    client.onNotification(method, (params: unknown) => events.notification(method, params));
  for (const method of OWN_REQUESTS)
    client.onRequest(method, (params: unknown, token: CancellationToken) => answer(events, method, params, token));
  try {
    await Promise.race([client.start(), daemon.endsEarly(), silence()]);
  } catch (error) {
    const exit = await daemon.kill();
    throw isNoHandshake(error)
      ? new NoHandshake(error.message, exit)
      : new NoHandshake(error instanceof Error ? firstLine(error.message) : "", exit);
  }
  const server = readServerFacts(client.initializeResult);
  const gone = daemon.gone.then((exit) => events.ended(exit));
  return {
    server,
    gone,
    request: (method, params, token) =>
      token === undefined ? client.sendRequest(method, params) : client.sendRequest(method, params, token),
    notify: (method, params) => client.sendNotification(method, params),
    stop: async () => {
      await client.stop(GOODBYE_MS).catch(() => undefined); // it is killed if it did not answer
      await daemon.kill();
    },
  };
}

async function answer(events: LinkEvents, method: string, params: unknown, token: CancellationToken): Promise<unknown> {
  try {
    return await events.request(method, params, token);
  } catch (error) {
    if (isDaemonFault(error)) return new ResponseError(error.code, error.message, error.data);
    throw error;
  }
}

function silence(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new NoHandshake("initialize was not answered")), HANDSHAKE_MS).unref();
  });
}

/** @param onClosed called when the daemon closes the connection; a process that cannot be spoken to is of no use */
function clientOptions(log: LogOutputChannel, onClosed: () => void): LanguageClientOptions {
  const options: InitializationOptions = {
    trusted: workspace.isTrusted,
    supports: ["confirmTool", "openDiff", "askUser", "diagnostics", "saveDocument"],
    clientName: "Visual Studio Code",
  };
  return {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: options,
    initializationFailedHandler: () => false,
    outputChannel: withoutBodies(log),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        onClosed();
        return { action: CloseAction.DoNotRestart, handled: true, message: "The connection is closed." };
      },
    },
    middleware: { window: { showDocument: () => Promise.resolve({ success: false }) } },
  };
}

class QuietClient extends LanguageClient {
  constructor(daemon: DaemonProcess, options: LanguageClientOptions) {
    super("geminiCompanion.connection", "Gemini Companion", () => daemon.start(), options);
  }

  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if ("registrationType" in feature && FEATURES.has(feature.registrationType.method)) super.registerFeature(feature);
  }

  override error(message: string): void {
    this.outputChannel.error(message);
  }

  override warn(message: string): void {
    this.outputChannel.warn(message);
  }

  override info(message: string): void {
    this.outputChannel.info(message);
  }
}

const NEVER_SHOWN = { show: (): void => undefined, hide: (): void => undefined };

/** The log as the library sees it: it may write a line's beginning, and never finds tracing turned on, which would write bodies. */
function withoutBodies(log: LogOutputChannel): LogOutputChannel {
  const line = (write: (text: string) => void) => (message: string | Error) =>
    write(firstLine(typeof message === "string" ? message : message.message));
  const info = line((text) => log.info(text));
  return {
    name: log.name,
    logLevel: LogLevel.Off,
    onDidChangeLogLevel: () => ({ dispose: () => undefined }),
    trace: () => undefined,
    debug: () => undefined,
    info,
    warn: line((text) => log.warn(text)),
    error: line((text) => log.error(text)),
    append: info,
    appendLine: info,
    replace: info,
    clear: () => undefined,
    ...NEVER_SHOWN,
    dispose: () => undefined,
  };
}

/** The child process. It ends when its stdin does, so it cannot outlive the extension host. */
class DaemonProcess {
  /** Resolves when it has ended, or could not be started. */
  readonly gone: Promise<Exit>;
  #child: ChildProcess | undefined;
  #lastLine = "";
  #resolveGone: (exit: Exit) => void = () => undefined;

  constructor(
    private readonly launch: Launch,
    private readonly log: LogOutputChannel,
  ) {
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  /** Called by the library, once. */
  start(): Promise<MessageTransports> {
    const [program, ...rest] = this.launch.command;
    const child = spawn(program, rest, {
      cwd: this.launch.cwd,
      env: { ...this.launch.env },
      stdio: "pipe",
      windowsHide: true,
    });
    this.#child = child;
    child.once("error", (error) => {
      this.#lastLine = firstLine(error.message);
      this.#resolveGone({ lastLine: this.#lastLine });
    });
    child.once("close", (code) => this.#resolveGone({ ...(code === null ? {} : { code }), lastLine: this.#lastLine }));
    child.stdin.on("error", () => undefined); // a late message to a process that is gone is no defect
    createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", (line) => this.#receive(line));
    return Promise.resolve({
      reader: new StreamMessageReader(child.stdout, {
        contentTypeDecoder: { name: "application/json", decode: (bytes) => this.#decode(bytes) },
      }),
      writer: new StreamMessageWriter(child.stdin, {
        contentTypeEncoder: { name: "application/json", encode: (message) => this.#encode(message) },
      }),
    });
  }

  async endsEarly(): Promise<never> {
    const exit = await this.gone;
    throw new NoHandshake(exit.lastLine, exit);
  }

  /** Ends it by its stdin and SIGTERM, then by force. */
  async kill(): Promise<Exit> {
    const child = this.#child;
    if (child?.pid === undefined) {
      this.#resolveGone({ lastLine: this.#lastLine });
      return this.gone;
    }
    child.stdin?.end();
    const force = setTimeout(() => child.kill("SIGKILL"), GOODBYE_MS);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    try {
      return await this.gone;
    } finally {
      clearTimeout(force);
    }
  }

  #receive(line: string): void {
    const text = firstLine(line);
    if (text.trim() === "") return;
    this.#lastLine = text;
    this.log.info(`daemon: ${text}`);
  }

  #decode(bytes: Uint8Array): Promise<Message> {
    // The library's reader turns what is thrown here into an error event; what is not a JSON-RPC message it refuses itself.
    return new Promise((resolve) => {
      const message = JSON.parse(Buffer.from(bytes).toString("utf8")) as Message;
      if (this.log.logLevel === LogLevel.Trace) this.log.trace(`<- ${describeMessage(message, bytes.length)}`);
      resolve(message);
    });
  }

  #encode(message: Message): Promise<Uint8Array> {
    return new Promise((resolve) => {
      const bytes = Buffer.from(JSON.stringify(message), "utf8");
      if (this.log.logLevel === LogLevel.Trace) this.log.trace(`-> ${describeMessage(message, bytes.length)}`);
      resolve(bytes);
    });
  }
}
