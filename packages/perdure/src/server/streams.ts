// Streams, to read and to follow
// ==============================
//   GET /perdure/streams/{service}/{key}/{name}        GET /perdure/runs/{id}/streams/{name}      (ingress)
//   GET /streams/{service}/{key}/{name}                GET /runs/{id}/streams/{name}              (admin)
//
// S1. A follower is told each durable item once, in order of offsets. `id:` is the offset, so that Last-Event-ID goes on
//     behind it, also on another server or after a crash.
// S2. Where items were trimmed that it has not seen, it is told from where there are some (`reset`), never nothing.
// S3. Nothing is kept for it here: a slow one is told from the store again (C2, and F3 of the feed).

import type { FastifyRequest } from "fastify";
import type { ServerResponse } from "node:http";
import type { StreamItem } from "@perdure/engine";
import { BadRequestError, UnknownTargetError, type ServiceManifest, type StreamRef } from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import type { SseConnection, SseConnections } from "./sse.ts";
import { itemJson, StreamFrames, type FramesOfStream } from "./stream-frames.ts";

export interface StreamQuery {
  /** An offset; `end`: only what comes. */
  readonly from?: string;
  readonly limit?: string;
  readonly follow?: string;
}

const RECONNECT_MS = 1_000;
const PAGE_ITEMS = 100;
const PAGE_ITEMS_MAX = 1_000;

export class StreamRoutes {
  readonly #runtime: ServedRuntime;
  readonly #connections: SseConnections;
  readonly #heartbeatMs: number;
  readonly #frames = new StreamFrames();
  readonly #seesInternal: boolean;

  constructor(
    runtime: ServedRuntime,
    connections: SseConnections,
    heartbeatMs: number,
    { seesInternal = false }: { readonly seesInternal?: boolean } = {},
  ) {
    this.#runtime = runtime;
    this.#seesInternal = seesInternal;
    this.#connections = connections;
    this.#heartbeatMs = heartbeatMs;
  }

  /** @throws BadRequestError, and UnknownTargetError or RunNotFoundError where there is nothing to read from outside. */
  async answer(request: FastifyRequest, res: ServerResponse, stream: StreamRef): Promise<void> {
    await checkStream(this.#runtime, stream, this.#seesInternal);
    const query = request.query as StreamQuery;
    const wantsPage = query.follow === "false" || prefersJson(request.headers.accept);
    if (wantsPage) await this.#page(res, stream, query);
    else await this.#follow(res, stream, query, request.headers["last-event-id"]);
  }

  async #page(res: ServerResponse, stream: StreamRef, query: StreamQuery): Promise<void> {
    const limit = wholeNumber("limit", query.limit ?? String(PAGE_ITEMS), 1, PAGE_ITEMS_MAX);
    const from = query.from === "end" ? Number.MAX_SAFE_INTEGER : offsetOf(query.from);
    const { items, start, end } = await this.#runtime.readStream(stream, from, limit);
    if (res.destroyed) return;
    // A StreamPageAnswer, by hand: payloads are JSON already.
    const text = `{"items":[${items.map(itemJson).join(",")}],"start":${start},"end":${end}}`;
    res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    res.end(text);
  }

  async #follow(
    res: ServerResponse,
    stream: StreamRef,
    query: StreamQuery,
    lastEventId: string | string[] | undefined,
  ): Promise<void> {
    const asked =
      lastEventId === undefined ? offsetOf(query.from) : wholeNumber("Last-Event-ID", String(lastEventId), -1) + 1;
    const { start, end } = await this.#runtime.readStream(stream, Number.MAX_SAFE_INTEGER, 1);
    if (res.destroyed) return;
    const fromEnd = lastEventId === undefined && query.from === "end";
    const from = fromEnd ? end : asked;
    const connection = this.#connections.begin(res, { heartbeatMs: this.#heartbeatMs });
    const follower = new Follower(connection, this.#frames.open(stream));
    follower.begin(from, start, end);
    const watch = this.#runtime.watchStream(
      stream,
      follower.next,
      (items) => follower.give(items),
      () => connection.cut(), // The store does not answer: the reader comes back and tries again.
    );
    connection.onOver(() => {
      watch.close();
      follower.close();
    });
  }
}

class Follower {
  readonly #connection: SseConnection;
  readonly #frames: FramesOfStream;
  /** The offset that it is told next. */
  next = 0;

  constructor(connection: SseConnection, frames: FramesOfStream) {
    this.#connection = connection;
    this.#frames = frames;
  }

  /** It gets an id at once, so that it can also resume where nothing had come yet. */
  begin(from: number, start: number, end: number): void {
    // Beyond the end there was never anything: what it has seen was another stream by this name.
    const isLost = from < start || from > end;
    this.next = isLost ? start : from;
    void this.#connection.write(`retry: ${RECONNECT_MS}\nid: ${this.next - 1}\n\n`);
    if (isLost) this.#reset(start);
  }

  give(items: readonly StreamItem[]): Promise<void> | undefined {
    const first = items[0];
    if (first === undefined) return undefined;
    if (first.offset !== this.next) this.#reset(first.offset); // Trimmed while it was busy.
    this.next = (items.at(-1) ?? first).offset + 1;
    const frames = items.map((item) => this.#frames.of(item));
    // In one piece: a corked response of Node may never say that there is room again.
    return this.#connection.write(frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames));
  }

  close(): void {
    this.#frames.close();
  }

  #reset(start: number): void {
    void this.#connection.write(`id: ${start - 1}\nevent: reset\ndata: ${JSON.stringify({ start })}\n\n`);
  }
}

/** From outside, streams are as visible as their services. */
async function checkStream(runtime: ServedRuntime, { owner, name }: StreamRef, seesInternal: boolean): Promise<void> {
  if (name === "") throw new BadRequestError("the stream's name is empty");
  const service = "run" in owner ? (await runtime.run(owner.run)).service : owner.service;
  if (!seesInternal) checkVisible(runtime, service);
  else if (runtime.catalog.service(service) === undefined) throw runtime.catalog.unknown({ service, handler: "" });
}

/** @throws UnknownTargetError */
export function checkVisible(runtime: Pick<ServedRuntime, "catalog">, name: string): ServiceManifest {
  const service = runtime.catalog.service(name);
  if (service === undefined) throw runtime.catalog.unknown({ service: name, handler: "" });
  if (service.handlers.every(({ internal }) => internal === true))
    throw new UnknownTargetError(`"${name}" is internal: only other handlers can call it and read what it writes`);
  return service;
}

function prefersJson(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("application/json") && !accept.includes("text/event-stream");
}

function offsetOf(text: string | undefined): number {
  return text === undefined || text === "end" ? 0 : wholeNumber("from", text, 0);
}

function wholeNumber(name: string, text: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const limit = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new BadRequestError(`${name} is "${text}" and must be a whole number ${limit}`);
}
