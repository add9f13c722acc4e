/** The Gemini API on loopback, as a process that does what a test says. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { end } from "./processes.js";
import { python, repository } from "./places.js";

/** A text, a thought, a call of a tool, a place to stop at until it is released, or the end of the connection. */
export type Piece =
  | string
  | { readonly thought: string }
  | { readonly call: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly gate: string }
  | { readonly drop: true };

/** An answer in pieces, or a fault by its name in `tests/support/emulator/faults.py`. */
export type ScriptedReply =
  | { readonly pieces: readonly Piece[]; readonly finish?: string }
  | { readonly fault: string; readonly with?: Readonly<Record<string, unknown>> };

/** Chats are streamed, summaries are generated at once. */
export type Method = "streamGenerateContent" | "generateContent" | "countTokens";

/** One request, as the emulator got it. */
export interface AskedRequest {
  readonly method: Method;
  readonly model: string;
  readonly system: string;
  /** The text of the last content. */
  readonly prompt: string;
  /** All text of the conversation. */
  readonly text: string;
  /** What the calls of the answer before it came to, in their order. */
  readonly responses: readonly { readonly name: string; readonly response: Readonly<Record<string, unknown>> }[];
  readonly key: string;
  /** True if the client closed the connection before the answer was complete. */
  readonly hungUp: boolean;
}

export class Emulator {
  private constructor(
    readonly baseUrl: string,
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    private readonly reader: Interface,
  ) {}

  /** Starts one on a free port. */
  static async start(): Promise<Emulator> {
    const child = spawn(python, [join(import.meta.dirname, "emulator_process.py")], {
      cwd: repository,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const reader = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done) throw new Error("The emulator did not start.");
    const { baseUrl } = JSON.parse(first.value) as { baseUrl: string }; // our own script's first line
    return new Emulator(baseUrl, child, lines, reader);
  }

  /** Queues replies; each answers one chat, or one request for a snapshot. Without any the emulator answers by itself. */
  async script(replies: readonly ScriptedReply[], to: "chat" | "snapshot" = "chat"): Promise<void> {
    await this.order({ do: "script", replies, to });
  }

  /** Queues replies for chats in which this text stands: of two that go on side by side each gets its own. */
  async scriptAbout(about: string, replies: readonly ScriptedReply[]): Promise<void> {
    await this.order({ do: "script", replies, to: "chat", about });
  }

  async release(gate: string): Promise<void> {
    await this.order({ do: "release", gate });
  }

  /** Waits until everything before the gate has been sent. */
  async reached(gate: string): Promise<void> {
    await this.order({ do: "reached", gate });
  }

  /** The `count`th chat since the last `reset`, once it has come. */
  async asked(count: number): Promise<AskedRequest> {
    return (await this.order({ do: "asked", count })) as AskedRequest; // our own script's answer
  }

  async requests(method?: Method): Promise<AskedRequest[]> {
    const all = (await this.order({ do: "requests" })) as AskedRequest[]; // our own script's answer
    return method ? all.filter((request) => request.method === method) : all;
  }

  /** `null`: any key will do. */
  async accept(keys: readonly string[] | null): Promise<void> {
    await this.order({ do: "keys", keys });
  }

  /** Forgets script, gates, keys and requests. */
  async reset(): Promise<void> {
    await this.order({ do: "reset" });
  }

  async stop(): Promise<void> {
    this.reader.close();
    await end(this.child);
  }

  private queue: Promise<unknown> = Promise.resolve();

  /** One command at a time: the answers carry no numbers. */
  private async order(command: Readonly<Record<string, unknown>>): Promise<unknown> {
    const turn = this.queue.then(async () => {
      this.child.stdin?.write(`${JSON.stringify(command)}\n`);
      const line = await this.lines.next();
      if (line.done) throw new Error("The emulator has ended.");
      const answer = JSON.parse(line.value) as { ok: unknown } | { error: string }; // our own script's answer
      if ("error" in answer) throw new Error(`The emulator refused: ${answer.error}`);
      return answer.ok;
    });
    this.queue = turn.catch(() => undefined);
    return turn;
  }
}
