// Everything that the SDK offers, crashed at every entry: the same result, and no journaled effect run twice (E1, E2, E5).

import { object, service, shared, workflow, TerminalError, CancelledError, type AnyDefinition } from "@perdure/sdk";
import type { RunId } from "@perdure/protocol";
import { describe, expect, test } from "vitest";
import { crashAtEveryEntry, TestWorld, type CrashTest } from "../../src/testing.ts";

let sideEffects: string[] = [];
const reset = (): void => {
  sideEffects = [];
};
const effect = <T>(name: string, value: T): T => {
  sideEffects.push(name);
  return value;
};

const counter = object("counter", {
  async add(ctx, amount: number) {
    const total = ((await ctx.get<number>("total")) ?? 0) + amount;
    ctx.set("total", total);
    await ctx.step("audit", () => effect(`audit ${total}`, total));
    return total;
  },
  read: shared(async (ctx) => (await ctx.get<number>("total")) ?? 0),
  async wipe(ctx) {
    const names = await ctx.keys();
    ctx.clearAll();
    return names;
  },
});

const worker = service("worker", {
  async double(ctx, value: number) {
    return ctx.step("double", () => effect(`double ${value}`, value * 2));
  },
  async slow(ctx, value: number) {
    await ctx.sleep("3d");
    return value;
  },
  async refuse(): Promise<never> {
    throw new TerminalError("refused", { status: 422 });
  },
});

const approval = workflow("approval", {
  async run(ctx, title: string) {
    ctx.set("title", title);
    const decision = await ctx.promise<string>("decision").get();
    return `${title}: ${decision}`;
  },
  async decide(ctx, decision: string) {
    await ctx.promise<string>("decision").resolve(decision);
  },
});

const log = object("log", {
  async work(ctx, rounds: number) {
    const stream = ctx.stream<string | Uint8Array | { base64: string }>("log");
    const before = await stream.length();
    stream.append("begin", { base64: "no bytes" });
    const seen: unknown[] = [];
    for (let i = 0; i < rounds; i += 1) {
      const answer = await ctx.step(
        `answer ${i}`,
        ({ stream: open }) => {
          open<string>("tokens").write(`${i}a`, `${i}b`);
          open<string>("tokens").write(`${i}c`);
          return effect(`answer ${i}`, `answer ${i} ${"x".repeat(i * 10)}`);
        },
        { into: "log" },
      );
      stream.append(answer.length % 2 === 0 ? answer : new Uint8Array([i]));
      seen.push(await stream.read(before + i));
      if (i === 1) stream.trim(before + 3);
      await ctx.sleep("1m");
    }
    const beside = await Promise.all([
      ctx.step("beside", () => "beside", { into: "log" }),
      ctx.step("nothing", () => undefined, { into: "log" }),
      ctx
        .step("refused", () => Promise.reject(new TerminalError("refused")), { into: "log" })
        .catch((error: unknown) => String(error)),
      ctx.call("log", "other")["note"]?.("from a run of the key"),
      stream.read(),
    ]);
    return { seen, beside, length: await stream.length() };
  },
  note: shared(async (ctx, text: string) => {
    ctx.stream("log").append(text);
    return ctx.stream("log").read();
  }),
});

