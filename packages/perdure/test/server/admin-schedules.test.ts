import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SchedulesPage, ScheduleSummary } from "@perdure/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { object, schedule, service, workflow, type Servable } from "../../src/index.ts";
import { serve, type Serving } from "../../src/serve.ts";
import { ask, errorOf, post } from "./world.ts";

const mailer = service("mailer", { send: async (_ctx, to: string) => to });
const inbox = object("inbox", { add: async (_ctx, note: string) => note });
const order = workflow("order", { run: async () => "done" });
// On leap days only: no time of it comes while a test runs.
const nightly = schedule("nightly", {
  cron: "0 3 29 2 *",
  timeZone: "Europe/Berlin",
  target: mailer,
  handler: "send",
  input: "ada",
});

let data: string;
let server: Serving;

async function start(...definitions: readonly Servable[]): Promise<void> {
  data = mkdtempSync(join(tmpdir(), "perdure-schedules-"));
  server = await serve({ definitions, data, ingress: { port: 0 }, admin: { port: 0 }, log: () => undefined });
}

async function stop(): Promise<void> {
  await server.close(1_000);
  rmSync(data, { recursive: true });
}

const at = (path: string): string => `${server.adminUrl}/schedules${path}`;
const list = async (query = ""): Promise<SchedulesPage> => (await ask(at(query))).json;
const one = async (name: string): Promise<ScheduleSummary> => (await ask(at(`/${name}`))).json;
const put = (name: string, spec: unknown) => post(at(`/${name}`), spec);

describe("schedules from the admin surface", () => {
  beforeAll(() => start(mailer, inbox, order, nightly));
  afterAll(stop);

  it("are created, listed page by page, held, let go and removed", async () => {
    const made = await put("every hour", {
      every: "1h",
      target: { service: "mailer", handler: "send" },
      input: "bob",
      paused: true,
    });
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({
      name: "every hour",
      paused: true,
      timing: { kind: "every", everyMs: 3_600_000 },
      target: { service: "mailer", handler: "send", key: null },
      input: "bob",
      exported: false,
      next: [],
      history: [],
    });
    const page = await list("?limit=1");
    expect(page).toMatchObject({ schedules: [{ name: "every hour" }], nextAfter: "every hour", served: true });
    expect(await list("?after=every%20hour")).toMatchObject({
      schedules: [
        { name: "nightly", exported: true, timing: { kind: "cron", cron: "0 3 29 2 *", timeZone: "Europe/Berlin" } },
      ],
      nextAfter: null,
    });
    expect((await post(at("/every%20hour/resume"))).status).toBe(200);
    const going = await one("every%20hour");
    expect(going.paused).toBe(false);
    expect(going.next).toHaveLength(5);
    const [first, second] = going.next.map(({ scheduledFor }) => Date.parse(scheduledFor));
    expect((second ?? 0) - (first ?? 0)).toBe(3_600_000);
    expect((first ?? 0) % 3_600_000).toBe(0);
    expect((await post(at("/every%20hour/pause"))).status).toBe(200);
    expect((await one("every%20hour")).next).toEqual([]);
    expect((await post(at("/every%20hour/remove"))).status).toBe(200);
    expect(errorOf(await ask(at("/every%20hour")))).toMatchObject({ code: "P0030", status: 404 });
  });

  it("start a run when they are told to, and remember it", async () => {
    const { status, json } = await post(at("/nightly/trigger"));
    expect(status).toBe(200);
    expect(json).toEqual({ runId: expect.stringMatching(/^run_1/), outcome: "started" });
    const [newest] = (await one("nightly")).history;
    expect(newest).toMatchObject({ runId: json.runId, outcome: "started" });
    expect(["running", "succeeded"]).toContain(newest?.status);
  });

  it("are refused where they cannot be meant", async () => {
    const target = { service: "mailer", handler: "send" };
    for (const [spec, message] of [
      [{ target }, /cron or every/],
      [{ cron: "nonsense", target }, /not a cron expression/],
      [{ every: "10ms", target }, /at least a second/],
      [{ every: "1h", target: { service: "mailr", handler: "send" } }, /mailer/],
      [{ every: "1h", target: { ...target, key: "k" } }, /no keys/],
      [{ every: "1h", target: { service: "inbox", handler: "add" } }, /needs a key/],
      [{ every: "1h", target: { service: "order", handler: "run", key: "k" } }, /keyPerStart/],
      [{ every: "1h" }, /target/],
    ] as const) {
      const error = errorOf(await put("wrong", spec));
      expect(error.message).toMatch(message);
      expect([400, 404]).toContain(error.status);
    }
    expect((await list()).schedules.map(({ name }) => name)).toEqual(["nightly"]);
    expect(errorOf(await post(at("/nobody/pause")))).toMatchObject({ status: 404 });
  });
});

describe("where nothing that is served has a schedule", () => {
  beforeAll(() => start(mailer));
  afterAll(stop);

  it("the list is empty and says so, and none can be created", async () => {
    expect(await list()).toEqual({ schedules: [], nextAfter: null, served: false });
    const spec = { every: "1h", target: { service: "mailer", handler: "send" } };
    expect(errorOf(await put("x", spec))).toMatchObject({
      code: "P0030",
      message: expect.stringContaining("export schedule"),
    });
  });
});
