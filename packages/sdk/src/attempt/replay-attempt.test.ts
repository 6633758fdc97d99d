// Every feature of ctx: live, and replayed from every prefix of its journal.

import { CANCEL_SIGNAL, failureResult, parseAwakeableId, VOID, valueResult } from "@perdure/protocol";
import { describe, expect } from "vitest";
import { it } from "../../test/both-modes.ts";

import { type Case, crashAtEveryEntry, type Ledger } from "../../test/every-prefix.ts";
import { childId, play, RUN_ID, START_TIME, valueOf } from "../../test/fake-engine.ts";
import type { Context } from "../context/context.ts";
import type { StepOptions } from "../context/options.ts";
import { shared } from "../definitions/handler.ts";
import { object, service, workflow } from "../definitions/service.ts";

/** A step that writes into the ledger and takes `ms` of the engine's time, if any. */
function effect<T>(ctx: Context, ledger: Ledger, name: string, value: T, options?: StepOptions): Promise<T> {
  return ctx.step(
    name,
    async ({ idempotencyKey }) => {
      ledger.ran.set(idempotencyKey, (ledger.ran.get(idempotencyKey) ?? 0) + 1);
      await Promise.resolve();
      return value;
    },
    options as StepOptions<T>,
  );
}

type Expected = { readonly value: unknown; readonly commands: number };

function serviceCase(
  name: string,
  expected: Expected,
  run: (ctx: Context, ledger: Ledger) => Promise<unknown>,
  rest: object = {},
): Case & { readonly expected: Expected } {
  return {
    name,
    expected,
    scenario: (ledger) => ({
      definition: service("s", {
        async go(ctx) {
          return run(ctx, ledger);
        },
      }),
      handler: "go",
      answer: (target, input) => valueResult(JSON.stringify([target.service, target.handler, target.key, input])),
      ...rest,
    }),
  };
}