const features = service("features", {
  async streams(ctx) {
    ctx.stream("own").append(1);
    const first = await ctx.call(log, "k").work(3);
    const second = await ctx.call(log, "k").work(1);
    ctx.stream("own").append(2, 3);
    return { first, second, own: await ctx.stream<number>("own").read() };
  },
  async sequential(ctx, input: { n: number }) {
    let value = input.n;
    for (let i = 0; i < 4; i += 1) value = await ctx.step(`add ${i}`, () => effect(`add ${i}`, value + 1));
    return value;
  },
  async combinators(ctx) {
    const step = (name: string): Promise<string> => ctx.step(name, () => effect(name, name));
    const all = await Promise.all([step("a"), step("b"), ctx.sleep("1h"), ctx.call(worker).double(2)]);
    const first = await Promise.race([ctx.sleep("2d").then(() => "timer"), step("fast")]);
    const any = await Promise.any([
      ctx
        .call(worker)
        .refuse()
        .catch((error: unknown) => Promise.reject(error)),
      step("any"),
    ]);
    const settled = await Promise.allSettled([ctx.call(worker).refuse(), step("settled")]);
    return { all, first, any, settled: settled.map((result) => result.status) };
  },
  async clockAndChance(ctx) {
    const [now, random, uuid] = [await ctx.now(), ctx.random(), ctx.uuid()];
    await ctx.sleep("1d");
    return { later: (await ctx.now()) - now >= 86_400_000, random, uuid, again: ctx.random() };
  },
  async retries(ctx) {
    let tries = 0;
    const value = await ctx.step("flaky", ({ attempt }) => {
      tries = attempt;
      if (attempt < 3) throw new Error(`try ${attempt}`);
      return effect("flaky", attempt);
    });
    return { value, tries: Math.max(tries, 3) };
  },
  async gaveUp(ctx) {
    try {
      await ctx.step("hopeless", () => Promise.reject(new Error("no")), {
        retry: { maxAttempts: 2, onExhausted: "throw" },
      });
      return "unreachable";
    } catch (error) {
      return error instanceof TerminalError
        ? await ctx.step("plan b", () => effect("plan b", "plan b"))
        : "another error";
    } finally {
      await ctx.step("cleanup", () => effect("cleanup", true));
    }
  },
  async state(ctx) {
    const totals = [
      await ctx.call(counter, "k").add(1),
      await ctx.call(counter, "k").add(2),
      await ctx.call(counter, "k").read(),
    ];
    return { totals, names: await ctx.call(counter, "k").wipe(), after: await ctx.call(counter, "k").read() };
  },
  async parallelOnOneKey(ctx) {
    const totals = await Promise.all([1, 2, 3].map((amount) => ctx.call(counter, "p").add(amount)));
    return [...totals].sort((a, b) => a - b).at(-1);
  },
  async sends(ctx) {
    const sent = ctx.send(worker, { delay: "1h" }).double(21);
    const handle = await sent;
    return ctx.run<number>(handle.id).result();
  },
  async idempotentCalls(ctx) {
    const twice = await Promise.all([
      ctx.call(worker, { idempotencyKey: "one" }).double(5),
      ctx.call(worker, { idempotencyKey: "one" }).double(5),
    ]);
    return twice;
  },
  async workflows(ctx) {
    const running = ctx.call(approval, "w1").run("report");
    await ctx.sleep("1m");
    await ctx.call(approval, "w1").decide("yes");
    return running;
  },
  async signalled(ctx) {
    const first = await ctx.signal<string>("go");
    const notes: string[] = [];
    for await (const note of ctx.signals<string>("note")) {
      if (note === "end") break;
      notes.push(await ctx.step(`note ${notes.length}`, () => effect(`note ${note}`, note)));
    }
    return { first, notes };
  },
  async awaited(ctx) {
    const { id, promise } = ctx.awakeable<string>();
    await ctx.step("announce", () => effect("announce", id));
    const answers = await Promise.all([promise, ctx.step("meanwhile", () => effect("meanwhile", "m"))]);
    return answers;
  },
  async bytesAndNothing(ctx) {
    const bytes = await ctx.step("bytes", () => new Uint8Array([1, 2, 255]));
    const nothing = await ctx.step("nothing", () => undefined);
    const date = await ctx.step("date", () => new Date(0));
    return { bytes: [...bytes], nothing: nothing === undefined, date: String(date) };
  },
  async large(ctx) {
    const text = await ctx.step("large", () => "x".repeat(300_000));
    return text.length;
  },
  async compensates(ctx) {
    const undo: (() => Promise<unknown>)[] = [];
    try {
      await ctx.step("book", () => effect("book", true));
      undo.push(() => ctx.step("unbook", () => effect("unbook", true)));
      await Promise.all([ctx.call(worker).slow(1), ctx.signal("never")]);
      return "unreachable";
    } catch (error) {
      for (const compensate of undo.reverse()) await compensate();
      return error instanceof CancelledError ? "compensated" : String(error);
    }
  },
  async atMostOnce(ctx) {
    return ctx.step("pay", ({ idempotencyKey }) => effect("pay", idempotencyKey.length > 0), {
      atMostOnce: true,
      reconcile: () => (sideEffects.includes("pay") ? { happened: true, value: true } : { happened: false }),
    });
  },
});

const services: readonly AnyDefinition[] = [features, counter, worker, approval, log];
const of = (handler: string, extra: Partial<CrashTest> = {}): CrashTest => ({
  services,
  target: { service: "features", handler },
  reset,
  ...extra,
});

/** Of all streams that the scenario has; `tokens` are written again by steps that run again. */
async function journaledItems(world: TestWorld): Promise<unknown> {
  const [run] = await world.runs();
  const streams = [
    await world.stream({ service: "log", key: "k" }, "log"),
    await world.stream({ service: "log", key: "other" }, "log"),
    await world.stream({ run: (run as { id: RunId }).id }, "own"),
  ];
  expect((await world.stream({ service: "log", key: "k" }, "tokens")).length).toBeGreaterThanOrEqual(12);
  return streams.map((items) => items.map(({ offset, payload, writer }) => [offset, String(payload), writer]));
}

