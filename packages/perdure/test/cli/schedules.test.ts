// Schedules that modules export: put at each start, and looked at and acted on from the command line.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schedule, service, type RunId, type Servable } from "../../src/index.ts";
import { loadDefinitions } from "../../src/cli/load-definitions.ts";
import { serve, type Serving } from "../../src/serve.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { perdure, type Ran } from "./acting-world.ts";

const mailer = service("mailer", {
  send: async (ctx, to: string) => ({ to, for: ctx.headers["perdure-schedule"] }),
});

// On leap days only: no time of it comes while a test runs.
const nightly = (cron = "0 3 29 2 *"): Servable =>
  schedule("nightly", { cron, timeZone: "Europe/Berlin", jitter: "5m", target: mailer, handler: "send", input: "ada" });
const poll = schedule("poll", { every: "36500d", target: mailer, handler: "send", input: "bob", paused: true });

let data: string;
let server: Serving;
let logged: string[] = [];

async function start(...definitions: readonly Servable[]): Promise<void> {
  logged = [];
  server = await serve({
    definitions,
    data,
    mode: "dev",
    guard: "throw", // What schedules do is journaled, all of it.
    ingress: { port: 0 },
    admin: { port: 0 },
    log: (line) => logged.push(line),
  });
  await settled();
}

/** Until nothing that was put at the start is still to run. */
async function settled(): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const runs = await server.runtime.reader.runs({ order: "oldest", limit: 1_000 });
    if (runs.every(({ status, handler }) => handler === "tick" || status === "succeeded")) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error("what was put at the start did not end");
}

const list = (...words: string[]): Promise<Ran> => perdure(["schedules", ...words, "--admin", server.adminUrl]);
const act = (...words: string[]): Promise<Ran> => perdure(["schedules", ...words, "--url", server.ingressUrl]);

interface ListedSchedules {
  readonly schedules: readonly { readonly name: string; readonly next: { readonly tick: string } | null }[];
}

async function listed(): Promise<ListedSchedules["schedules"]> {
  return (JSON.parse((await list("--json")).stdout) as ListedSchedules).schedules;
}

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "perdure-schedules-"));
});
afterEach(async () => {
  await server.close(0);
  rmSync(data, { recursive: true, force: true });
});

describe("schedules", () => {
  it("lists those that files export", async () => {
    await start(nightly(), poll);
    const { exit, stdout } = await list();
    expect(exit).toBe(0);
    const [title, ...rows] = stdout.trimEnd().split("\n");
    expect(title).toMatch(/^NAME +WHEN +ZONE +NEXT +LAST +STATE$/);
    expect(rows).toEqual([
      expect.stringMatching(/^nightly +0 3 29 2 \* +Europe\/Berlin +in .* +active$/),
      expect.stringMatching(/^poll +every 36500d +paused$/),
    ]);
    expect(await list("list")).toEqual({ exit, stdout, stderr: "" });
    expect(await listed()).toMatchObject([
      {
        name: "nightly",
        paused: false,
        spec: { overlap: "skip", catchUp: "latest", jitterMs: 300_000 },
        lastStart: null,
      },
      { name: "poll", paused: true, next: null },
    ]);
    expect(logged).toEqual([]);
  });

  it("triggers, pauses, resumes and shows", async () => {
    await start(nightly(), poll);
    const triggered = await act("trigger", "poll");
    expect(triggered).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^started {2}run_1\w+\n$/) });
    await settled();
    const run = triggered.stdout.trim().split("  ")[1] ?? "";
    expect((await server.runtime.run(run as RunId)).result).toEqual({
      kind: "value",
      value: '{"to":"bob","for":"poll"}',
    });
    expect(await act("pause", "nightly")).toMatchObject({ exit: 0, stdout: "nightly  paused\n" });
    expect((await act("resume", "nightly")).stdout).toMatch(/^nightly {2}active, next in \d/);
    const shown = (await act("show", "poll")).stdout;
    expect(shown).toMatch(/^poll {2}paused\n {2}when {6}every 36500d\n {2}starts {4}mailer\/send "bob"\n/);
    expect(shown).toMatch(new RegExp(`${run}  succeeded  started\n$`));
    const next = (await act("show", "nightly")).stdout.match(/^ {2}(?:next {6}| {10})\d{4}-.*in /gm);
    expect(next).toHaveLength(5);
    expect(JSON.parse((await act("show", "poll", "--json")).stdout)).toMatchObject({
      name: "poll",
      next: [],
      history: [{ run, outcome: "started", status: "succeeded" }],
    });
  });

  it("removes, and says what is not there", async () => {
    await start(nightly());
    expect(await act("remove", "nightly")).toMatchObject({ exit: 0, stdout: "nightly  removed\n" });
    expect(await listed()).toEqual([]);
    for (const action of ["show", "pause", "resume", "trigger", "remove"])
      expect(await act(action, "nightly"), action).toMatchObject({
        exit: 4,
        stdout: "",
        stderr: expect.stringContaining('there is no schedule "nightly"'),
      });
    expect((await act("show")).exit).toBe(2);
  });

  it("knows of none where nothing has one", async () => {
    await start(mailer);
    expect(await list()).toMatchObject({ exit: 0, stdout: "" });
    expect(await listed()).toEqual([]);
    expect(await act("show", "nightly")).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining("there is no schedule"),
    });
  });
});

