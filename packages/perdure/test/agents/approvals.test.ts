// Approvals, the audit log and the switch for writes on the real engine: a week passes in no time, and hosts die.

import {
  approvals,
  ALL_SWITCHES,
  audit,
  controls,
  newApprovalId,
  verifyChain,
  writeModeOf,
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalView,
  type AuditPage,
  type WriteControl,
} from "@perdure/agents";
import { CancelledError, isFinished, type Result, type Run, type RunId } from "@perdure/protocol";
import { service, type AnyDefinition } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import { crashAtEveryEntry, TestWorld } from "../../src/testing.ts";

const HOUR_MS = 3_600_000;
const REQUEST: ApprovalRequest = {
  kind: "tool",
  title: "publish the report",
  agent: "researcher",
  session: "s1",
  tool: "publish",
  input: { to: "web" },
  approvers: ["ada"],
  escalate: [{ after: "1h", to: ["grace"] }],
  expires: "1d",
};

const asker = service("asker", {
  async ask(ctx, request: ApprovalRequest) {
    return ctx.call(approvals, await newApprovalId(ctx)).run(request);
  },
  /** Asks, and says afterwards what the log has of it. */
  async askAndRead(ctx, request: ApprovalRequest) {
    const decision = await ctx
      .call(approvals, await newApprovalId(ctx))
      .run(request)
      .catch((error: unknown) => (error instanceof CancelledError ? "cancelled" : Promise.reject(error)));
    await ctx.call(audit, "main").record({ actor: "asker", action: "asker.ended", subject: "asker" });
    const { entries } = await ctx.call(audit, "main").read();
    return { decision, actions: entries.map(({ action }) => action), chain: verifyChain(entries).ok };
  },
  async guessable(ctx, request: ApprovalRequest) {
    return ctx.call(approvals, "approval-1").run(request);
  },
  async mode(ctx, session: string) {
    return writeModeOf(ctx, "researcher", session);
  },
});

const services: readonly AnyDefinition[] = [asker, approvals, audit, controls];

async function openWorld(): Promise<TestWorld> {
  return new TestWorld({ services }).open();
}

function valueOf<T>(result: Result | null): T {
  if (result?.kind !== "value") throw new Error(`no value: ${JSON.stringify(result)}`);
  return JSON.parse(String(result.value)) as T;
}

async function openApprovals(world: TestWorld): Promise<readonly Run[]> {
  const runs = await world.runs();
  return runs.filter((run) => run.service === approvals.name && run.handler === "run" && !isFinished(run.status));
}

/** Starts a run that asks, and gives it with the id of its approval. */
async function ask(world: TestWorld, request: ApprovalRequest = REQUEST, name = "one"): Promise<[RunId, string]> {
  const run = await world.submit({ service: "asker", handler: "ask" }, request, name);
  await world.settle();
  const asked = (await openApprovals(world)).find((open) => open.parent?.run === run);
  return [run, asked?.key ?? "nothing was asked"];
}

const SMALLEST_BATCHES = { batchEventsMax: 1, timersPerBatchMax: 1 };

/** Does something while the `nth` commit from now is under way. */
function atCommit(world: TestWorld, nth: number, act: () => Promise<unknown>): void {
  let commits = 0;
  world.onCommit(() => {
    commits += 1;
    if (commits === nth) queueMicrotask(() => void act());
    return "apply";
  });
}

let calls = 0;
/** Calls a handler from outside, while time stands still. */
async function call(world: TestWorld, target: string, key: string, handler: string, input?: unknown): Promise<Result> {
  calls += 1;
  const run = await world.submit({ service: target, key, handler }, input, `call ${calls}`);
  await world.settle();
  const record = await world.run(run);
  if (record?.result == null) throw new Error(`${target}/${key}/${handler} did not end: ${JSON.stringify(record)}`);
  return record.result;
}

const answer = (world: TestWorld, id: string, given: ApprovalAnswer): Promise<Result> =>
  call(world, approvals.name, id, "answer", given);
const show = async (world: TestWorld, id: string): Promise<ApprovalView> =>
  valueOf<ApprovalView>(await call(world, approvals.name, id, "show"));
const auditOf = async (world: TestWorld): Promise<AuditPage> =>
  valueOf<AuditPage>(await call(world, audit.name, "main", "read"));
