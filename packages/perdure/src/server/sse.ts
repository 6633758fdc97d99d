// A connection that is told of things one after the other: server-sent events over one response
// ============================================================================================
//   open ─▶ over (told all, the reader went, or the server drains)
//
// C1. What is written is handed to the socket in the same turn of the event loop.
// C2. Nothing piles up behind a slow reader: where the socket is full, `write` gives a promise, and whoever writes waits.
// C3. A reader that hears nothing for a while is sent a sign of life, so that proxies keep the connection.

import type { ServerResponse } from "node:http";
import { OverloadedError } from "@perdure/protocol";

export interface SseOptions {
  readonly heartbeatMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const READERS_MAX = 10_000;
const HEARTBEAT = ": alive\n\n";

/** All that are open on one listener. */
export class SseConnections {
  readonly #open = new Set<SseConnection>();

  get size(): number {
    return this.#open.size;
  }

  /** @throws OverloadedError */
  begin(res: ServerResponse, options: SseOptions): SseConnection {
    if (this.#open.size >= READERS_MAX) throw new OverloadedError(`${READERS_MAX} readers follow streams already`);
    const connection: SseConnection = new SseConnection(res, options, () => this.#open.delete(connection));
    this.#open.add(connection);
    return connection;
  }

  /** The server drains: readers come back to whoever serves next. */
  drain(): void {
    for (const connection of this.#open) connection.drain();
  }
}

export class SseConnection {
  readonly #res: ServerResponse;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #onOver: () => void;
  readonly #closers: (() => void)[] = [];
  #over = false;
  #quiet = true;
  /** What is told when the server drains; null: the connection is cut, since the end would look like the end of all. */
  goodbye: string | null = "";

  constructor(res: ServerResponse, { heartbeatMs, headers }: SseOptions, onOver: () => void) {
    this.#res = res;
    this.#onOver = onOver;
    // The connection ends with the stream, whose end says more than the silence of an idle connection would.
    res.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      connection: "close",
      "x-accel-buffering": "no",
      ...headers,
    });
    res.flushHeaders();
    res.socket?.setNoDelay(true);
    res.once("close", () => this.#close());
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
    this.#heartbeat.unref();
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Called once, however the connection comes to its end. */
  onOver(callback: () => void): void {
    if (this.#over) callback();
    else this.#closers.push(callback);
  }

  /** A promise where the reader is slow: fulfilled when there is room again, or nobody to write to. */
  write(frames: string | Uint8Array): Promise<void> | undefined {
    if (this.#over) return undefined;
    this.#quiet = false;
    return this.#res.write(frames) ? undefined : this.#room();
  }

  end(last = ""): void {
    if (this.#over) return;
    this.#res.end(last);
    this.#close();
  }

  /** What was told is not whole, and the reader must see that. */
  cut(): void {
    this.#res.destroy();
    this.#close();
  }

  drain(): void {
    if (this.goodbye === null) this.cut();
    else this.end(this.goodbye);
  }

  #close(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#heartbeat);
    this.#onOver();
    for (const callback of this.#closers) callback();
  }

  #beat(): void {
    if (this.#quiet && !this.#res.writableNeedDrain) this.#res.write(HEARTBEAT);
    this.#quiet = true;
  }

  #room(): Promise<void> {
    const res = this.#res;
    return new Promise((resolve) => {
      const done = (): void => {
        res.off("drain", done);
        res.off("close", done);
        resolve();
      };
      res.on("drain", done);
      res.on("close", done);
    });
  }
}