const cases: readonly (Case & { readonly expected: Expected })[] = [
  serviceCase("steps one after another", { value: 10, commands: 5 }, async (ctx, ledger) => {
    let sum = 0;
    for (let i = 0; i < 5; i += 1) sum += await effect(ctx, ledger, `step ${i}`, i);
    return sum;
  }),
  serviceCase("a step that answers at once", { value: [1, { x: [1] }], commands: 2 }, async (ctx) => [
    await ctx.step("a", () => 1),
    await ctx.step("b", () => ({ x: [1] })),
  ]),
  serviceCase("steps in parallel", { value: [2, 4, 6], commands: 6 }, async (ctx, ledger) =>
    Promise.all(
      [1, 2, 3].map(async (n) => (await effect(ctx, ledger, `a${n}`, n)) + (await effect(ctx, ledger, `b${n}`, n))),
    ),
  ),
  serviceCase(
    "sleep, now, random, uuid",
    { value: [true, 0.44557162989663424, "f27095fb-36b3-4550-a195-6c7c371023af", 0.2570340868684129], commands: 3 },
    async (ctx) => {
      const before = await ctx.now();
      await ctx.sleep("1h", "nap");
      const after = await ctx.now();
      return [after - before >= 3_600_000, ctx.random(), ctx.uuid(), ctx.random()];
    },
  ),
  serviceCase("race of a sleep and a step", { value: ["step", 1], commands: 3 }, async (ctx, ledger) => {
    const winner = await Promise.race([ctx.sleep("1d").then(() => "sleep"), effect(ctx, ledger, "fast", "step")]);
    return [winner, await effect(ctx, ledger, "after", 1)];
  }),
  serviceCase(
    "any and allSettled with failures",
    { value: [["rejected", "fulfilled", "rejected"], 5], commands: 5 },
    async (ctx) => {
      const failing = (name: string): Promise<never> =>
        ctx.step(name, () => Promise.reject(new Error("no")), { retry: { maxAttempts: 1, onExhausted: "throw" } });
      const settled = await Promise.allSettled([failing("a"), ctx.step("b", () => 2), failing("c")]);
      const any = await Promise.any([failing("d"), ctx.step("e", () => 5)]);
      return [settled.map((one) => one.status), any];
    },
  ),
  serviceCase(
    "try, catch, finally",
    {
      value: ['step "bad" failed once, and its retry policy allows no more; the last error: bad', "P0004", "done"],
      commands: 2,
    },
    async (ctx, ledger) => {
      const seen: unknown[] = [];
      try {
        await ctx.step(
          "bad",
          () => {
            throw new Error("bad");
          },
          { retry: { maxAttempts: 1, onExhausted: "throw" } },
        );
      } catch (error) {
        seen.push((error as Error).message, (error as { code?: string }).code);
      } finally {
        seen.push(await effect(ctx, ledger, "finally", "done"));
      }
      return seen;
    },
  ),
  serviceCase(
    "calls",
    {
      value: [
        true,
        ["other", "go", null, { a: 1 }],
        ["things", "add", "k1", 2],
        "attached",
        { ready: true, value: "out" },
      ],
      commands: 4,
    },
    async (ctx) => {
      const call = ctx.call("other").go({ a: 1 });
      const id = await call.handle.id();
      const keyed = ctx.call("things", "k1", { idempotencyKey: "x" }).add(2);
      return [
        id === childId(1),
        await call,
        await keyed,
        await ctx.run(childId(9)).result(),
        await ctx.run(childId(9)).output(),
      ];
    },
  ),
  serviceCase("sends", { value: [true, 1], commands: 5 }, async (ctx, ledger) => {
    void ctx.send("other").go(1);
    const handle = await ctx.send("things", "k", { delay: "7d" }).add(2);
    handle.signal("hello", [1]);
    handle.cancel();
    return [handle.id === childId(2), await effect(ctx, ledger, "x", 1)];
  }),
  serviceCase(
    "signals, buffered and awaited",
    { value: [1, [2, 3, 4]], commands: 1 },
    async (ctx, ledger) => {
      const first = await ctx.signal<number>("n");
      await effect(ctx, ledger, "between", 0);
      const rest: number[] = [];
      for await (const n of ctx.signals<number>("n")) {
        rest.push(n);
        if (rest.length === 3) break;
      }
      return [first, rest];
    },
    { signals: [1, 2, 3, 4].map((n) => ["n", valueResult(String(n))]) },
  ),
  serviceCase(
    "an iterator of signals raced against timers loses none",
    { value: [1, 2, 3], commands: 3 },
    async (ctx) => {
      const got: unknown[] = [];
      const messages = ctx.signals<number>("n");
      while (got.length < 3) {
        const next = await Promise.race([messages.next(), ctx.sleep("1s")]);
        if (next !== undefined && next.done !== true) got.push(next.value);
      }
      return got;
    },
    { signals: [1, 2, 3].map((n) => ["n", valueResult(String(n))]) },
  ),
  serviceCase("awakeables", { value: [17, ["first", "second"]], commands: 2 }, async (ctx) => {
    const one = ctx.awakeable<string>();
    const two = ctx.awakeable<string>();
    ctx.resolve(two.id, "second");
    ctx.reject(one.id, "first");
    const results = await Promise.allSettled([one.promise, two.promise]);
    return [
      parseAwakeableId(one.id)?.signal,
      results.map((r) => (r.status === "fulfilled" ? r.value : (r.reason as Error).message)),
    ];
  }),
  {
    name: "state of an object",
    expected: { value: [[0], [0, 1], ["list", "other"], null, ["new"], null], commands: 15 },
    scenario: (ledger) => ({
      definition: object("o", {
        async go(ctx) {
          const before = (await ctx.get<number[]>("list")) ?? [];
          ctx.set("list", [...before, 1]);
          await effect(ctx, ledger, "a", 1);
          ctx.set("other", { a: 1 });
          ctx.set("gone", 1);
          ctx.clear("gone");
          const list = await ctx.get<number[]>("list");
          const keys = await ctx.keys();
          await effect(ctx, ledger, "b", 1);
          ctx.clearAll();
          ctx.set("new", 2);
          await effect(ctx, ledger, "c", 1);
          return [before, list, keys, await ctx.get("list"), await ctx.keys(), await ctx.get("never")];
        },
      }),
      handler: "go",
      key: "k",
      state: { list: [0] },
    }),
  },
  {
    name: "promises of a workflow",
    expected: { value: [null, { n: 1 }, "late", 1], commands: 7 },
    scenario: (ledger) => ({
      definition: workflow("w", {
        async run(ctx) {
          const peeked = await ctx.promise("p").peek();
          await effect(ctx, ledger, "a", 1);
          await ctx.promise("p").resolve({ n: 1 });
          ctx.set("x", 1);
          return [peeked ?? null, await ctx.promise("p").get(), await ctx.promise("q").get(), await ctx.get("x")];
        },
      }),
      handler: "run",
      key: "k",
    }),
  },
  serviceCase(
    "cancel and compensation",
    { value: ["P0002", true], commands: 3 },
    async (ctx, ledger) => {
      await effect(ctx, ledger, "book", 1);
      try {
        await Promise.all([ctx.signal("never"), ctx.sleep("100d")]);
      } catch (error) {
        await effect(ctx, ledger, "unbook", 1);
        return [(error as { code?: string }).code, ctx.abortSignal.aborted];
      }
      return "not cancelled";
    },
    { signals: [[CANCEL_SIGNAL, VOID]] },
  ),
];

describe("J3: live, and after a crash at every entry", () => {
  for (const one of cases) {
    it(one.name, async () => {
      const outcome = await crashAtEveryEntry(one);
      expect(outcome.result?.kind).toBe("value");
      expect({
        value: valueOf(outcome),
        commands: outcome.entries.filter((entry) => entry.kind === "command").length,
      }).toEqual(one.expected);
    });
  }
});