const actions = async (world: TestWorld): Promise<readonly string[]> =>
  (await auditOf(world)).entries.map(({ actor, action }) => `${actor} ${action}`);
const outputOf = async (world: TestWorld, run: RunId): Promise<Result | null> => (await world.run(run))?.result ?? null;
const failure = (errorCode: string, code: number): object => ({ kind: "failure", failure: { errorCode, code } });

describe("an approval", () => {
  test("is answered, with edits, and the one who asked gets exactly that", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world);
    expect(id).toMatch(/^apr_[0-9a-f]{40}$/);
    expect(await show(world, id)).toMatchObject({
      state: "open",
      request: REQUEST,
      approvers: ["ada"],
      run: expect.any(String),
    });
    await world.advance(HOUR_MS / 2);
    const given = { decision: "approved", by: "ada", input: { to: "intranet" }, comment: "not to the web" } as const;
    const told = valueOf<ApprovalDecision>(await answer(world, id, given));
    expect(told).toEqual({ ...given, at: world.now });
    expect(valueOf(await outputOf(world, run))).toEqual(told);
    expect(await show(world, id)).toMatchObject({ state: "approved", decision: told, approvers: [] });
    expect(await openApprovals(world)).toEqual([]);
    expect(await actions(world)).toEqual(["researcher/s1 approval.asked", "ada approval.approved"]);
    expect((await auditOf(world)).entries[1]).toMatchObject({ subject: id, details: { input: { to: "intranet" } } });
  });

  test("takes one answer: the second is told who was first", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world, { ...REQUEST, approvers: ["ada", "grace"] });
    await answer(world, id, { decision: "rejected", by: "ada" });
    const second = await answer(world, id, { decision: "approved", by: "grace" });
    expect(second).toMatchObject(failure("P0081", 409));
    expect(second).toMatchObject({
      failure: { message: expect.stringContaining("rejected by ada"), metadata: { by: "ada" } },
    });
    expect(valueOf(await outputOf(world, run))).toMatchObject({ decision: "rejected", by: "ada" });
  });

  test("takes one of two answers that arrive together", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world, { ...REQUEST, approvers: ["ada", "grace"] });
    const target = { service: approvals.name, key: id, handler: "answer" };
    const [one, other] = await Promise.all([
      world.submit(target, { decision: "approved", by: "ada" }, "a"),
      world.submit(target, { decision: "rejected", by: "grace" }, "b"),
    ]);
    await world.settle();
    const results = await Promise.all([one, other].map((submitted) => outputOf(world, submitted)));
    expect(results.map((result) => result?.kind ?? "none").toSorted((a, b) => a.localeCompare(b))).toEqual([
      "failure",
      "value",
    ]);
    const accepted = results.find((result) => result?.kind === "value") ?? null;
    expect(valueOf(await outputOf(world, run))).toEqual(valueOf(accepted));
    expect(results.find((result) => result?.kind === "failure")).toMatchObject(failure("P0081", 409));
  });

  test("refuses who is no approver, writes that down, and stays open", async () => {
    const world = await openWorld();
    const [, id] = await ask(world);
    const refused = await answer(world, id, { decision: "approved", by: "mallory" });
    expect(refused).toMatchObject(failure("P0082", 403));
    expect(refused).toMatchObject({ failure: { message: expect.stringContaining("ada may, now") } });
    expect(await show(world, id)).toMatchObject({ state: "open" });
    expect(await actions(world)).toContain("mallory approval.refused");
  });

  test("lets anyone who holds its id answer where it names nobody", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world, { kind: "custom", title: "go on?" });
    await answer(world, id, { decision: "approved", by: "anyone" });
    expect(valueOf(await outputOf(world, run))).toMatchObject({ decision: "approved", by: "anyone" });
  });

  test("escalates: from then on, and not before, others may answer", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world);
    await world.advance(HOUR_MS - 1);
    expect(await answer(world, id, { decision: "approved", by: "grace" })).toMatchObject(failure("P0082", 403));
    expect(await actions(world)).not.toContain("perdure approval.escalated");
    await world.advance(1);
    expect(await show(world, id)).toMatchObject({ approvers: ["ada", "grace"] });
    expect(await actions(world)).toContain("perdure approval.escalated");
    await answer(world, id, { decision: "approved", by: "grace" });
    expect(valueOf(await outputOf(world, run))).toMatchObject({ decision: "approved", by: "grace" });
  });

  test("escalates in order of time, however the steps are listed", async () => {
    const world = await openWorld();
    const escalate = [
      { after: "3h", to: ["third"] },
      { after: "1h", to: ["first"] },
      { after: "2h", to: ["second"] },
    ];
    const [, id] = await ask(world, { ...REQUEST, escalate });
    await world.advance(2 * HOUR_MS);
    expect((await show(world, id)).approvers).toEqual(["ada", "first", "second"]);
    await world.advance(HOUR_MS);
    const told = (await auditOf(world)).entries.filter(({ action }) => action === "approval.escalated");
    expect(told.map(({ details }) => (details as { to: string[] }).to)).toEqual([["first"], ["second"], ["third"]]);
  });

  test("expires: the one who asked goes on, and no answer counts any more", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world);
    const { askedAt } = await show(world, id);
    await world.finish(run);
    expect(valueOf(await outputOf(world, run))).toEqual({ decision: "expired", at: askedAt + 24 * HOUR_MS });
    expect(world.now).toBe(askedAt + 24 * HOUR_MS);
    expect(await answer(world, id, { decision: "approved", by: "ada" })).toMatchObject(failure("P0081", 409));
    expect(await show(world, id)).toMatchObject({ state: "expired", approvers: [] });
    expect(await actions(world)).toEqual([
      "researcher/s1 approval.asked",
      "perdure approval.escalated",
      "perdure approval.expired",
    ]);
  });

  test("is over when its time is, though the timer may not have fired yet", async () => {
    const world = await openWorld();
    const [, id] = await ask(world);
    world.memory.now += 24 * HOUR_MS; // As after downtime: the clock is there before the timers are.
    calls += 1;
    const target = { service: approvals.name, key: id, handler: "answer" };
    const run = await world.submit(target, { decision: "approved", by: "ada" }, `call ${calls}`);
    await world.settle();
    expect(await outputOf(world, run)).toMatchObject(failure("P0081", 409));
  });

  test("waits for ever where it does not expire", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world, { kind: "custom", title: "go on?" });
    await world.advance(365 * 24 * HOUR_MS);
    expect(await show(world, id)).toMatchObject({ state: "open" });
    await answer(world, id, { decision: "approved", by: "ada" });
    expect(valueOf(await outputOf(world, run))).toMatchObject({ at: world.now });
  });

  test("is not mixed up with others that are open at the same time", async () => {
    const world = await openWorld();
    const names = ["a", "b", "c", "d", "e"];
    const asked: [string, RunId, string][] = [];
    for (const name of names) asked.push([name, ...(await ask(world, { kind: "custom", title: name }, name))]);
    expect(new Set(asked.map(([, , id]) => id)).size).toBe(names.length);
    for (const [name, , id] of [...asked].reverse())
      await answer(world, id, { decision: "approved", by: "x", input: name });
    for (const [name, run] of asked) expect(valueOf(await outputOf(world, run))).toMatchObject({ input: name });
  });
});

