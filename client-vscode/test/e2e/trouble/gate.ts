/** The way to a server, which can be shut and opened again: behind a shut gate every connection is refused. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export class Gate {
  private target = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private server: Server,
    private readonly port: number,
  ) {}

  /** Opens one on a free port of loopback; it leads nowhere until `leadTo` is called. */
  static async make(): Promise<Gate> {
    const server = createServer();
    const port = await listen(server, 0);
    const gate = new Gate(server, port);
    gate.serve(server);
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** From now on it leads to the server of this address. */
  leadTo(url: string): void {
    this.target = Number(new URL(url).port);
  }

  /** Ends what goes through it and lets nothing in. */
  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** On the same port as before. */
  async open(): Promise<void> {
    this.server = createServer();
    await listen(this.server, this.port);
    this.serve(this.server);
  }

  private serve(server: Server): void {
    server.on("connection", (near) => {
      const far = connect(this.target, "127.0.0.1");
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.sockets.delete(one);
          other.destroy();
        });
      }
    });
  }
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port; // a server that listens on a port has one
}
