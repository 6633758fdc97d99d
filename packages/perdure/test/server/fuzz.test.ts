// Whatever is sent: never a 5xx, never a hang, errors always in their shape, and the server is healthy afterwards.

import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "@perdure/host";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, openWorld, post, rawAsk, type RawAnswer, type World } from "./world.ts";

let world: World;
let directory = "";
let awakeable = "";
let run = "";
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "perdure-fuzz-"));
  world = await openWorld({ store: await openSqliteStore({ directory }) });
  run = (await post(`${world.ingress}/mailer/wait/send`)).json.runId;
  for (;;) {
    const [wait] = (await ask(`${world.admin}/runs/${run}`)).json.waits;
    if (wait?.kind === "awakeable") {
      awakeable = wait.id;
      return;
    }
  }
});
afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

/** Handlers that end by themselves: what hangs is then the server. */
const WORDS = [
  "mailer",
  "inbox",
  "order",
  "echo",
  "hello",
  "nothing",
  "bytes",
  "mail",
  "add",
  "secret",
  "send",
  "approve",
  "k",
  "perdure",
  "runs",
  "workflows",
  "awakeables",
  "signals",
];
const MORE = [
  "attach",
  "output",
  "resolve",
  "reject",
  "cancel",
  "kill",
  "pause",
  "resume",
  "restart",
  "purge",
  "effects",
  "settle",
  "journal",
  "state",
  "services",
  "sql",
  "metrics",
];
const ODD = [
  "",
  ".",
  "..",
  "%2F",
  "%00",
  "%ff",
  "%",
  "%E0%A4%A",
  "a%20b",
  "ü".normalize("NFD"),
  "*",
  ":id",
  "__proto__",
  "constructor",
  "x".repeat(300),
  "-1",
  "1e9",
  "null",
];

const segment = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
    { weight: 3, arbitrary: fc.constantFrom(...MORE) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD).map((text) => encodeURI(text).replaceAll("%25", "%")) },
    { weight: 1, arbitrary: fc.string({ maxLength: 12 }).map(encodeURIComponent) },
    { weight: 1, arbitrary: fc.constant("RUN") },
    { weight: 1, arbitrary: fc.constant("AWAKEABLE") },
  );

const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      "delay",
      "after",
      "limit",
      "cursor",
      "status",
      "order",
      "maxPayload",
      "run",
      "service",
      "createdAfter",
      "__proto__",
      "x",
    ),
    fc.oneof(
      fc.constantFrom("", "0", "-1", "1", "10s", "P1D", "running", "1e99", "NaN", "2026-01-01", "%00", "["),
      fc.string({ maxLength: 8 }).map(encodeURIComponent),
    ),
  ),
  { maxLength: 3 },
);

const headers = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "idempotency-key",
    "accept",
    "last-event-id",
    "range",
    "if-none-match",
    "x-thing",
    "transfer-encoding-x",
    "accept-version",
    "origin",
    "cookie",
  ),
  fc.oneof(
    fc.constantFrom(
      "application/json",
      "application/json; charset=utf-16",
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "",
      ";",
      "null",
      "application/",
      "/",
      "*/*",
    ),
    fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "?").trim()),
  ),
  { maxKeys: 3 },
);

const body = fc.oneof(
  fc.constant(undefined),
  fc.json({ maxDepth: 3 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    "{",
    "[[[[",
    '{"a":}',
    '"\u0000"',
    "[".repeat(20_000),
    '{"__proto__":{"x":1}}',
    '{"filter":{}}',
    '{"filter":{"service":"x"},"dryRun":true}',
    '{"from":1}',
    '{"from":99999999999}',
    '{"set":{"a":1}}',
    '{"set":{"__proto__":1},"force":true}',
    '{"clear":["a",5]}',
    '{"happened":true,"value":1}',
    '{"failure":{"message":5}}',
    '{"query":"select 1"}',
    '{"message":7}',
  ),
);

const method = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("GET", "POST") },
  fc.constantFrom("PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "M-SEARCH", "PURGE"),
);

const request = fc.record({
  listener: fc.constantFrom("ingress" as const, "admin" as const),
  method,
  path: fc.array(segment(), { maxLength: 7 }),
  query,
  headers,
  body,
});

/** Attaching to a run that waits, and following events, are meant to stay open. */
function staysOpen(path: string, answer: RawAnswer | "open"): boolean {
  return answer === "open" && (path.split("?")[0]?.endsWith("/attach") === true || path.startsWith("/events"));
}

async function send({
  listener,
  method: verb,
  path,
  query: pairs,
  headers: sent,
  body: text,
}: typeof request extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const search = pairs.map(([name, value]) => `${name}=${value}`).join("&");
  const where = `/${path.join("/").replaceAll("RUN", run).replaceAll("AWAKEABLE", awakeable)}${search === "" ? "" : `?${search}`}`;
  const answer = await Promise.race([
    rawAsk(world[listener], {
      path: where,
      method: verb,
      headers: sent,
      ...(text === undefined ? {} : { body: text }),
    }),
    new Promise<"open">((resolve) => setTimeout(resolve, 3_000, "open")),
  ]);
  if (staysOpen(where, answer)) return;
  if (answer === "open") throw new Error(`no answer to ${verb} ${where}`);
  expect(answer.status, `${verb} ${where}: ${answer.text}`).toBeLessThan(500);
  if (answer.status < 400 || verb === "HEAD") return;
  expect(answer.headers["content-type"]).toBe("application/json");
  const { error } = JSON.parse(answer.text) as { error: { code: string; status: number; message: string } };
  expect(error.code).toMatch(/^P\d{4}$/);
  expect(error.status).toBe(answer.status);
  expect(error.message).not.toBe("");
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d+/);
}

const RUNS = Number(process.env["PERDURE_FUZZ_RUNS"] ?? 1_500);

it("answers every request in order", async () => {
  await fc.assert(fc.asyncProperty(request, send), { numRuns: RUNS });
  expect(world.errors).toEqual([]);
  for (const url of [world.ingress, world.admin]) expect((await ask(`${url}/health`)).json).toEqual({ status: "ok" });
  expect((await post(`${world.ingress}/mailer/echo`, "still here")).json).toBe("still here");
}, 120_000);

it("answers or closes whatever bytes come", async () => {
  const { hostname, port } = new URL(world.ingress);
  const lines = fc.array(
    fc.oneof(
      fc.constantFrom(
        "GET / HTTP/1.1",
        "POST /mailer/echo HTTP/1.1",
        "GET / HTTP/9.9",
        "Host: localhost",
        "Host: a",
        "Content-Length: 5",
        "Content-Length: -1",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "Expect: x",
        "Connection: upgrade",
        "Upgrade: h2c",
        "",
        "5",
        "hello",
        "0",
      ),
      fc.string({ maxLength: 30 }),
    ),
    { maxLength: 8 },
  );
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve) => {
      let all = "";
      const socket = connect(Number(port), hostname, () => socket.end(text));
      const done = (): void => {
        socket.destroy();
        resolve(all);
      };
      socket.on("data", (data) => {
        all += String(data);
      });
      socket.on("close", done).on("error", done);
      setTimeout(done, 3_000).unref();
    });
  await fc.assert(
    fc.asyncProperty(lines, async (sent) => {
      const answer = await exchange(`${sent.join("\r\n")}\r\n\r\n`);
      for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d+) /gm)) expect(Number(status)).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
  expect(world.errors).toEqual([]);
  expect((await ask(`${world.ingress}/health`)).json).toEqual({ status: "ok" });
}, 120_000);