describe("an approval that nobody waits for", () => {
  test("is withdrawn when whoever asks is cancelled", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world);
    await world.cancel(run);
    await world.settle();
    expect((await world.run(run))?.status).toBe("cancelled");
    expect(await show(world, id)).toMatchObject({ state: "withdrawn", withdrawnAt: world.now });
    expect(await answer(world, id, { decision: "approved", by: "ada" })).toMatchObject(failure("P0081", 409));
    expect(await actions(world)).toEqual(["researcher/s1 approval.asked", "researcher/s1 approval.withdrawn"]);
  });

  test("says the same to everybody, wherever a cancel meets an answer", async () => {
    const seen = new Set<string>();
    const target = { service: approvals.name, handler: "answer" };
    for (let commit = -8; commit <= 12; commit += 1) {
      const world = await new TestWorld({ services, limits: SMALLEST_BATCHES }).open();
      const [run, id] = await ask(world);
      const answering = (): Promise<RunId> =>
        world.submit({ ...target, key: id }, { decision: "approved", by: "ada" }, "answer");
      const cancelling = (): Promise<void> => world.cancel(run);
      const [first, second] = commit < 0 ? [cancelling, answering] : [answering, cancelling];
      atCommit(world, Math.abs(commit), second);
      await first();
      await world.settle();
      const told = await outputOf(world, await answering());
      const { state } = await show(world, id);
      expect(state, `commit ${commit}`).toBe(told?.kind === "value" ? "approved" : "withdrawn");
      expect((await actions(world)).slice(1), `commit ${commit}`).toEqual([
        told?.kind === "value" ? "ada approval.approved" : "researcher/s1 approval.withdrawn",
      ]);
      seen.add(`${state}, ${(await world.run(run))?.status}`);
    }
    expect([...seen].sort()).toEqual(["approved, cancelled", "approved, succeeded", "withdrawn, cancelled"]);
  });

  test("leaves no question open in the log, wherever a cancel meets its asking", async () => {
    const seen = new Set<string>();
    const target = { service: approvals.name, key: `apr_${"1".repeat(40)}`, handler: "run" };
    for (let commit = 1; commit <= 20; commit += 1) {
      const world = await new TestWorld({ services, limits: SMALLEST_BATCHES }).open();
      const run = world.catalog.workflowId(target.service, target.key);
      atCommit(world, commit, () => world.cancel(run));
      await world.submit(target, REQUEST);
      await world.settle();
      await world.cancel(run); // Where it had come to rest before.
      await world.settle();
      expect((await world.run(run))?.status, `commit ${commit}`).toBe("cancelled");
      seen.add((await actions(world)).join());
    }
    expect([...seen].sort()).toEqual(["", "researcher/s1 approval.asked,researcher/s1 approval.withdrawn"]);
  });

  test("is withdrawn, and says so once, however often it is cancelled", async () => {
    const world = await openWorld();
    await ask(world);
    const [asked] = await openApprovals(world);
    for (let times = 0; times < 4; times += 1) await world.cancel(asked?.id as RunId);
    await world.settle();
    expect(await actions(world)).toEqual(["researcher/s1 approval.asked", "researcher/s1 approval.withdrawn"]);
  });

  test("takes no answer after its run was killed", async () => {
    const world = await openWorld();
    const [run, id] = await ask(world);
    await world.kill(run);
    await world.settle();
    expect(await show(world, id)).toMatchObject({ state: "withdrawn" });
    expect(await answer(world, id, { decision: "approved", by: "ada" })).toMatchObject(failure("P0081", 409));
  });

  test("that was never asked is not there", async () => {
    const world = await openWorld();
    const id = `apr_${"0".repeat(40)}`;
    expect(await answer(world, id, { decision: "approved", by: "ada" })).toMatchObject(failure("P0080", 404));
    expect(await call(world, approvals.name, id, "show")).toMatchObject(failure("P0080", 404));
  });
});

