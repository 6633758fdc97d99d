import { OverloadedError } from "@perdure/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, errorOf, exchange, openWorld, post, rawAsk, replaced, until, type Answer, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld({ passHeaders: ["X-Tenant"] });
});
afterAll(() => world.close());

describe("calls", () => {
  it("answers with the JSON text that the handler returned, and the run's id", async () => {
    const answer = await post(`${world.ingress}/mailer/echo`, { a: [1, "ü", null] });
    expect(answer).toMatchObject({ status: 200, text: '{"a":[1,"ü",null]}' });
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("x-perdure-run")).toMatch(/^run_1[0-9A-Za-z]{33}$/);
  });

  it("gives the JSON text to the run as it came, digits and all", async () => {
    const input = '{"n": 12345678901234567890}';
    const { headers } = await ask(`${world.ingress}/mailer/hello`, {
      method: "POST",
      body: input,
      headers: { "content-type": "application/json" },
    });
    const run = await world.runtime.run(headers.get("x-perdure-run") as never);
    expect(run.input).toBe(input);
  });

  it("takes keys as they are URL-encoded", async () => {
    const { json } = await post(`${world.ingress}/inbox/${encodeURIComponent("a/b ü?")}/add`, "note");
    expect(json).toEqual({ key: "a/b ü?", notes: ["note"] });
  });

  it("passes other content types as bytes, and answers bytes as bytes", async () => {
    const response = await fetch(`${world.ingress}/mailer/bytes`, {
      method: "POST",
      body: new Uint8Array([1, 2, 255]),
      headers: { "content-type": "image/png" },
    });
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([255, 2, 1]));
  });

  it("answers 204 where the handler returned nothing", async () => {
    const answer = await post(`${world.ingress}/mailer/nothing`);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers.get("x-perdure-run")).toMatch(/^run_1/);
  });

  it("takes GET for handlers without an input schema", async () => {
    expect(await ask(`${world.ingress}/mailer/hello`)).toMatchObject({ status: 200, json: "hello" });
    const refused = await ask(`${world.ingress}/mailer/mail`);
    expect(refused.status).toBe(405);
    expect(refused.headers.get("allow")).toBe("POST");
  });

  it("takes what curl -d sends for the JSON that it looks like", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await ask(`${world.ingress}/mailer/echo`, { method: "POST", body: '{"a":1}', headers: form })).toMatchObject(
      { status: 200, json: { a: 1 } },
    );
    const real = await ask(`${world.ingress}/mailer/echo`, { method: "POST", body: "a=1&b=2", headers: form });
    expect(real.headers.get("content-type")).toBe("application/octet-stream");
  });

  it("passes trace headers and those that are configured, and no others", async () => {
    const headers = { traceparent: "00-1-2-01", "x-tenant": "acme", authorization: "Bearer x", cookie: "a=b" };
    const { json } = await post(`${world.ingress}/mailer/headers`, undefined, headers);
    expect(json).toEqual({ traceparent: "00-1-2-01", "x-tenant": "acme" });
  });

  it("answers a failed run with its status, code, message and id, and no stack", async () => {
    const answer = await post(`${world.ingress}/mailer/fail`);
    expect(answer.status).toBe(418);
    expect(errorOf(answer)).toEqual({
      code: "P0001",
      message: "no stamps left",
      status: 418,
      runId: answer.headers.get("x-perdure-run"),
      path: "$.stamps",
      metadata: { path: "$.stamps" },
    });
  });

  it("makes one run of one idempotency key", async () => {
    const headers = { "idempotency-key": "once" };
    const first = await post(`${world.ingress}/inbox/twice/add`, "a", headers);
    const second = await post(`${world.ingress}/inbox/twice/add`, "b", headers);
    expect(second.headers.get("x-perdure-run")).toBe(first.headers.get("x-perdure-run"));
    expect(second.json).toEqual({ key: "twice", notes: ["a"] });
  });

  it("lets a run go on when its caller is gone", async () => {
    const controller = new AbortController();
    const call = fetch(`${world.ingress}/mailer/sleep`, {
      method: "POST",
      body: "150",
      headers: { "content-type": "application/json", "idempotency-key": "gone" },
      signal: controller.signal,
    });
    await until(
      () => world.runtime.reader.runs({ handler: "sleep", limit: 10 }),
      (runs) => runs.some((run) => run.idempotencyKey === "gone"),
    );
    controller.abort();
    await expect(call).rejects.toThrow("aborted");
    expect(await ask(`${world.ingress}/perdure/runs/mailer/sleep/gone/attach`)).toMatchObject({
      status: 200,
      json: "slept",
    });
  });
});

