// The client against answers as the server gives them.

import { encodeAwakeableId } from "@perdure/protocol";
import { describe, expect, expectTypeOf, it } from "vitest";

import { RUN_ID } from "../../test/fake-engine.ts";
import { retryAfterMs } from "../attempt/backoff.ts";
import { object, service } from "../definitions/service.ts";
import type { Client } from "./client.ts";
import { createClient } from "./client.ts";
import type { FetchInit } from "./http.ts";
import { RequestFailedError } from "./http.ts";

const mailer = service("mailer", {
  async send(_ctx, mail: { to: string }) {
    return mail.to.length;
  },
});
const inbox = object("inbox", {
  async add(_ctx, _note: string) {},
  async list() {
    return ["a"];
  },
});

interface Asked extends FetchInit {
  readonly url: string;
}

function clientOf(...answers: (Response | Error)[]): { readonly client: Client; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (url: string, init: FetchInit): Promise<Response> => {
    asked.push({ url, ...init });
    const answer = answers.shift() ?? new Response(null, { status: 204 });
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = createClient({
    url: "http://in:8080/",
    adminUrl: "http://admin:9070",
    fetch,
    headers: { authorization: "Bearer x" },
    delay: async () => {},
  });
  return { client, asked };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(value, { status, headers });
const failure = (code: string, status: number, rest: object = {}): Response =>
  json({ error: { code, message: `failed ${code}`, status, ...rest } }, status);

describe("calls", () => {
  it("post the input and give the typed answer", async () => {
    const { client, asked } = clientOf(json(3), json(["a"]));
    const length = await client.call(mailer, { idempotencyKey: "i", headers: { "x-a": "b" } }).send({ to: "ada" });
    expectTypeOf(length).toBeNumber();
    expect(length).toBe(3);
    expectTypeOf(await client.call(inbox, "k/ ü").list()).toEqualTypeOf<string[]>();
    expect(asked[0]).toEqual({
      url: "http://in:8080/mailer/send",
      method: "POST",
      headers: { authorization: "Bearer x", "x-a": "b", "idempotency-key": "i", "content-type": "application/json" },
      body: '{"to":"ada"}',
    });
    expect(asked[1]).toEqual({
      url: "http://in:8080/inbox/k%2F%20%C3%BC/list",
      method: "POST",
      headers: { authorization: "Bearer x" },
    });
  });

  it("carry bytes and nothing", async () => {
    const { client, asked } = clientOf(new Response(Uint8Array.of(1, 2)), new Response(null, { status: 204 }));
    expect(await client.call("files").read(Uint8Array.of(9))).toEqual(Uint8Array.of(1, 2));
    expect(await client.call("files").nothing()).toBeUndefined();
    expect(asked[0]?.headers["content-type"]).toBe("application/octet-stream");
  });

  it("throw failures of the run with their own code, for good", async () => {
    const { client } = clientOf(failure("P0030", 404, { metadata: { near: "mailer/send" } }), failure("P0002", 409));
    await expect(client.call(mailer).send({ to: "" })).rejects.toMatchObject({
      code: "P0030",
      status: 404,
      retry: "terminal",
      metadata: { near: "mailer/send" },
    });
    await expect(client.call(mailer).send({ to: "" })).rejects.toMatchObject({ name: "CancelledError" });
  });

  it("throw what passes as an error that a step retries", async () => {
    const busy = json({ error: { code: "P0032", message: "busy", status: 429 } }, 429, { "retry-after": "7" });
    const { client } = clientOf(
      busy,
      new Response("<html>bad gateway</html>", { status: 502 }),
      new TypeError("fetch failed"),
    );
    const errors: unknown[] = [];
    for (let i = 0; i < 3; i += 1)
      await client
        .call(mailer)
        .send({ to: "" })
        .catch((error: unknown) => errors.push(error));
    expect(
      errors.map(
        (error) =>
          error instanceof RequestFailedError && [error.status, error.code, error.message, retryAfterMs(error, 0)],
      ),
    ).toEqual([
      [429, "P0032", "busy", 7_000],
      [502, undefined, "the answer has status 502: <html>bad gateway</html>", undefined],
      [0, undefined, "no answer from http://in:8080/mailer/send: fetch failed", undefined],
    ]);
  });

  it("refuse targets that cannot be meant", () => {
    const { client } = clientOf();
    expect(() => client.call(...([inbox] as unknown as ["inbox"]))).toThrow('"inbox" needs a key: call(inbox, key)');
    expect(() => client.call(mailer, "k" as never)).toThrow('"mailer" is a service and has no keys');
    expect(() => client.call(undefined as never)).toThrow(
      "call needs a definition or the name of a service, not undefined",
    );
  });
});

describe("sends and handles", () => {
  it("give a handle on the run", async () => {
    const { client, asked } = clientOf(
      json({ runId: RUN_ID, status: "previouslyAccepted" }, 202),
      json(5),
      failure("P0035", 470),
      json(5),
      json({}, 202),
      json({}, 202),
    );
    const run = await client.send(inbox, "k", { delay: "90m" }).add("note");
    expect([run.id, run.status, await run.result(), await run.output(), await run.output()]).toEqual([
      RUN_ID,
      "previouslyAccepted",
      5,
      { ready: false },
      { ready: true, value: 5 },
    ]);
    await run.signal("steer it", { left: true });
    await run.cancel();
    expect(asked.map(({ method, url, body }) => [method, url.replace("http://in:8080", ""), body])).toEqual([
      ["POST", "/inbox/k/add/send?delay=1h30m", '"note"'],
      ["GET", `/perdure/runs/${RUN_ID}/attach`, undefined],
      ["GET", `/perdure/runs/${RUN_ID}/output`, undefined],
      ["GET", `/perdure/runs/${RUN_ID}/output`, undefined],
      ["POST", `/perdure/runs/${RUN_ID}/signals/steer%20it`, '{"left":true}'],
      ["POST", `/perdure/runs/${RUN_ID}/cancel`, undefined],
    ]);
  });

  it("settle awakeables, and refuse what is no id", async () => {
    const { client, asked } = clientOf();
    const id = encodeAwakeableId({ run: RUN_ID, signal: 17 });
    await client.resolve(id, { yes: true });
    await client.reject(id, "no");
    expect(asked.map(({ url, body }) => [url.split("/").at(-1), body])).toEqual([
      ["resolve", '{"yes":true}'],
      ["reject", '{"message":"no"}'],
    ]);
    await expect(client.resolve("x")).rejects.toMatchObject({ code: "P0034" });
    expect(() => client.run("x")).toThrow("not the id of a run");
  });
});

describe("V1: live events", () => {
  const stream = (text: string): Response => new Response(text, { headers: { "content-type": "text/event-stream" } });

  it("go on behind the last one after a break", async () => {
    const { client, asked } = clientOf(
      stream('id: 1\ndata: {"n":1}\n\nid: 2\nevent: run\ndata: {"n":2}\n\nid: 3\ndata: {"torn'),
      new TypeError("connection refused"),
      failure("P0037", 503),
      stream('id: 3\ndata: {"n":3}\n\n'),
    );
    const seen: unknown[] = [];
    for await (const event of client.events({ since: "0", filter: { service: "inbox" } })) {
      seen.push([event.id, event.type, event.data]);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([
      ["1", "message", { n: 1 }],
      ["2", "run", { n: 2 }],
      ["3", "message", { n: 3 }],
    ]);
    expect(asked.map(({ url, headers }) => [url, headers["last-event-id"]])).toEqual([
      ["http://admin:9070/events?service=inbox", "0"],
      ...Array.from({ length: 3 }, () => ["http://admin:9070/events?service=inbox", "2"]),
    ]);
  });

  it("end where the answer is final", async () => {
    const { client } = clientOf(failure("P0036", 401));
    await expect(client.events().next()).rejects.toMatchObject({ code: "P0036" });
  });

  it("end with the caller's signal", async () => {
    const abort = new AbortController();
    const { client } = clientOf(stream("data: 1\n\n"));
    const events = client.events({ signal: abort.signal });
    await events.next();
    abort.abort();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});
