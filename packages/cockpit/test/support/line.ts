// A line to a server: an address that stays, whatever becomes of the server behind it
// ===================================================================================
//   down ─▶ up(port) ─▶ down ─▶ up(another port) …
//
// The test holds the port from beginning to end, so that a server that was killed comes back under the address that the page
// knows, and nobody else can have taken it meanwhile. While it is down, callers are hung up on, as by a machine without a
// server.

import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { once } from "node:events";

export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port: number | null = null;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Line> {
    const server = createServer({ noDelay: true });
    const line = new Line(server);
    server.on("connection", (socket) => line.#join(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  up(port: number): void {
    this.#port = port;
  }

  /** Hangs up on everybody. */
  down(): void {
    this.#port = null;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.down();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #join(caller: Socket): void {
    this.#keep(caller);
    if (this.#port === null) {
      caller.destroy();
      return;
    }
    const server = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#keep(server);
    caller.pipe(server).pipe(caller);
    caller.on("close", () => server.destroy());
    server.on("close", () => caller.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  }
}