describe("what cannot be meant is refused", () => {
  test.each<[string, ApprovalRequest, string]>([
    ["a duration that is none", { ...REQUEST, expires: "soon" }, '$.expires: "soon" is not a duration'],
    ["an escalation after the end", { ...REQUEST, expires: "1h" }, "$.escalate[0].after: 1h is not before"],
    ["nobody to answer", { kind: "custom", title: "t", approvers: [] }, "$.approvers: nobody could ever answer"],
    ["an option that is misspelt", { ...REQUEST, ...{ expire: "1h" } }, '"expire"'],
  ])("%s", async (_, request, message) => {
    const world = await openWorld();
    const run = await world.submit({ service: "asker", handler: "ask" }, request);
    expect(await world.finish(run)).toMatchObject({
      failure: { errorCode: "P0021", message: expect.stringContaining(message) },
    });
    expect(await actions(world)).toEqual([]);
  });

  test("an id that can be guessed", async () => {
    const world = await openWorld();
    const run = await world.submit({ service: "asker", handler: "guessable" }, REQUEST);
    expect(await world.finish(run)).toMatchObject({
      failure: { errorCode: "P0021", message: expect.stringContaining("newApprovalId") },
    });
  });

  test("an edit of what is rejected", async () => {
    const world = await openWorld();
    const [, id] = await ask(world);
    const result = await answer(world, id, { decision: "rejected", by: "ada", input: 1 });
    expect(result).toMatchObject({ failure: { errorCode: "P0021", message: expect.stringContaining("$.input") } });
    expect(await show(world, id)).toMatchObject({ state: "open" });
  });
});