describe("sends", () => {
  it("answers 202 at once, and the same run for the same idempotency key", async () => {
    const headers = { "idempotency-key": "send" };
    const first = await post(`${world.ingress}/mailer/echo/send`, 1, headers);
    expect(first).toMatchObject({ status: 202, json: { status: "accepted" } });
    const second = await post(`${world.ingress}/mailer/echo/send`, 2, headers);
    expect(second).toMatchObject({ status: 202, json: { runId: first.json.runId, status: "previouslyAccepted" } });
    expect(await ask(`${world.ingress}/perdure/runs/${first.json.runId}/attach`)).toMatchObject({ json: 1 });
  });

  it("tells a handler called send from sending by the kind of the target", async () => {
    expect(await post(`${world.ingress}/inbox/k/send`)).toMatchObject({ status: 200, json: "send of k" });
    expect(await post(`${world.ingress}/inbox/k/send/send`)).toMatchObject({ status: 202 });
    expect(await post(`${world.ingress}/inbox/k/add/send`, "later")).toMatchObject({ status: 202 });
  });

  it.each(["1h", "PT1H", "3600000ms"])("starts later: delay=%s", async (delay) => {
    const { json } = await post(`${world.ingress}/mailer/hello/send?delay=${delay}`);
    const run = await world.runtime.run(json.runId);
    expect(run.status).toBe("scheduled");
    expect(Math.abs((run.scheduledAt ?? 0) - Date.now() - 3_600_000)).toBeLessThan(10_000);
  });

  it("refuses a delay that is none, and one on a call", async () => {
    expect(errorOf(await post(`${world.ingress}/mailer/hello/send?delay=soon`))).toMatchObject({
      code: "P0060",
      status: 400,
    });
    expect(errorOf(await post(`${world.ingress}/mailer/hello?delay=1s`))).toMatchObject({ code: "P0034", status: 400 });
  });
});

describe("bad requests", () => {
  const json = { "content-type": "application/json" };
  it.each([
    ['{"a":x}', "$.a", 5],
    ['{"a":[1,2,}', "$.a[2]", 10],
    ['{"a":1', "$.a", 6],
    ["[1] 2", "$", 4],
    ['"a\nb"', "$", 0],
  ])("says where JSON is wrong: %j", async (body, path, position) => {
    const answer = await ask(`${world.ingress}/mailer/echo`, { method: "POST", body, headers: json });
    expect(errorOf(answer)).toMatchObject({
      code: "P0021",
      status: 400,
      path,
      metadata: { position: String(position) },
    });
  });

  it("takes an empty body for no input", async () => {
    expect((await ask(`${world.ingress}/mailer/echo`, { method: "POST", body: "", headers: json })).status).toBe(204);
  });

  it("refuses bytes that are not UTF-8", async () => {
    const answer = await ask(`${world.ingress}/mailer/echo`, {
      method: "POST",
      body: new Uint8Array([0x22, 0xff, 0x22]),
      headers: json,
    });
    expect(errorOf(answer)).toMatchObject({ code: "P0021", message: expect.stringContaining("UTF-8") });
  });

  it("refuses input that does not fit the schema, with the path, before a run is made", async () => {
    const answer = await post(`${world.ingress}/mailer/mail`, { to: 5 });
    expect(errorOf(answer)).toMatchObject({ code: "P0021", status: 400, path: "$.to" });
    expect(await world.runtime.reader.runs({ handler: "mail", limit: 1 })).toEqual([]);
  });

  it.each([
    ["/mailr/echo", "mailer/echo"],
    ["/mailer/ecko", "mailer/echo"],
    ["/inbox/add", "/inbox/{key}/{handler}"],
    ["/mailer/k/echo", "without a key"],
  ])("names near matches: %s", async (path, hint) => {
    expect(errorOf(await post(world.ingress + path, 1))).toMatchObject({
      code: "P0030",
      status: 404,
      message: expect.stringContaining(hint),
    });
  });

  it("keeps internal handlers inside", async () => {
    expect(errorOf(await post(`${world.ingress}/mailer/secret`))).toMatchObject({
      code: "P0030",
      status: 404,
      message: expect.stringContaining("internal"),
    });
    expect((await post(`${world.ingress}/mailer/secret/send`)).status).toBe(404);
  });

  it("refuses an empty key, a key that is too long, and idempotency keys alike", async () => {
    expect((await post(`${world.ingress}/inbox//add`, 1)).status).toBe(400);
    expect((await post(`${world.ingress}/inbox/${"k".repeat(1_025)}/add`, 1)).status).toBe(400);
    expect((await post(`${world.ingress}/mailer/echo`, 1, { "idempotency-key": "" })).status).toBe(400);
    expect((await post(`${world.ingress}/mailer/echo`, 1, { "idempotency-key": "k".repeat(1_025) })).status).toBe(400);
  });

  it("answers 404 and 405 to paths and methods that are none", async () => {
    expect(errorOf(await ask(`${world.ingress}/nowhere`))).toMatchObject({ code: "P0030", status: 404 });
    expect((await post(`${world.ingress}/a/b/c/d/e/f/g/h`)).status).toBe(404);
    const wrong = await ask(`${world.ingress}/mailer/echo`, { method: "DELETE" });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("GET, POST");
  });

  it("answers a path that cannot be decoded", async () => {
    expect(JSON.parse((await rawAsk(world.ingress, { path: "/inbox/%ff/add", method: "POST" })).text)).toMatchObject({
      error: { status: 400, code: "P0034" },
    });
  });
});

