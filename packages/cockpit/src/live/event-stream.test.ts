import { describe, expect, test, vi } from "vitest";
import type { ApiEvent } from "@perdure/protocol";
import { ApiFailure, NetworkFailure } from "../api/client.ts";
import { EventStream, type EventStreamOptions } from "./event-stream.ts";

/** A server whose connections a test opens, feeds and ends. */
class Server {
  readonly asked: (string | undefined)[] = [];
  readonly #answers: (() => Promise<Response>)[] = [];

  willAnswer(...chunks: readonly string[]): { end(): void; say(text: string): void } {
    const encoder = new TextEncoder();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (made) => {
        controller = made;
        for (const chunk of chunks) made.enqueue(encoder.encode(chunk));
      },
    });
    this.#answers.push(async () => new Response(body));
    return { end: () => controller?.close(), say: (text) => controller?.enqueue(encoder.encode(text)) };
  }

  willFail(error: Error): void {
    this.#answers.push(() => Promise.reject(error));
  }

  readonly open = (
    _method: string,
    _path: string,
    { signal }: { readonly signal?: AbortSignal },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> => {
    this.asked.push(headers["last-event-id"]);
    const answer = this.#answers.shift();
    if (answer !== undefined) return answer();
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  };
}

function follow(server: Server, options: Partial<EventStreamOptions> = {}) {
  const events: ApiEvent[] = [];
  const stream = new EventStream(server, {
    onEvents: (told) => events.push(...told),
    pauseMinMs: 1,
    pauseMaxMs: 1,
    ...options,
  });
  return { stream, events };
}

const DELETED = 'id: 8\nevent: deleted\ndata: {"at":"x","runId":"r"}\n\n';

describe("the event stream", () => {
  test("S1: a connection that ended is taken up after the last id that was seen", async () => {
    const server = new Server();
    server.willAnswer("id: 7\n\n", DELETED).end();
    const second = server.willAnswer("id: 9\n\n");
    const { stream, events } = follow(server);
    const states: string[] = [];
    stream.state.subscribe(() => states.push(stream.state.get().kind));
    stream.start();
    await vi.waitFor(() => expect(stream.state.get().kind === "live" && server.asked.length === 2).toBe(true));
    expect(server.asked).toEqual([undefined, "8"]);
    expect(states).toEqual(["live", "reconnecting", "live"]);
    expect(events).toEqual([{ type: "deleted", at: "x", runId: "r" }]);
    second.say('id: 10\nevent: reset\ndata: {"last":"10"}\n\n');
    await vi.waitFor(() => expect(events.at(-1)).toEqual({ type: "reset", last: "10" }));
    stream.stop();
  });

  test("a server that is gone is asked again, until it is back", async () => {
    const server = new Server();
    for (let at = 0; at < 3; at += 1) server.willFail(new NetworkFailure("down"));
    server.willAnswer("id: 1\n\n");
    const { stream } = follow(server);
    stream.start();
    await vi.waitFor(() => expect(stream.state.get().kind).toBe("live"));
    expect(server.asked).toHaveLength(4);
    stream.stop();
  });

  test("the pauses grow and are bounded", async () => {
    const waits: number[] = [];
    const timer = vi.spyOn(globalThis, "setTimeout");
    const server = new Server();
    for (let at = 0; at < 5; at += 1) server.willFail(new NetworkFailure("down"));
    const { stream } = follow(server, { pauseMinMs: 2, pauseMaxMs: 10, random: () => 1, silenceMs: 99_999 });
    stream.start();
    await vi.waitFor(() => expect(server.asked).toHaveLength(6));
    stream.stop();
    for (const [, ms] of timer.mock.calls) if (ms !== undefined && ms <= 10) waits.push(ms);
    timer.mockRestore();
    expect(waits.slice(0, 5)).toEqual([2, 4, 8, 10, 10]);
  });

  test("without the right token it stops, and starts when it is told to", async () => {
    const server = new Server();
    server.willFail(new ApiFailure({ code: "P0035", message: "credentials are missing", status: 401 }));
    const { stream } = follow(server);
    stream.start();
    await vi.waitFor(() => expect(stream.state.get().kind).toBe("refused"));
    expect(server.asked).toHaveLength(1);
    server.willAnswer("id: 1\n\n");
    stream.start();
    await vi.waitFor(() => expect(stream.state.get().kind).toBe("live"));
    stream.stop();
  });

  test("S3: a connection that is silent for too long is given up", async () => {
    const server = new Server();
    const ended = vi.fn<() => void>();
    const hanging = (signal?: AbortSignal): Promise<Response> =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          ended();
          reject(new Error("aborted"));
        }),
      );
    const { stream } = follow(server, { silenceMs: 5 });
    const open = vi.spyOn(server, "open").mockImplementation((_m, _p, { signal }) => hanging(signal));
    const silent = new EventStream({ open }, { onEvents: () => undefined, silenceMs: 5, pauseMinMs: 1, pauseMaxMs: 1 });
    silent.start();
    await vi.waitFor(() => expect(ended.mock.calls.length).toBeGreaterThan(1));
    silent.stop();
    stream.stop();
  });
});