describe("crashed at every entry, the result is the same and no journaled effect runs twice", () => {
  test.each([
    ["sequential", { n: 1 }],
    ["combinators", undefined],
    ["clockAndChance", undefined],
    ["retries", undefined],
    ["gaveUp", undefined],
    ["state", undefined],
    ["parallelOnOneKey", undefined],
    ["sends", undefined],
    ["idempotentCalls", undefined],
    ["workflows", undefined],
    ["bytesAndNothing", undefined],
    ["large", undefined],
    ["atMostOnce", undefined],
  ])("%s", async (handler, input) => {
    const report = await crashAtEveryEntry(of(handler, { input }));
    expect(report.result.kind, JSON.stringify(report.result)).not.toBe("failure");
    expect(report.crashes).toBe(report.commits * 2);
    expect(report.commits).toBeGreaterThan(2);
  });

  test("streams: each journaled item stands there once, in order", async () => {
    const report = await crashAtEveryEntry(of("streams", { observe: journaledItems }));
    expect(report.result).toMatchObject({ kind: "value" });
    const { first, own } = JSON.parse(String((report.result as { value: unknown }).value)) as {
      readonly first: { readonly seen: readonly (readonly unknown[])[]; readonly beside: readonly unknown[] };
      readonly own: readonly number[];
    };
    expect(own).toEqual([1, 2, 3]);
    expect(first.seen[0]).toEqual(["begin", { base64: "no bytes" }, "answer 0 ", { base64: "AA==" }]);
    // Trimmed before its fourth item, of what it would have read from its third on.
    expect(first.seen[2]?.[0]).toEqual({ base64: "AA==" });
    expect(first.beside.slice(0, 4)).toEqual(["beside", null, "TerminalError: refused", ["from a run of the key"]]);
  });

  test("streams: what a step writes is there at least once, and says which try wrote it", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit({ service: "log", handler: "work", key: "k" }, 2);
    await world.finish(run);
    const tokens = await world.stream({ service: "log", key: "k" }, "tokens");
    expect(tokens.map(({ payload, writer }) => [payload, writer])).toEqual(
      [0, 1].flatMap((i) => ["a", "b", "c"].map((letter) => [`"${i}${letter}"`, `${3 + i * 4}.1`])),
    );
    // One append for what was written in one tick.
    expect(new Set(tokens.slice(0, 3).map(({ at }) => at)).size).toBe(1);
  });

  test("signals", async () => {
    const report = await crashAtEveryEntry(
      of("signalled", {
        outside: async (world) => {
          const open = (await world.waiting())[0];
          if (open === undefined) return false;
          if (open.signal === "go") await world.signal(open.run, "go", "started");
          else for (const note of ["one", "two", "end"]) await world.signal(open.run, "note", note);
          return true;
        },
        // A crash between two notes makes the outside send them again: the code sees what was accepted, in order.
        same: (reference, actual) => reference.kind === actual.kind,
      }),
    );
    expect(report.result).toMatchObject({
      kind: "value",
      value: JSON.stringify({ first: "started", notes: ["one", "two"] }),
    });
  });

  test("awakeables", async () => {
    const report = await crashAtEveryEntry(
      of("awaited", {
        outside: async (world) => {
          const open = (await world.waiting())[0];
          if (open === undefined) return false;
          await world.resolve(open, "answer");
          return true;
        },
      }),
    );
    expect(report.result).toMatchObject({ value: JSON.stringify(["answer", "m"]) });
  });

  test("cancel with compensation", async () => {
    const report = await crashAtEveryEntry(
      of("compensates", {
        outside: async (world) => {
          const run = (await world.runs()).find((other) => other.handler === "compensates");
          if (run === undefined) return false;
          const cancelled =
            (await world.journal(run.id)).some((entry) => entry.kind === "signal") || run.cancelling !== null;
          if (!cancelled) await world.cancel(run.id);
          return !cancelled;
        },
      }),
    );
    expect(report.result).toMatchObject({ value: '"compensated"' });
  });
});

describe("without a crash", () => {
  test("time is skipped: three days pass in no time", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit({ service: "worker", handler: "slow" }, 7);
    const before = world.now;
    expect(await world.finish(run)).toMatchObject({ value: "7" });
    expect(world.now - before).toBeGreaterThanOrEqual(3 * 86_400_000);
  });

  test("a run that waits for something nobody brings is named", async () => {
    const world = await new TestWorld({ services }).open();
    const run = await world.submit({ service: "features", handler: "signalled" });
    await expect(world.finish(run)).rejects.toThrow(/signal "go"/);
  });

  test("the harness sees a handler that is not deterministic", async () => {
    let calls = 0;
    const fickle = service("fickle", {
      async go(ctx) {
        calls += 1;
        return ctx.step(`step ${calls}`, () => calls);
      },
    });
    await expect(
      crashAtEveryEntry({ services: [fickle], target: { service: "fickle", handler: "go" } }),
    ).rejects.toThrow(/crash (before|after)/);
  });
});
