import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunDetail } from "@perdure/protocol";
import { ask, errorOf, openWorld, post, until, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (path: string, input?: unknown, headers: Record<string, string> = {}) =>
  post(`${world.admin}/calls/${path}`, input, headers);
const ended = (run: string): Promise<RunDetail> =>
  until(
    async () => (await ask(`${world.admin}/runs/${run}`)).json as RunDetail,
    ({ run: { finishedAt } }) => finishedAt !== null,
  );

describe("a call from the admin surface", () => {
  it("starts a run of a service, and of a key", async () => {
    const { status, json } = await call("mailer/echo", { text: "ü" });
    expect(status).toBe(200);
    expect(json).toEqual({ runId: expect.stringMatching(/^run_1/), status: "accepted" });
    expect((await ended(json.runId)).run).toMatchObject({ input: { text: "ü" }, result: { value: { text: "ü" } } });
    const keyed = (await call("inbox/a%2Fb/add", "x")).json;
    expect((await ended(keyed.runId)).run).toMatchObject({ key: "a/b", result: { value: { notes: ["x"] } } });
  });

  it("passes the input on as it was written", async () => {
    const body = '{"id": 12345678901234567890}';
    const headers = { "content-type": "application/json" };
    const { runId } = (await ask(`${world.admin}/calls/mailer/echo`, { method: "POST", body, headers })).json;
    await ended(runId);
    // Parsed on its way, the number would have another end.
    expect((await world.runtime.reader.run(runId))?.input).toBe(body);
  });

  it("may have no input", async () => {
    const { runId } = (await call("mailer/hello")).json;
    expect((await ended(runId)).run).toMatchObject({ input: null, result: { value: "hello" } });
  });

  it("starts later where it says so", async () => {
    const { runId } = (await call("mailer/hello?delay=1d")).json;
    const { run } = (await ask(`${world.admin}/runs/${runId}`)).json;
    expect(run.status).toBe("scheduled");
    expect(Date.parse(run.scheduledAt) - Date.parse(run.createdAt)).toBeGreaterThan(86_000_000);
    expect(errorOf(await call("mailer/hello?delay=soon"))).toMatchObject({ status: 400 });
    expect(errorOf(await call("mailer/hello?dealy=1d"))).toMatchObject({ status: 400, path: "$.dealy" });
  });

  it("is the same run under the same idempotency key", async () => {
    const headers = { "idempotency-key": "once" };
    const { runId } = (await call("mailer/echo", 1, headers)).json;
    expect((await call("mailer/echo", 1, headers)).json).toEqual({ runId, status: "previouslyAccepted" });
  });

  it("is refused where its input does not fit, and where there is no such target", async () => {
    expect(errorOf(await call("mailer/mail", { to: 1 }))).toMatchObject({ status: 400, path: "$.to" });
    expect(errorOf(await call("mailer/secret"))).toMatchObject({
      code: "P0030",
      message: expect.stringContaining("internal"),
    });
    expect(errorOf(await call("mailer/nobody"))).toMatchObject({ code: "P0030", status: 404 });
    expect(errorOf(await call("mailer/k/echo"))).toMatchObject({ code: "P0030" });
    expect(errorOf(await call("inbox/add", "x"))).toMatchObject({ code: "P0030" });
    const body = "{";
    const headers = { "content-type": "application/json" };
    expect(errorOf(await ask(`${world.admin}/calls/mailer/echo`, { method: "POST", body, headers }))).toMatchObject({
      status: 400,
      metadata: { position: "1" },
    });
  });

  it("is not taken from a page of another origin", async () => {
    const answer = await call("mailer/hello", undefined, { origin: "https://evil.example" });
    expect(errorOf(answer)).toMatchObject({ status: 403 });
  });
});
