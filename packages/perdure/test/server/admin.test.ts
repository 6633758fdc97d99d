import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "@perdure/host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JournalPage, RunDetail, RunPage, RunSummary, WaitView } from "@perdure/protocol";
import { ask, errorOf, openWorld, post, replaced, until, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld({ version: "1.2.3" });
});
afterAll(() => world.close());

const start = async (path: string, input?: unknown): Promise<string> =>
  (await post(`${world.ingress}${path}/send`, input)).json.runId;
const detail = async (run: string): Promise<RunDetail> => (await ask(`${world.admin}/runs/${run}`)).json;
const inStatus = (run: string, status: string): Promise<RunDetail> =>
  until(
    () => detail(run),
    (found) => found.run.status === status,
  );
const waiting = (run: string, kind: string): Promise<RunDetail> =>
  until(
    () => detail(run),
    ({ waits }) => waits.some((wait) => wait.kind === kind),
  );
const act = (run: string, action: string, body?: unknown) => post(`${world.admin}/runs/${run}/${action}`, body);

describe("the server", () => {
  it("tells its health, version and services", async () => {
    expect((await ask(`${world.admin}/health`)).json).toEqual({ status: "ok" });
    expect((await ask(`${world.admin}/version`)).json).toMatchObject({
      version: "1.2.3",
      node: process.version,
      deployment: "test",
    });
    const { services } = (await ask(`${world.admin}/services`)).json;
    expect(services.map(({ name }: { name: string }) => name)).toEqual(["mailer", "inbox", "order"]);
    expect((await ask(`${world.admin}/services/inbox`)).json).toMatchObject({ name: "inbox", kind: "object" });
    expect(errorOf(await ask(`${world.admin}/services/inbx`))).toMatchObject({ code: "P0030", status: 404 });
  });

  it("is 503 while the engine does not take questions", async () => {
    const starting = await openWorld({ wrap: (runtime) => replaced(runtime, { healthy: false }) });
    expect(await ask(`${starting.admin}/health`)).toMatchObject({ status: 503, json: { status: "starting" } });
    expect(await ask(`${starting.ingress}/health`)).toMatchObject({ status: 503 });
    await starting.close();
  });

  it("shows figures that Prometheus can read", async () => {
    await post(`${world.ingress}/mailer/echo`, 1);
    await post(`${world.ingress}/mailer/nobody`, 1);
    const answer = await ask(`${world.admin}/metrics`);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const sample = /^[a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? -?[0-9.eE+-]+$/;
    for (const line of answer.text.trimEnd().split("\n"))
      expect(line).toMatch(line.startsWith("#") ? /^# (?:HELP|TYPE) perdure_[a-z_]+ / : sample);
    expect(answer.text).toMatch(/^perdure_runs\{status="succeeded"\} [1-9]/m);
    expect(answer.text).toMatch(/^perdure_http_requests_total\{listener="ingress"\} [1-9]/m);
    expect(answer.text).toMatch(/^perdure_http_errors_total\{listener="ingress",code="P0030"\} [1-9]/m);
    expect(answer.text).toMatch(/^perdure_store_runs [1-9]/m);
    const names = [...answer.text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(new Set(names).size).toBe(names.length);
  });

  it("answers paths and methods that are none", async () => {
    expect(errorOf(await ask(`${world.admin}/nowhere`))).toMatchObject({ status: 404, code: "P0034" });
    const wrong = await ask(`${world.admin}/sql`);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("POST");
    expect(
      errorOf(
        await ask(`${world.admin}/sql`, { method: "POST", body: "x", headers: { "content-type": "text/plain" } }),
      ),
    ).toMatchObject({ status: 415 });
  });
});

describe("lists of runs", () => {
  it("are filtered, in both orders, and paged without gaps", async () => {
    const from = new Date(Date.now() - 1).toISOString();
    for (const note of ["a", "b", "c", "d", "e"]) await post(`${world.ingress}/inbox/paged/add`, note);
    const list = async (query: string): Promise<RunPage> =>
      (await ask(`${world.admin}/runs?service=inbox&handler=add&key=paged&${query}`)).json;
    const oldest = (await list("order=oldest")).runs;
    expect(oldest).toHaveLength(5);
    expect((await list("")).runs.map(({ seq }) => seq)).toEqual(oldest.map(({ seq }) => seq).toReversed());
    const seen: RunSummary[] = [];
    let cursor = "";
    do {
      const page = await list(`limit=2&order=oldest${cursor}`);
      seen.push(...page.runs);
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(oldest);
    expect((await list(`createdAfter=${from}`)).runs).toHaveLength(5);
    expect((await list(`createdBefore=${from}`)).runs).toHaveLength(0);
    expect((await list("status=succeeded,failed&status=killed")).runs).toHaveLength(5);
    expect((await list("status=failed")).runs).toHaveLength(0);
    expect(oldest[0]).toMatchObject({
      service: "inbox",
      key: "paged",
      status: "succeeded",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      parent: null,
    });
  });

  it.each([
    ["limit=0", "$.limit"],
    ["limit=many", "$.limit"],
    ["order=random", "$.order"],
    ["status=broken", "$.status"],
    ["createdAfter=yesterday", "$.createdAfter"],
    ["parent=x", "$.parent"],
    ["colour=red", "$.colour"],
    ["cursor=-1", "$.cursor"],
  ])("refuse what they do not know: %s", async (query, path) => {
    expect(errorOf(await ask(`${world.admin}/runs?${query}`))).toMatchObject({
      code: "P0034",
      status: 400,
      path,
      message: expect.stringContaining(path.slice(2)),
    });
  });
});

describe("one run", () => {
  it("shows input, result, journal and children", async () => {
    const answer = await post(`${world.ingress}/mailer/steps`, 2);
    const found = await detail(answer.headers.get("x-perdure-run") ?? "");
    expect(found).toMatchObject({
      run: { status: "succeeded", input: 2, result: { kind: "value", value: 2 }, failure: null },
      waits: [],
      entries: 2,
      live: false,
    });
    expect(found.journal).toMatchObject({
      entries: [
        {
          kind: "command",
          index: 1,
          id: 1,
          command: { type: "step", name: "step 0" },
          result: { kind: "value", value: "x".repeat(200) },
        },
        { index: 2, id: 2 },
      ],
      nextAfter: null,
    });
  });

  it("pages its journal, and measures payloads that are longer than asked for", async () => {
    const run = (await post(`${world.ingress}/mailer/steps`, 7)).headers.get("x-perdure-run") ?? "";
    const page = async (query: string): Promise<JournalPage> =>
      (await ask(`${world.admin}/runs/${run}/journal?${query}`)).json;
    const first = await page("limit=5&maxPayload=100");
    expect(first.entries[0]).toMatchObject({ result: { value: { omitted: 202 } } });
    expect(first.nextAfter).toBe(5);
    const second = await page(`limit=5&after=${first.nextAfter}`);
    expect(second.entries.map(({ index }) => index)).toEqual([6, 7]);
    expect(second.nextAfter).toBeNull();
    expect((await ask(`${world.admin}/runs/${run}?journalLimit=3`)).json).toMatchObject({
      entries: 7,
      journal: { nextAfter: 3 },
    });
  });

  it("counts long journals, and finds what they wait for at their end", async () => {
    const run = await start("/mailer/steps", 1_234);
    await inStatus(run, "succeeded");
    expect((await detail(run)).entries).toBe(1_234);
  });

  it("says which timer, child, awakeable or signal it waits for", async () => {
    const sleeping = await waiting(await start("/mailer/sleep", 3_600_000), "timer");
    const timer = sleeping.waits[0] as Extract<WaitView, { kind: "timer" }>;
    expect(timer).toMatchObject({ kind: "timer", command: 1, name: "nap" });
    expect(Date.parse(timer.at) - Date.now()).toBeGreaterThan(3_500_000);
    const parent = await waiting(await start("/mailer/parent"), "run");
    const child = parent.children.runs[0];
    expect(parent.waits).toEqual([
      { kind: "run", command: 1, runId: child?.id, target: { service: "mailer", handler: "listen" } },
    ]);
    expect(child?.parent).toEqual({ runId: parent.run.id, command: 1, awaited: true });
    expect((await ask(`${world.admin}/runs?parent=${parent.run.id}`)).json.runs).toHaveLength(1);
    expect((await waiting(await start("/mailer/wait"), "awakeable")).waits).toEqual([
      { kind: "awakeable", id: expect.stringMatching(/^sign_1/) },
    ]);
    expect((await waiting(await start("/mailer/listen", "go"), "signal")).waits).toEqual([
      { kind: "signal", signal: "go" },
    ]);
    const promise = await start("/order/waits/run", "book");
    expect((await waiting(promise, "promise")).waits).toEqual([{ kind: "promise", command: 1, name: "approved" }]);
  });

  it("is 404 where there is none, 400 where the id is none", async () => {
    const unknown = `run_1${"0".repeat(33)}`;
    for (const path of ["", "/journal"]) {
      expect(errorOf(await ask(`${world.admin}/runs/${unknown}${path}`))).toMatchObject({ code: "P0031", status: 404 });
      expect(errorOf(await ask(`${world.admin}/runs/nonsense${path}`))).toMatchObject({ code: "P0034", status: 400 });
    }
    for (const action of ["cancel", "kill", "pause", "resume", "restart", "purge", "signals/x"]) {
      expect(errorOf(await act(unknown, action))).toMatchObject({ code: "P0031", status: 404 });
    }
    // Also as the Restate API spells ids.
    const run = await start("/mailer/echo", 1);
    expect((await ask(`${world.admin}/runs/${run.replace("run_", "inv_")}`)).json.run.id).toBe(run);
  });
});

describe("actions", () => {
  it("pause, resume, signal", async () => {
    const run = await start("/mailer/listen", "go");
    await waiting(run, "signal");
    expect((await act(run, "pause")).json).toEqual({ runId: run, status: "paused" });
    expect(await detail(run)).toMatchObject({ run: { pausedBy: { message: "paused by request" } } });
    expect((await act(run, "resume", {})).json).toEqual({ runId: run, status: "running" });
    expect((await act(run, "signals/go", { a: 1 })).json.runId).toBe(run);
    expect(await inStatus(run, "succeeded")).toMatchObject({ run: { result: { value: { a: 1 } } } });
    expect(errorOf(await act(run, "pause"))).toMatchObject({ code: "P0033", status: 409 });
  });

  it("kill, purge", async () => {
    const run = await start("/mailer/listen", "never");
    expect(errorOf(await act(run, "purge"))).toMatchObject({ code: "P0033", status: 409 });
    expect((await act(run, "kill")).json).toEqual({ runId: run, status: "killed" });
    expect(await detail(run)).toMatchObject({ run: { failure: { errorCode: "P0003" }, result: { kind: "failure" } } });
    expect((await act(run, "purge")).json).toEqual({ runId: run, status: null });
    expect((await ask(`${world.admin}/runs/${run}`)).status).toBe(404);
  });

  it("restart from an entry", async () => {
    const run = (await post(`${world.ingress}/mailer/steps`, 4)).headers.get("x-perdure-run") ?? "";
    expect(errorOf(await act(run, "restart", { from: 9 }))).toMatchObject({ code: "P0033" });
    expect(errorOf(await act(run, "restart", { from: 0 }))).toMatchObject({ code: "P0034", path: "$.from" });
    expect(errorOf(await act(run, "restart", { form: 1 }))).toMatchObject({ code: "P0034", path: "$.form" });
    expect((await act(run, "restart", { from: 3 })).json).toMatchObject({ runId: run, status: "running" });
    expect(await inStatus(run, "succeeded")).toMatchObject({ entries: 4, run: { generation: 1 } });
    expect((await act(run, "restart")).status).toBe(200);
  });

  it("fork from an entry, or from the beginning with another input", async () => {
    const run = (await post(`${world.ingress}/mailer/steps`, 4)).headers.get("x-perdure-run") ?? "";
    const fork = (await act(run, "fork", { at: 2, note: { tools: [] } })).json;
    expect(fork).toMatchObject({ status: "running" });
    const { run: forked, journal } = await inStatus(fork.runId, "succeeded");
    expect(forked).toMatchObject({ forkedFrom: { runId: run, entry: 2 }, idempotencyKey: null, parent: null });
    expect(journal.entries.slice(0, 2)).toEqual((await detail(run)).journal.entries.slice(0, 2));
    expect(journal.entries[2]).toMatchObject({
      kind: "signal",
      signal: "perdure.fork",
      payload: { value: { tools: [] } },
    });
    expect(journal.entries).toHaveLength(5);
    const anew = (await act(run, "fork", { at: 0, input: 2 })).json;
    expect(await inStatus(anew.runId, "succeeded")).toMatchObject({ run: { result: { value: 2 }, forkedFrom: null } });
    expect((await act(run, "fork")).json).toMatchObject({ status: "running" });
    expect(errorOf(await act(run, "fork", { at: 2, input: 2 }))).toMatchObject({ code: "P0033", status: 409 });
    expect(errorOf(await act(run, "fork", { at: 99 }))).toMatchObject({ code: "P0033" });
    expect(errorOf(await act(run, "fork", { key: "k" }))).toMatchObject({ code: "P0033" });
    expect(errorOf(await act(run, "fork", { at: -1 }))).toMatchObject({ code: "P0034", path: "$.at" });
    expect(errorOf(await act(run, "fork", { entry: 1 }))).toMatchObject({ code: "P0034", path: "$.entry" });
    expect(errorOf(await act(`run_1${"0".repeat(33)}`, "fork"))).toMatchObject({ code: "P0031", status: 404 });
  });

  it("fork objects and workflows under keys of their own", async () => {
    const held = await start("/inbox/forked/hold");
    await waiting(held, "signal");
    const fork = (await act(held, "fork")).json.runId;
    expect((await detail(fork)).run.key).toMatch(/^forked~[0-9A-Za-z]{6}$/);
    await waiting(fork, "signal");
    await act(fork, "signals/release", "mine");
    expect(await inStatus(fork, "succeeded")).toMatchObject({ run: { result: { value: "mine" } } });
    expect((await detail(held)).run.status).toMatch(/running|suspended/);
    const flow = await start("/order/forked/run", "book");
    await waiting(flow, "promise");
    const other = (await act(flow, "fork", { key: "forked too" })).json.runId;
    expect((await waiting(other, "promise")).run.key).toBe("forked too");
    await post(`${world.ingress}/order/forked%20too/approve`);
    expect(await inStatus(other, "succeeded")).toMatchObject({ run: { result: { value: { approved: true } } } });
    expect(errorOf(await act(flow, "fork", { key: "forked too" }))).toMatchObject({ code: "P0033", status: 409 });
    await act(held, "kill");
    await act(flow, "kill");
  });

  it("rewind to an entry, and keep what was as a branch", async () => {
    const run = (await post(`${world.ingress}/mailer/steps`, 3)).headers.get("x-perdure-run") ?? "";
    const before = (await detail(run)).journal.entries;
    expect(errorOf(await act(run, "rewind"))).toMatchObject({ code: "P0034" });
    expect(errorOf(await act(run, "rewind", { at: 9 }))).toMatchObject({ code: "P0033" });
    const { branch, ...answer } = (await act(run, "rewind", { at: 1 })).json;
    expect(answer).toEqual({ runId: run, status: "running" });
    expect(await inStatus(run, "succeeded")).toMatchObject({ entries: 3, run: { generation: 1 } });
    const kept = await detail(branch);
    expect(kept).toMatchObject({ run: { status: "succeeded", forkedFrom: { runId: run, entry: 3 } } });
    expect(kept.journal.entries).toEqual(before);
  });

  it("list and name moments", async () => {
    const run = await start("/mailer/listen", "go");
    const at = `${world.admin}/runs/${run}/moments`;
    expect((await ask(at)).json).toEqual({ moments: [] });
    const name = (body: unknown, entry: number | string = 1) =>
      ask(`${at}/${entry}`, {
        method: "PATCH",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect(errorOf(await name({ name: "here" }))).toMatchObject({ code: "P0033", status: 409 });
    for (const wrong of [{}, { name: "12" }, { name: "x".repeat(101) }])
      expect(errorOf(await name(wrong)), JSON.stringify(wrong)).toMatchObject({ code: "P0034" });
    expect(errorOf(await name({ name: "here" }, "one"))).toMatchObject({ code: "P0034", path: "$.entry" });
    expect(errorOf(await ask(`${world.admin}/runs/run_1${"0".repeat(33)}/moments`))).toMatchObject({ code: "P0031" });
    await act(run, "kill");
  });

  it("answer awakeables", async () => {
    const awakeable = async (): Promise<{ run: string; id: string }> => {
      const run = await start("/mailer/wait");
      const { waits } = await waiting(run, "awakeable");
      return { run, id: (waits[0] as { id: string }).id };
    };
    const first = await awakeable();
    expect((await post(`${world.admin}/awakeables/${first.id}/resolve`, [1])).json).toEqual({
      runId: first.run,
      status: null,
    });
    expect(await inStatus(first.run, "succeeded")).toMatchObject({ run: { result: { value: [1] } } });
    const second = await awakeable();
    await post(`${world.admin}/awakeables/${second.id}/reject`, { message: "no", code: 422 });
    expect(await inStatus(second.run, "failed")).toMatchObject({ run: { failure: { code: 422, message: "no" } } });
    expect((await post(`${world.admin}/awakeables/x/resolve`)).status).toBe(400);
  });

  it("settle an effect of which nobody knows", async () => {
    const settle = async (body: unknown): Promise<RunDetail> => {
      const run = await start("/mailer/once");
      await inStatus(run, "paused");
      expect(errorOf(await act(run, "effects/9/settle", { happened: true }))).toMatchObject({ code: "P0033" });
      expect((await act(run, "effects/1/settle", body)).status).toBe(200);
      return until(
        () => detail(run),
        (found) => ["succeeded", "failed"].includes(found.run.status),
      );
    };
    expect(await settle({ happened: true, value: { paid: 5 } })).toMatchObject({
      run: { result: { kind: "value", value: { paid: 5 } } },
    });
    expect(await settle({ happened: true })).toMatchObject({ run: { result: { kind: "void" } } });
    expect(await settle({ failure: { message: "declined", code: 402 } })).toMatchObject({
      run: { failure: { message: "declined", code: 402 } },
    });
    const run = await start("/mailer/once");
    await inStatus(run, "paused");
    for (const body of [{}, { happened: false, value: 1 }, { happened: true, failure: { message: "x" } }]) {
      expect((await act(run, "effects/1/settle", body)).status).toBe(400);
    }
    expect((await act(run, "effects/1/settle", { happened: false })).status).toBe(200);
    expect(errorOf(await act(run, "effects/one/settle", { happened: true }))).toMatchObject({
      code: "P0034",
      path: "$.command",
    });
  });
});

describe("bulk actions", () => {
  it("touch what the filter matches, or only say so", async () => {
    const runs = await Promise.all([1, 2, 3].map((at) => start(`/inbox/bulk${at}/hold`)));
    await start("/inbox/other/add", "x");
    for (const run of runs) await waiting(run, "signal");
    const filter = { service: "inbox", handler: "hold" };
    const dry = (await post(`${world.admin}/runs/pause`, { filter, dryRun: true })).json;
    expect(dry).toMatchObject({ dryRun: true, matched: 3, done: 0, failed: [] });
    expect(new Set(dry.runs)).toEqual(new Set(runs));
    expect((await detail(runs[0] ?? "")).run.status).not.toBe("paused");
    expect((await post(`${world.admin}/runs/pause`, { filter })).json).toMatchObject({ matched: 3, done: 3 });
    expect(
      (await post(`${world.admin}/runs/resume`, { filter: { ...filter, status: ["succeeded"] } })).json,
    ).toMatchObject({ matched: 0 });
    expect((await post(`${world.admin}/runs/resume`, { filter })).json).toMatchObject({ done: 3 });
    expect((await post(`${world.admin}/runs/cancel`, { filter: { ...filter, key: "bulk1" } })).json).toMatchObject({
      matched: 1,
      done: 1,
    });
    expect((await post(`${world.admin}/runs/kill`, { filter })).json).toMatchObject({ failed: [] });
    for (const run of runs) expect(["cancelled", "killed"]).toContain((await detail(run)).run.status);
  });

  it("need a filter, or the word for all", async () => {
    expect(errorOf(await post(`${world.admin}/runs/kill`, { filter: {} }))).toMatchObject({
      code: "P0034",
      message: expect.stringContaining('"all": true'),
    });
    expect(errorOf(await post(`${world.admin}/runs/kill`, {}))).toMatchObject({ path: "$.filter" });
    expect(errorOf(await post(`${world.admin}/runs/kill`, { filter: { status: ["gone"] } }))).toMatchObject({
      path: "$.filter.status[0]",
    });
    expect((await post(`${world.admin}/runs/kill`, { filter: {}, dryRun: true })).status).toBe(200);
    expect((await post(`${world.admin}/runs/kill`, { filter: {}, all: true })).status).toBe(200);
  });

  it("work through more runs than one page holds", async () => {
    const many = await openWorld();
    await Promise.all(Array.from({ length: 1_100 }, () => post(`${many.ingress}/mailer/hello/send?delay=1d`)));
    const answer = (await post(`${many.admin}/runs/cancel`, { filter: { handler: "hello" } })).json;
    expect(answer).toMatchObject({ matched: 1_100, done: 1_100, failed: [] });
    expect(answer.runs).toHaveLength(1_000);
    await many.close();
  });
});

describe("state", () => {
  it("is read and edited", async () => {
    await post(`${world.ingress}/inbox/s%2F1/add`, "a");
    await post(`${world.ingress}/inbox/s2/add`, "b");
    const keys = (await ask(`${world.admin}/state/inbox?limit=1000`)).json;
    expect(keys.keys).toEqual(expect.arrayContaining(["s/1", "s2"]));
    expect((await ask(`${world.admin}/state/inbox?limit=1&after=s/1`)).json).toEqual({ keys: ["s2"], nextAfter: "s2" });
    const url = `${world.admin}/state/inbox/s%2F1`;
    expect((await ask(url)).json).toEqual({ service: "inbox", key: "s/1", state: { notes: ["a"] } });
    const edit = (body: unknown) =>
      ask(url, { method: "PATCH", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    expect((await edit({ set: { notes: ["x"], count: 1 } })).json.state).toEqual({ notes: ["x"], count: 1 });
    expect((await edit({ clear: ["count"] })).json.state).toEqual({ notes: ["x"] });
    for (const body of [{}, { set: { a: 1 }, clear: ["a"] }, { put: {} }]) expect((await edit(body)).status).toBe(400);
    expect((await post(`${world.ingress}/inbox/s%2F1/add`, "y")).json.notes).toEqual(["x", "y"]);
  });

  it("is not edited while a run has the key's turn, unless forced", async () => {
    const run = await start("/inbox/held/hold");
    await waiting(run, "signal");
    const edit = (body: unknown) =>
      ask(`${world.admin}/state/inbox/held`, {
        method: "PATCH",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
    expect(errorOf(await edit({ set: { a: 1 } }))).toMatchObject({
      code: "P0033",
      status: 409,
      message: expect.stringContaining(run),
    });
    expect((await edit({ set: { a: 1 }, force: true })).json.state).toEqual({ a: 1 });
  });

  it("is not edited where it is not what the edit expects", async () => {
    await post(`${world.ingress}/inbox/expected/add`, "a");
    const edit = (body: unknown) =>
      ask(`${world.admin}/state/inbox/expected`, {
        method: "PATCH",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
    const before = { values: { notes: ["a"] }, absent: ["count"] };
    expect((await edit({ set: { notes: ["b"], count: 1 }, expect: before })).json.state).toEqual({
      notes: ["b"],
      count: 1,
    });
    for (const expect_ of [before, { absent: ["count"] }, { values: { gone: null } }])
      expect(errorOf(await edit({ set: { notes: [] }, expect: expect_ }))).toMatchObject({
        code: "P0033",
        status: 409,
      });
    expect((await ask(`${world.admin}/state/inbox/expected`)).json.state).toEqual({ notes: ["b"], count: 1 });
  });

  it("belongs to objects and workflows that are served", async () => {
    expect((await ask(`${world.admin}/state/nobody`)).status).toBe(404);
    expect((await ask(`${world.admin}/state/mailer`)).status).toBe(400);
    expect((await ask(`${world.admin}/state/inbox/empty`)).json).toEqual({ service: "inbox", key: "empty", state: {} });
  });

  it("is not asked in SQL where the store speaks none", async () => {
    expect(errorOf(await post(`${world.admin}/sql`, { query: "select 1" }))).toMatchObject({
      code: "P0034",
      status: 400,
    });
    expect(errorOf(await post(`${world.admin}/sql`, { query: "" }))).toMatchObject({ path: "$.query" });
    const error = errorOf(
      await ask(`${world.admin}/sql`, {
        method: "POST",
        body: '{"query":}',
        headers: { "content-type": "application/json" },
      }),
    );
    expect(error).toMatchObject({ code: "P0034", path: "$.query", metadata: { position: "9" } });
  });

  it("is asked in SQL over SQLite, for reading only", async () => {
    const directory = mkdtempSync(join(tmpdir(), "perdure-sql-"));
    const other = await openWorld({ store: await openSqliteStore({ directory }) });
    await post(`${other.ingress}/inbox/sql/add`, "x");
    const sql = (query: string, more = {}) => post(`${other.admin}/sql`, { query, ...more });
    expect((await sql("select count(*) as runs from runs")).json).toEqual({
      columns: ["runs"],
      rows: [[1]],
      truncated: false,
    });
    const many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 50) select i from n";
    expect((await sql(many, { limit: 10 })).json).toMatchObject({ rows: { length: 10 }, truncated: true });
    for (const query of ["delete from runs", "select 1; select 2", "nonsense", "pragma journal_mode = off"]) {
      expect(errorOf(await sql(query))).toMatchObject({ code: "P0034", status: 400 });
    }
    await other.close();
    rmSync(directory, { recursive: true });
  });

  it("answers SQL with columns and rows, in JSON", async () => {
    const sql = async () => ({
      columns: ["a", "b", "c", "d"],
      rows: [[1n, 2n ** 60n, new Uint8Array([1]), null]],
      truncated: false,
    });
    const other = await openWorld({ wrap: (runtime) => replaced(runtime, { reader: { sql } as never }) });
    expect((await post(`${other.admin}/sql`, { query: "select" })).json).toEqual({
      columns: ["a", "b", "c", "d"],
      rows: [[1, "1152921504606846976", { base64: "AQ==" }, null]],
      truncated: false,
    });
    await other.close();
  });
});

it("keeps bytes apart from JSON in what it shows", async () => {
  const { headers } = await ask(`${world.ingress}/mailer/bytes`, {
    method: "POST",
    body: new Uint8Array([1, 2]),
    headers: { "content-type": "image/png" },
  });
  const found = await detail(headers.get("x-perdure-run") ?? "");
  expect(found.run).toMatchObject({
    input: { base64: "AQI=" },
    headers: { "content-type": "image/png" },
    result: { value: { base64: "AgE=" } },
  });
});
