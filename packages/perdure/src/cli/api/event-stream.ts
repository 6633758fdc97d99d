// Server-sent events: a stream that is resumed where it broke.
//
// The runtime numbers its events; after a lost connection the last number goes back as `Last-Event-ID`, and what was
// missed follows. Where that is gone (a restart, too long away) the runtime sends `reset`, and the reader reads anew.

import { setTimeout as sleep } from "node:timers/promises";
import { UnreachableError } from "@perdure/protocol";
import { InterruptedError, RefusedError } from "../errors.ts";
import { connectionError, open, refusalOf, type Connection, type HttpRequest } from "./http.ts";

export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** The events in a text that comes in pieces. */
export class EventParser {
  #rest = "";
  #id: string | undefined;
  #event = "";
  #data: string[] = [];

  /** The last id that was said, also with no event. */
  get lastId(): string | undefined {
    return this.#id;
  }

  push(text: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") this.#finish(events);
      else this.#field(line);
    }
    return events;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // A comment: keeps the connection alive.
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
  }

  #finish(events: ServerEvent[]): void {
    if (this.#data.length > 0) {
      events.push({ id: this.#id, event: this.#event === "" ? "message" : this.#event, data: this.#data.join("\n") });
    }
    this.#event = "";
    this.#data = [];
  }
}

export interface EventStreamOptions {
  readonly query?: HttpRequest["query"];
  /** The connection broke and is tried again. */
  readonly onLost?: () => void;
  /** The stream is there (again). */
  readonly onOpen?: () => void;
}

const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 5_000;

/** Goes on until it is interrupted. The first connection has to succeed: @throws UnreachableError. */
export async function* eventStream(
  connection: Connection,
  path: string,
  options: EventStreamOptions = {},
): AsyncGenerator<ServerEvent> {
  let lastId: string | undefined;
  let wasOpen = false;
  let delay = RETRY_MS_FIRST;
  for (;;) {
    try {
      const response = await openStream(connection, path, options, lastId);
      wasOpen = true;
      delay = RETRY_MS_FIRST;
      options.onOpen?.();
      const parser = new EventParser();
      for await (const chunk of response.setEncoding("utf8")) {
        for (const event of parser.push(chunk as string)) {
          lastId = event.id ?? lastId;
          yield event;
        }
        lastId = parser.lastId ?? lastId;
      }
    } catch (error) {
      const failure = error instanceof RefusedError ? error : connectionError(error as Error, connection);
      const isPassing =
        failure instanceof UnreachableError || (failure instanceof RefusedError && failure.status >= 500);
      if (!wasOpen || !isPassing) throw failure;
    }
    if (connection.signal.aborted) throw new InterruptedError();
    options.onLost?.();
    await sleep(delay, undefined, { signal: connection.signal }).catch(() => {
      throw new InterruptedError();
    });
    delay = Math.min(delay * 2, RETRY_MS_MAX);
  }
}

async function openStream(
  connection: Connection,
  path: string,
  options: EventStreamOptions,
  lastId: string | undefined,
): ReturnType<typeof open> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (lastId !== undefined) headers["last-event-id"] = lastId;
  const response = await open(connection, path, {
    headers,
    ...(options.query === undefined ? {} : { query: options.query }),
  });
  if (response.statusCode === 200) return response;
  throw await refusalOf(response, connection, path);
}
