/** A daemon played by the test: the extension starts `pipe.mjs`, and what it says and asks is seen and answered here. */
import { createServer, type Server, type Socket } from "node:net";
import {
  type CancellationToken,
  createMessageConnection,
  type MessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
} from "vscode-languageclient/node";
import { patiently } from "../e2e/support/patience.js";
import { PROTOCOL_VERSION } from "../../src/protocol.gen.js";

/** A notification or request of the extension. */
export interface Received {
  readonly method: string;
  readonly params: unknown;
}

type Answer = (params: unknown) => unknown;

export class ScriptedDaemon {
  /** Everything that the current and earlier connections said. */
  readonly received: Received[] = [];
  /** How often the extension has started us. */
  starts = 0;
  readonly #answers = new Map<string, Answer>([
    [
      "initialize",
      () => ({
        serverInfo: { name: "scripted", version: "0.1.0" },
        capabilities: {
          textDocumentSync: 2,
          experimental: { geminiCompanion: { protocolVersion: String(PROTOCOL_VERSION) } },
        },
      }),
    ],
    ["shutdown", () => null],
    [
      "gemini/models",
      () => ({ models: [], current: "offline", provider: "offline", isLocal: true, reason: "", hint: "" }),
    ],
    ["gemini/session/list", () => ({ sessions: [] })],
  ]);
  #connection: MessageConnection | undefined;
  #socket: Socket | undefined;

  private constructor(private readonly server: Server) {}

  /** Listens on a socket file. */
  static async listen(path: string): Promise<ScriptedDaemon> {
    const server = createServer();
    const daemon = new ScriptedDaemon(server);
    server.on("connection", (socket) => daemon.#accept(socket));
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    return daemon;
  }

  /** From now on this request gets this answer. */
  answer(method: string, answer: Answer): void {
    this.#answers.set(method, answer);
  }

  /** Asks the extension, as the daemon does. */
  async ask(method: string, params: unknown, token?: CancellationToken): Promise<unknown> {
    if (this.#connection === undefined) throw new Error("The extension has not started its daemon.");
    return token === undefined
      ? this.#connection.sendRequest(method, params)
      : this.#connection.sendRequest(method, params, token);
  }

  async tell(method: string, params: unknown): Promise<void> {
    await this.#connection?.sendNotification(method, params);
  }

  /** The last thing said by this method for which `fits` holds, as soon as there is one. */
  async receives(method: string, fits: (params: unknown) => boolean = () => true, after = 0): Promise<unknown> {
    const found = await patiently(`the extension says ${method}`, () =>
      this.received.slice(after).findLast((received) => received.method === method && fits(received.params)),
    );
    return found.params;
  }

  async isStarted(times: number): Promise<void> {
    await patiently(`the daemon is started ${times} times`, () => this.starts >= times || undefined);
    await this.receives("initialized");
  }

  /** Ends as a process that falls over. */
  crash(): void {
    this.#socket?.destroy();
  }

  close(): void {
    this.#socket?.destroy();
    this.server.close();
  }

  #accept(socket: Socket): void {
    this.starts += 1;
    this.#socket = socket;
    const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    this.#connection = connection;
    connection.onRequest((method, params: unknown) => {
      this.received.push({ method, params });
      return this.#answers.get(method)?.(params) ?? {};
    });
    connection.onNotification((method, params: unknown) => {
      this.received.push({ method, params });
    });
    connection.listen();
  }
}