it("files export them, beside their definitions or without", async () => {
  const file = join(data, "nightly.ts");
  writeFileSync(
    file,
    `import { schedule, service } from ${JSON.stringify(new URL("../../src/index.ts", import.meta.url).href)};
     const mailer = service("mailer", { async send(ctx, to: string) { return to; } });
     export const nightly = schedule("nightly", { every: "36500d", target: mailer, handler: "send", input: "ada" });`,
  );
  await start(...(await loadDefinitions([file])));
  expect(await listed()).toMatchObject([{ name: "nightly", paused: false }]);
  expect(server.services.map(({ name }) => name)).toEqual(["mailer", "perdure.schedules", "perdure.schedules.lanes"]);
});

describe("at a start", () => {
  const restart = async (...definitions: readonly Servable[]): Promise<void> => {
    await server.close(0);
    await start(...definitions);
  };

  it("what is unchanged stays as it is, and what was changed and changed back is changed back", async () => {
    await start(nightly());
    const before = await listed();
    await restart(nightly());
    expect(await listed()).toEqual(before);
    await restart(nightly("0 4 29 2 *"));
    expect(await listed()).toMatchObject([{ spec: { timing: { cron: "0 4 29 2 *" } } }]);
    await restart(nightly());
    expect(await listed()).toMatchObject([{ spec: { timing: { cron: "0 3 29 2 *" } } }]);
    const ticks = await server.runtime.reader.runs({ order: "oldest", limit: 100, handler: "tick" });
    expect(ticks.filter(({ status }) => status === "scheduled")).toHaveLength(1);
  });

  it("what is exported no more goes on, and is reported; what a handler put is not", async () => {
    const planner = service("planner", {
      plan: async (ctx) => {
        const spec = { every: "1d", target: { service: "mailer", handler: "send" }, input: "eve" };
        await ctx.call("perdure.schedules", "put by hand").put(spec);
      },
    });
    await start(nightly(), planner);
    await server.runtime.call({ target: { service: "planner", handler: "plan" }, input: null });
    await restart(mailer);
    expect(logged).toEqual([expect.stringContaining('no module exports the schedule "nightly" any more')]);
    expect((await listed()).map(({ name, next }) => [name, next !== null])).toEqual([
      ["nightly", true],
      ["put by hand", true],
    ]);
    expect((await act("trigger", "nightly")).stdout).toMatch(/^started/);
    await act("remove", "nightly");
    await restart(mailer);
    expect(logged).toEqual([]);
  });
});
