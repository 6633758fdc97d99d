// Driver
// ======
// The HTTP server of the benchmark `steer`, in the bench's own process, which is outside of the runtime under test: tools call
// it, so it sees when an effect begins, and says when it ends.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export class Driver {
  readonly #server = createServer((request, response) => {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#held = response;
    waiting?.(request.url ?? "");
    if (waiting === undefined) this.#arrived = request.url ?? "";
  });
  #waiting: ((path: string) => void) | undefined;
  #arrived: string | undefined;
  #held: ServerResponse | undefined;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.#server.keepAliveTimeout = 120_000;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next call of a tool, or the one that is here already. */
  called(): Promise<string> {
    const arrived = this.#arrived;
    this.#arrived = undefined;
    if (arrived !== undefined) return Promise.resolve(arrived);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Ends the call that is here. */
  release(): void {
    this.#held?.end("done");
    this.#held = undefined;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
