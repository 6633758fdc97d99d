// ctx.fetch: a request as a step, sent once, tried again as HTTP says.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { service } from "@perdure/sdk";
import type { RunId } from "@perdure/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crashAtEveryEntry, TestWorld } from "../src/testing.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let seen: Seen[] = [];
let answer: (request: Seen, response: ServerResponse) => void;
let base = "";
let server: ReturnType<typeof createServer>;

beforeEach(async () => {
  seen = [];
  answer = (_, response) => void response.setHeader("x-echo", "1").end("hello");
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const asks = service("asks", {
  async text(ctx, url: string) {
    const response = await ctx.fetch(url);
    return {
      ok: response.ok,
      status: response.status,
      echo: response.headers.get("X-Echo"),
      text: await response.text(),
      again: await response.text(),
      bytes: (await response.bytes()).length,
    };
  },
  async post(ctx, url: string) {
    const response = await ctx.fetch(url, { body: { a: 1 }, headers: { "X-Mine": "yes" } });
    return response.json();
  },
  async bytes(ctx, url: string) {
    return [...(await (await ctx.fetch(url)).bytes())];
  },
  async plain(ctx, url: string) {
    return (await ctx.fetch(url, { retryOn: [] })).status;
  },
  async twice(ctx, url: string) {
    await ctx.fetch(`${url}/a?key=secret`);
    await ctx.sleep("1d");
    return (await ctx.fetch(`${url}/b`, { name: "the second" })).status;
  },
});

async function run(
  handler: string,
  input: unknown,
): Promise<{ readonly world: TestWorld; readonly output: unknown; readonly id: RunId }> {
  const world = await new TestWorld({ services: [asks] }).open();
  const id = await world.submit({ service: "asks", handler }, input);
  const result = await world.finish(id);
  if (result?.kind !== "value") throw new Error(JSON.stringify(result));
  return { world, id, output: JSON.parse(String(result.value)) };
}

describe("ctx.fetch", () => {
  test("gives the answer, as often as it is read", async () => {
    const { output } = await run("text", base);
    expect(output).toEqual({ ok: true, status: 200, echo: "1", text: "hello", again: "hello", bytes: 5 });
    expect(seen[0]?.headers["idempotency-key"]).toBeUndefined();
  });

  test("sends values as JSON, and what is no GET under the step's idempotency key", async () => {
    answer = (request, response) => void response.end(request.body);
    const { output, id } = await run("post", base);
    expect(output).toEqual({ a: 1 });
    expect(seen[0]).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json", "x-mine": "yes", "idempotency-key": `${id}-1` },
    });
  });

  test("keeps bytes that are no text", async () => {
    answer = (_, response) => void response.end(Buffer.from([0xff, 0, 0xfe]));
    expect((await run("bytes", base)).output).toEqual([0xff, 0, 0xfe]);
  });

  test("tries again what may pass, not before Retry-After", async () => {
    answer = (_, response) => {
      response.statusCode = seen.length === 1 ? 429 : 200;
      response.setHeader("retry-after", "3600").end("busy");
    };
    const { world, output, id } = await run("text", base);
    expect(output).toMatchObject({ status: 200 });
    const [retry] = (await world.journal(id)).filter((entry) => entry.kind === "retry");
    expect(retry).toMatchObject({ failure: { message: expect.stringMatching(/was answered with 429 .*: busy$/) } });
    expect((retry?.retryAt ?? 0) - (retry?.at ?? 0)).toBeGreaterThanOrEqual(3_600_000);
  });

  test("gives any answer where that is asked for", async () => {
    answer = (_, response) => void Object.assign(response, { statusCode: 503 }).end();
    expect((await run("plain", base)).output).toBe(503);
  });

  test("refuses what is no address of HTTP", async () => {
    const world = await new TestWorld({ services: [asks] }).open();
    const result = await world.finish(await world.submit({ service: "asks", handler: "text" }, "file:///etc/passwd"));
    expect(result).toMatchObject({ failure: { message: expect.stringContaining("http:// or https://") } });
    expect(seen).toEqual([]);
  });

  test("is journaled under method, host and path, without what may be secret", async () => {
    const { world, id } = await run("twice", base);
    const names = (await world.journal(id)).flatMap((entry) =>
      entry.kind === "command" && entry.command.type === "step" ? [entry.command.name] : [],
    );
    expect(names).toEqual([`GET ${base.slice("http://".length)}/a`, "the second"]);
  });

  test("is not sent again once its answer is journaled (E2)", async () => {
    const report = await crashAtEveryEntry({
      services: [asks],
      target: { service: "asks", handler: "twice" },
      input: base,
      reset: () => void (seen = []),
    });
    expect(report.steps).toBe(2);
  });
});