describe("crashed at every entry", () => {
  const outside = (given: ApprovalAnswer) => async (world: TestWorld) => {
    const [open] = await openApprovals(world);
    if (open?.key == null) return false;
    const target = { service: approvals.name, key: open.key, handler: "answer" };
    const before = await world.runs();
    const run = await world.submit(target, given, "outside");
    return before.every(({ id }) => id !== run);
  };
  const crash = { services, target: { service: "asker", handler: "askAndRead" } };
  const withoutTime = (result: Result): unknown => {
    const { decision, ...rest } = valueOf<{ decision: ApprovalDecision }>(result);
    return JSON.stringify({ ...rest, decision: typeof decision === "string" ? decision : { ...decision, at: 0 } });
  };
  const same = (reference: Result, actual: Result): boolean => withoutTime(reference) === withoutTime(actual);

  test("an approval is answered once, and the log has it once", async () => {
    const given = { decision: "approved", by: "ada", input: { to: "intranet" } } as const;
    const report = await crashAtEveryEntry({ ...crash, input: REQUEST, outside: outside(given), same });
    expect(valueOf(report.result)).toMatchObject({
      decision: given,
      actions: ["approval.asked", "approval.approved", "asker.ended"],
      chain: true,
    });
    expect(report.crashes).toBe(report.commits * 2);
  });

  test("an approval escalates and expires once", async () => {
    const report = await crashAtEveryEntry({ ...crash, input: REQUEST, same });
    expect(valueOf(report.result)).toMatchObject({
      decision: { decision: "expired" },
      actions: ["approval.asked", "approval.escalated", "approval.expired", "asker.ended"],
      chain: true,
    });
  });

  test("a cancelled approval is withdrawn once", async () => {
    const report = await crashAtEveryEntry({
      ...crash,
      input: REQUEST,
      same,
      outside: async (world) => {
        const [open] = await openApprovals(world);
        if (open === undefined) return false;
        await world.cancel(open.id);
        return true;
      },
    });
    expect(valueOf(report.result)).toMatchObject({
      decision: "cancelled",
      actions: ["approval.asked", "approval.withdrawn", "asker.ended"],
      chain: true,
    });
  });
});