describe("large bodies", () => {
  const big = 32 * 1024 * 1024 + 1;

  it("answers 413 by the announced length, without waiting for the body", async () => {
    const answer = await rawAsk(`${world.ingress}/mailer/echo`, {
      method: "POST",
      headers: { "content-length": big, "content-type": "application/json" },
      body: "x",
    }).catch((error: unknown) => error);
    expect(answer).toMatchObject({ status: 413 });
  });

  it("answers 413 before the body is sent, where the sender asks first", async () => {
    const answer = await rawAsk(`${world.ingress}/mailer/echo`, {
      method: "POST",
      headers: { "content-length": big, expect: "100-continue" },
    }).catch((error: unknown) => error);
    expect(answer).toMatchObject({ status: 413 });
  });

  it("answers 413 to a body that grows too large, which its sender gets to read", async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(0x20);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (sent < 34) controller.enqueue(chunk);
        else controller.close();
        sent += 1;
      },
    });
    const init = {
      method: "POST",
      body,
      duplex: "half",
      headers: { "content-type": "application/json" },
    } as RequestInit;
    expect(errorOf(await ask(`${world.ingress}/mailer/echo`, init))).toMatchObject({ code: "P0022", status: 413 });
  });

  it("takes a body just below the limit", async () => {
    const text = `"${"x".repeat(16 * 1024 * 1024)}"`;
    const answer = await ask(`${world.ingress}/mailer/echo`, {
      method: "POST",
      body: text,
      headers: { "content-type": "application/json" },
    });
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBe(text.length);
  });
});

describe("results of runs that exist", () => {
  const start = async (path: string, input?: unknown): Promise<string> =>
    (await post(world.ingress + path, input)).json.runId;

  it("attach waits, output answers 470 until the run has ended", async () => {
    const run = await start("/mailer/listen/send", "go");
    const early = await ask(`${world.ingress}/perdure/runs/${run}/output`);
    expect(errorOf(early)).toMatchObject({ code: "P0035", status: 470, runId: run });
    const attached = ask(`${world.ingress}/perdure/runs/${run}/attach`);
    expect((await post(`${world.ingress}/perdure/runs/${run}/signals/go`, { ok: true })).json).toMatchObject({
      runId: run,
    });
    expect(await attached).toMatchObject({ status: 200, json: { ok: true } });
    expect(await ask(`${world.ingress}/perdure/runs/${run}/output`)).toMatchObject({ status: 200, json: { ok: true } });
  });

  it("finds runs by idempotency key and by workflow key", async () => {
    await post(`${world.ingress}/inbox/found/add`, "x", { "idempotency-key": "i k" });
    expect((await ask(`${world.ingress}/perdure/runs/inbox/found/add/i%20k/output`)).json.notes).toEqual(["x"]);
    await post(`${world.ingress}/order/o1/run/send`, "book");
    expect((await ask(`${world.ingress}/perdure/workflows/order/o1/output`)).status).toBe(470);
    await post(`${world.ingress}/order/o1/approve`);
    expect((await ask(`${world.ingress}/perdure/workflows/order/o1/attach`)).json).toEqual({
      what: "book",
      approved: true,
    });
  });

  it("answers 404 for runs that are none, 400 for ids that are none", async () => {
    const unknown = `run_1${"0".repeat(33)}`;
    for (const what of ["attach", "output"]) {
      expect(errorOf(await ask(`${world.ingress}/perdure/runs/${unknown}/${what}`))).toMatchObject({
        code: "P0031",
        status: 404,
      });
      expect((await ask(`${world.ingress}/perdure/runs/nonsense/${what}`)).status).toBe(400);
      expect((await ask(`${world.ingress}/perdure/workflows/inbox/k/${what}`)).status).toBe(404);
      expect((await ask(`${world.ingress}/perdure/runs/mailer/echo/never/${what}`)).status).toBe(404);
    }
  });

  it("cancels a run", async () => {
    const run = await start("/mailer/listen/send", "never");
    expect((await post(`${world.ingress}/perdure/runs/${run}/cancel`)).json.runId).toBe(run);
    expect(errorOf(await ask(`${world.ingress}/perdure/runs/${run}/attach`))).toMatchObject({
      code: "P0002",
      status: 409,
      runId: run,
    });
    expect(errorOf(await post(`${world.ingress}/perdure/runs/${run}/signals/late`))).toMatchObject({
      code: "P0033",
      status: 409,
    });
  });
});

