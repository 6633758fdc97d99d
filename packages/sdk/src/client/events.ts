// The stream of everything that changes, as an async iterator that connects again
// ===============================================================================
//
//   connecting ─▶ reading ─▶ waiting ─▶ connecting …      (ends by `return`, the caller's signal, or a final error)
//
// V1. After a break the stream goes on behind the last event that was handed out: none is lost, none comes twice.

import type { DurationMs } from "@perdure/protocol";
import type { AbortSignalLike } from "../ports.ts";
import { EventStreamParser } from "./event-stream.ts";
import type { FetchResponse, Http } from "./http.ts";
import { failed, RequestFailedError } from "./http.ts";

export interface EventsOptions {
  /** Id of an event: the stream begins behind it. Absent: with what happens from now on. */
  readonly since?: string;
  /** Only what matches, as query parameters of the admin's `/events`: `{ service: "inbox" }`. */
  readonly filter?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignalLike;
}

export interface LiveEvent<T = unknown> {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: T;
}

/** Nearly all runtimes have it; it is not in the language's own library. */
declare const TextDecoder: new () => { decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string };

const RECONNECT_MS_MIN = 500;
const RECONNECT_MS_MAX = 30_000;

export type Delay = (ms: DurationMs) => Promise<void>;

export function liveEvents(
  http: Http,
  url: string,
  options: EventsOptions,
  delay: Delay | undefined,
): AsyncGenerator<LiveEvent, void, undefined> {
  const query = new Map(Object.entries(options.filter ?? {}));
  const address =
    query.size === 0
      ? url
      : `${url}?${[...query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")}`;
  return serverEvents(http, address, options, delay);
}

/** What an address tells, connected again and again (V1). */
export async function* serverEvents(
  http: Http,
  address: string,
  options: Pick<EventsOptions, "since" | "signal">,
  delay: Delay | undefined,
): AsyncGenerator<LiveEvent, void, undefined> {
  let lastId = options.since;
  let waitMs = RECONNECT_MS_MIN;
  for (;;) {
    try {
      const response = await connect(http, address, lastId, options.signal);
      for await (const event of readEvents(response, lastId)) {
        waitMs = event.retryMs ?? RECONNECT_MS_MIN;
        lastId = event.id;
        yield { id: event.id, type: event.type, data: event.data };
      }
    } catch (error) {
      if (!(error instanceof RequestFailedError) || delay === undefined || isAborted(options.signal)) throw error;
    }
    if (delay === undefined) return; // Nobody to wait with.
    await delay(waitMs);
    if (isAborted(options.signal)) return;
    waitMs = Math.min(RECONNECT_MS_MAX, waitMs * 2);
  }
}

async function connect(
  http: Http,
  url: string,
  lastId: string | undefined,
  signal: AbortSignalLike | undefined,
): Promise<FetchResponse> {
  const headers = { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
  const response = await http.send({ method: "GET", url, headers, signal });
  if (!response.ok) throw await failed(response);
  return response;
}

async function* readEvents(
  response: FetchResponse,
  lastId: string | undefined,
): AsyncGenerator<LiveEvent & { readonly retryMs: number | undefined }> {
  const parser = new EventStreamParser(lastId);
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const chunk = await read(reader);
      if (chunk === undefined) return;
      for (const { id, type, data } of parser.feed(decoder.decode(chunk, { stream: true }))) {
        yield { id, type, data: JSON.parse(data) as unknown, retryMs: parser.retryMs };
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // It may be broken already.
  }
}

async function read(reader: {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}): Promise<Uint8Array | undefined> {
  try {
    const { done, value } = await reader.read();
    return done ? undefined : value;
  } catch (cause) {
    throw new RequestFailedError("the stream of events broke off", { status: 0, cause });
  }
}

function isAborted(signal: AbortSignalLike | undefined): boolean {
  return signal?.aborted === true;
}