describe("what code sees", () => {
  it("reads lazily kept state by completions, live and replayed", async () => {
    const definition = object("o", {
      async go(ctx) {
        const order: unknown[] = [];
        const one = ctx.get("a").then((value) => order.push(value));
        await Promise.resolve().then(() => ctx.set("b", 2));
        await one;
        return order;
      },
      look: shared(async (ctx) => [await ctx.get("a"), await ctx.keys()]),
    });
    const lazy = { definition, handler: "go", key: "k", state: { a: 1 }, lazyState: true } as const;
    const outcome = await play(lazy);
    expect(valueOf(outcome)).toEqual([1]);
    // A later attempt may get the state whole, and still has to follow the journal.
    const again = await play({ ...lazy, lazyState: false, entries: outcome.entries });
    expect(again.result).toEqual(outcome.result);
    const look = await play({ ...lazy, handler: "look", lazyState: false });
    expect(valueOf(look)).toEqual([1, ["a"]]);
    expect((await play({ ...lazy, handler: "look", lazyState: false, entries: look.entries })).result).toEqual(
      look.result,
    );
  });

  it("gives what a replay would give", async () => {
    const definition = service("s", {
      async go(ctx) {
        const date = await ctx.step("date", () => new Date(0));
        const bytes = await ctx.step("bytes", () => Uint8Array.of(1, 2, 3));
        const nothing = await ctx.step("nothing", () => undefined);
        return [date, bytes instanceof Uint8Array, [...bytes], nothing === undefined];
      },
    });
    const outcome = await play({ definition, handler: "go" });
    expect(valueOf(outcome)).toEqual(["1970-01-01T00:00:00.000Z", true, [1, 2, 3], true]);
    expect((await play({ definition, handler: "go", entries: outcome.entries })).result).toEqual(outcome.result);
  });

  it("names the place that JSON cannot hold, and fails for good", async () => {
    const definition = service("s", {
      async bigint(ctx) {
        return ctx.step("x", () => ({ items: [1, { id: 1n }] }));
      },
      async cycle(ctx) {
        const a: { self?: unknown } = {};
        a.self = a;
        return ctx.step("x", () => a);
      },
      async output() {
        return () => 1;
      },
    });
    const failures = await Promise.all(["bigint", "cycle", "output"].map((handler) => play({ definition, handler })));
    expect(
      failures.map((outcome) =>
        outcome.result?.kind === "failure" ? [outcome.result.failure.errorCode, outcome.result.failure.message] : null,
      ),
    ).toEqual([
      ["P0020", "the result of the step.items[1].id is a bigint, which JSON cannot hold: write it as text"],
      ["P0020", "the result of the step.self refers back to an object that contains it, which JSON cannot hold"],
      ["P0020", "the output is a function, which JSON cannot hold"],
    ]);
  });

  it("is silent in the log while it replays", async () => {
    const definition = service("s", {
      async go(ctx) {
        ctx.log.info("begin");
        await ctx.step("a", () => 1);
        ctx.log.warn("middle", { n: 1 });
        await ctx.sleep("1h");
        ctx.log.error("end");
      },
    });
    const outcome = await play({ definition, handler: "go" });
    expect(outcome.logs.map((record) => record.message)).toEqual(["begin", "middle", "end"]);
    const again = await play({ definition, handler: "go", entries: outcome.entries.slice(0, 1) });
    expect(again.logs.map((record) => record.message)).toEqual(["middle", "end"]);
    expect(again.logs[0]).toMatchObject({ level: "warn", fields: { n: 1 }, run: RUN_ID, service: "s", handler: "go" });
  });

  it("has the run's facts", async () => {
    const definition = object("o", {
      async go(ctx, input: { a: number }) {
        return [ctx.key, ctx.runId, ctx.headers["x-test"], ctx.idempotencyKey, ctx.attempt, input.a, await ctx.now()];
      },
    });
    const outcome = await play({ definition, handler: "go", key: "k", input: { a: 3 } });
    expect(valueOf(outcome)).toEqual(["k", RUN_ID, "yes", null, 1, 3, START_TIME]);
  });

  it("sees failures of calls and awakeables as terminal errors that keep their code", async () => {
    const definition = service("s", {
      async go(ctx) {
        try {
          await ctx.call("x").y();
        } catch (error) {
          const { code, status, message } = error as { code: string; status: number; message: string };
          return [code, status, message];
        }
      },
    });
    const answer = () => failureResult({ code: 418, message: "teapot", errorCode: "P0001" });
    expect(valueOf(await play({ definition, handler: "go", answer }))).toEqual(["P0001", 418, "teapot"]);
  });
});