describe("the switch for writes", () => {
  const set = (world: TestWorld, target: string, change: object): Promise<Result> =>
    call(world, controls.name, ALL_SWITCHES, "set", { target, ...change });
  const mode = async (world: TestWorld, session = "s1"): Promise<WriteControl> => {
    calls += 1;
    const run = await world.submit({ service: "asker", handler: "mode" }, session, `mode ${calls}`);
    return valueOf<WriteControl>(await world.finish(run));
  };

  test("allows where nobody has said anything", async () => {
    expect(await mode(await openWorld())).toEqual({ writes: "allow", target: "*" });
  });

  test("counts at once for the next that asks, and says who and why", async () => {
    const world = await openWorld();
    expect(await mode(world)).toMatchObject({ writes: "allow" });
    await set(world, "researcher", { writes: "deny", by: "ada", reason: "it deletes" });
    expect(await mode(world)).toEqual({
      writes: "deny",
      by: "ada",
      reason: "it deletes",
      at: world.now,
      target: "researcher",
    });
    expect(valueOf(await set(world, "researcher", { writes: "allow", by: "ada" }))).toMatchObject({ writes: "deny" });
    expect(await mode(world)).toMatchObject({ writes: "allow" });
  });

  test.each([
    ["*", "s1", "deny"],
    ["researcher", "s1", "deny"],
    ["researcher/s1", "s1", "deny"],
    ["researcher/s1", "s2", "allow"],
    ["writer", "s1", "allow"],
  ])("set for %s, session %s is at %s", async (target, session, writes) => {
    const world = await openWorld();
    await set(world, target, { writes: "deny", by: "ada" });
    expect(await mode(world, session)).toMatchObject({ writes });
  });

  test("the most restrictive of the switches counts, wherever it stands", async () => {
    const world = await openWorld();
    await set(world, "*", { writes: "ask", by: "ada" });
    await set(world, "researcher/s1", { writes: "allow", by: "ada" });
    expect(await mode(world)).toMatchObject({ writes: "ask", target: "*" });
    await set(world, "researcher/s1", { writes: "deny", by: "ada" });
    expect(await mode(world)).toMatchObject({ writes: "deny", target: "researcher/s1" });
  });

  test("each change is in the audit log", async () => {
    const world = await openWorld();
    await set(world, "*", { writes: "deny", by: "ada", reason: "night" });
    await set(world, "*", { writes: "allow", by: "grace" });
    const { entries } = await auditOf(world);
    expect(entries).toMatchObject([
      { actor: "ada", action: "writes.changed", subject: "*", details: { from: "allow", to: "deny", reason: "night" } },
      { actor: "grace", action: "writes.changed", subject: "*", details: { from: "deny", to: "allow" } },
    ]);
    expect(verifyChain(entries)).toMatchObject({ ok: true, count: 2 });
  });

  test("a target that speaks of nobody is refused, and so is a key that nobody asks", async () => {
    const world = await openWorld();
    const change = { writes: "deny", by: "ada" };
    for (const target of ["/s1", "re*", "researcher/", ""])
      expect(await set(world, target, change)).toMatchObject({ failure: { errorCode: "P0021" } });
    const elsewhere = await call(world, controls.name, "researcher", "set", { target: "researcher", ...change });
    expect(elsewhere).toMatchObject({ failure: { errorCode: "P0021" } });
  });

  test("a session that is set back to allow is kept no longer, and what is in force is listed", async () => {
    const world = await openWorld();
    await set(world, "researcher/s1", { writes: "deny", by: "ada" });
    await set(world, "*", { writes: "ask", by: "grace" });
    await set(world, "researcher/s1", { writes: "allow", by: "ada" });
    const listed = valueOf(await call(world, controls.name, ALL_SWITCHES, "list"));
    expect(listed).toEqual({ "*": { writes: "ask", by: "grace", at: world.now } });
  });

  test("asking takes one run, however many switches speak of the session", async () => {
    const world = await openWorld();
    for (const target of ["*", "researcher", "researcher/s1"]) await set(world, target, { writes: "ask", by: "ada" });
    const before = (await world.runs()).length;
    let commits = 0;
    world.onCommit(() => {
      commits += 1;
      return "apply";
    });
    await mode(world);
    const [run, ...children] = (await world.runs()).slice(before);
    const rows = await Promise.all([run, ...children].map((one) => world.journal((one as Run).id)));
    expect(commits).toBeLessThanOrEqual(5); // Two are the run's own: its beginning and its end.
    expect(children).toHaveLength(1);
    expect(rows.flat().length).toBeLessThanOrEqual(5);
  });
});

describe("the audit log", () => {
  test("is read in pages, and each says where the next begins", async () => {
    const world = await openWorld();
    for (let i = 0; i < 5; i += 1)
      await call(world, audit.name, "main", "record", { actor: "a", action: `n.${i}`, subject: "s" });
    const page = async (range: object): Promise<AuditPage> =>
      valueOf(await call(world, audit.name, "main", "read", range));
    const first = await page({ limit: 3 });
    expect(first).toMatchObject({ next: 3, head: { count: 5 } });
    const second = await page({ from: 3, limit: 3 });
    expect(second).not.toHaveProperty("next");
    const all = [...first.entries, ...second.entries];
    expect(all.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
    expect(valueOf(await call(world, audit.name, "main", "head"))).toEqual(first.head);
    expect(verifyChain(all, { head: first.head })).toEqual({ ok: true, count: 5, head: first.head.hash });
    expect(await page({ from: 9 })).toMatchObject({ entries: [] });
  });

  test("costs the same for the tenth entry as for the hundredth", async () => {
    const world = await openWorld();
    const sizes: number[] = [];
    for (let i = 0; i < 100; i += 1) {
      await call(world, audit.name, "main", "record", { actor: "a", action: "n.more", subject: "s" });
      const [last] = (await world.runs()).slice(-1);
      sizes.push(JSON.stringify(await world.journal((last as Run).id)).length);
    }
    // A few digits of positions and counts are all that grows.
    expect((sizes[99] ?? 0) - (sizes[9] ?? 0)).toBeLessThan(20);
    const kept = await world.stream({ service: audit.name, key: "main" }, "audit");
    expect(kept.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test("keeps its chains apart", async () => {
    const world = await openWorld();
    await call(world, audit.name, "main", "record", { actor: "a", action: "b.c", subject: "d" });
    await call(world, audit.name, "other", "record", { actor: "a", action: "b.c", subject: "d" });
    expect(valueOf(await call(world, audit.name, "other", "head"))).toMatchObject({ count: 1 });
  });
});
