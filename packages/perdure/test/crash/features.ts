// What the SDK offers, feature by feature: definitions that are run in both modes of memory.

import { CancelledError, object, service, shared, TerminalError, workflow } from "perdure";
import { effect, hasHappened } from "./effects.ts";

export const counter = object("counter", {
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

export const worker = service("worker", {
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

export const approval = workflow("approval", {
  async run(ctx, title: string) {
    ctx.set("title", title);
    const decision = await ctx.promise<string>("decision").get();
    return `${title}: ${decision}`;
  },
  async decide(ctx, decision: string) {
    await ctx.promise<string>("decision").resolve(decision);
  },
});

export const log = object("log", {
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

export const features = service("features", {
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
      reconcile: async () => ((await hasHappened("pay")) ? { happened: true, value: true } : { happened: false }),
    });
  },
});