describe("awakeables", () => {
  const open = async (): Promise<{ run: string; awakeable: string }> => {
    const run: string = (await post(`${world.ingress}/mailer/wait/send`)).json.runId;
    const detail = await until(
      () => ask(`${world.admin}/runs/${run}`),
      (answer: Answer) => answer.json.waits.some((wait: { kind: string }) => wait.kind === "awakeable"),
    );
    return { run, awakeable: detail.json.waits.find((wait: { kind: string }) => wait.kind === "awakeable").id };
  };

  it("are resolved with JSON, with bytes, and with nothing", async () => {
    const first = await open();
    expect((await post(`${world.ingress}/perdure/awakeables/${first.awakeable}/resolve`, { yes: 1 })).json.runId).toBe(
      first.run,
    );
    expect((await ask(`${world.ingress}/perdure/runs/${first.run}/attach`)).json).toEqual({ yes: 1 });
    const second = await open();
    await ask(`${world.ingress}/perdure/awakeables/${second.awakeable}/resolve`, {
      method: "POST",
      body: "raw",
      headers: { "content-type": "text/plain" },
    });
    expect((await ask(`${world.ingress}/perdure/runs/${second.run}/attach`)).text).toBe("raw");
    const third = await open();
    await post(`${world.ingress}/perdure/awakeables/${third.awakeable}/resolve`);
    expect((await ask(`${world.ingress}/perdure/runs/${third.run}/attach`)).status).toBe(204);
  });

  it("are rejected with a message and a code", async () => {
    const { run, awakeable } = await open();
    await post(`${world.ingress}/perdure/awakeables/${awakeable}/reject`, { message: "not today", code: 403 });
    expect(errorOf(await ask(`${world.ingress}/perdure/runs/${run}/attach`))).toMatchObject({
      message: "not today",
      status: 403,
    });
  });

  it("are refused where the id or the rejection is none", async () => {
    expect(errorOf(await post(`${world.ingress}/perdure/awakeables/nonsense/resolve`))).toMatchObject({
      code: "P0034",
      status: 400,
    });
    expect((await post(`${world.ingress}/perdure/awakeables/nonsense/reject`, { code: 5 })).status).toBe(400);
  });
});

describe("the server itself", () => {
  it("is healthy, and says what to try", async () => {
    expect(await ask(`${world.ingress}/health`)).toMatchObject({ status: 200, json: { status: "ok" } });
    const { text } = await ask(world.ingress);
    expect(text).toContain("POST /inbox/{key}/add");
    expect(text).not.toContain("secret");
    expect(text).toContain(world.admin);
  });

  it("answers requests that are not HTTP in the shape of all errors", async () => {
    const text = await exchange(world.ingress, "NOT HTTP AT ALL\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toMatchObject({ error: { code: "P0034", status: 400 } });
  });

  it("answers 429 with Retry-After when there is too much to do", async () => {
    const busy = await openWorld({
      wrap: (runtime) =>
        replaced(runtime, {
          call: () => Promise.reject(new OverloadedError("too much")),
          submit: () => Promise.reject(new OverloadedError("too much")),
        }),
    });
    for (const path of ["/mailer/echo", "/mailer/echo/send"]) {
      const answer = await post(busy.ingress + path, 1);
      expect(errorOf(answer)).toMatchObject({ code: "P0032", status: 429 });
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    await busy.close();
  });

  it("refuses submissions by the engine's own limit", async () => {
    const small = await openWorld({ limits: { attemptsLiveMax: 1, readyRunsMax: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(`${small.ingress}/mailer/listen/send`, "x")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 429]));
    await small.close();
  });

  it("shows nothing of an error that nobody expected, and reports it", async () => {
    const broken = await openWorld({
      wrap: (runtime) => replaced(runtime, { call: () => Promise.reject(new Error("password is hunter2")) }),
    });
    const answer = await post(`${broken.ingress}/mailer/echo`, 1);
    expect(errorOf(answer)).toMatchObject({ code: "P0000", status: 500 });
    expect(answer.text).not.toContain("hunter2");
    expect(broken.errors).toEqual([new Error("password is hunter2")]);
    await broken.close();
  });
});
