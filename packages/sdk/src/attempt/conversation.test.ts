// The attempt in its conversation: replaying, diverging, blocked, cancelled, over.

import { CANCEL_SIGNAL, type Entry, TerminalError, VOID, valueResult } from "@perdure/protocol";
import { describe, expect } from "vitest";
import { it } from "../../test/both-modes.ts";

import { completion, Conversation, step } from "../../test/conversation.ts";
import { childId, play, START_TIME, valueOf } from "../../test/fake-engine.ts";
import type { Context, ObjectContext } from "../context/context.ts";
import { handler, shared } from "../definitions/handler.ts";
import { object, service, type ServiceDefinition } from "../definitions/service.ts";
import type { StandardSchema } from "../standard-schema.ts";

function go(run: (ctx: Context) => Promise<unknown>): ServiceDefinition<unknown> {
  return service("s", { go: (ctx) => run(ctx) });
}
const cancel = { kind: "signal", signal: CANCEL_SIGNAL, payload: VOID } as const;
const call = {
  kind: "command",
  command: { type: "call", target: { service: "x", handler: "y" }, input: null },
} as const;
const sleep = { kind: "command", command: { type: "sleep", wakeAt: START_TIME } } as const;

describe("A2: while it replays", () => {
  it("sends nothing new and runs no closure before everything recorded was met", async () => {
    const ran: string[] = [];
    const definition = go(async (ctx) => {
      const a = ctx.step("a", () => ran.push("a"));
      const b = ctx.step("b", () => ran.push("b")).then(() => ctx.step("c", () => ran.push("c")));
      await Promise.all([a, b]);
    });
    // `c` is asked for when `b` is delivered, while `stray` is still to be met: a command that the code does not know.
    const entries = [step(1, "a"), step(2, "b", 1), step(3, "c"), step(4, "stray")];
    const stuck = new Conversation(definition, { entries });
    expect(await stuck.heard()).toEqual([]);
    expect(ran).toEqual([]);
    const fine = new Conversation(definition, { entries: entries.slice(0, 2) });
    expect(await fine.heard()).toEqual([
      ["command", 3, "step c"],
      ["propose", 1, 1],
      ["propose", 3, 2],
    ]);
    expect(ran).toEqual(["a", "c"]);
  });

  it("sends nothing new before the last recorded notification was given", async () => {
    const saidBefore: number[] = [];
    const definition = go(async (ctx) => {
      const signal = ctx.signal("s").then(() => saidBefore.push(talk.said.length));
      await ctx.step("a", () => 1);
      await Promise.all([signal, ctx.sleep(5), ctx.step("b", () => 2)]);
    });
    const entries = [step(1, "a", 1), { kind: "signal", signal: "s", payload: VOID }] as const;
    const talk: Conversation = new Conversation(definition, { entries });
    expect(await talk.heard()).toEqual([
      ["command", 2, "sleep"],
      ["command", 3, "step b"],
      ["propose", 3, 2],
    ]);
    expect(saidBefore).toEqual([0]);
  });

  it("gives one notification at a time, and lets the code run in between", async () => {
    const seen: string[] = [];
    const definition = go(async (ctx) => {
      const branch = async (name: string, microtasks: number): Promise<void> => {
        await ctx.step(name, () => 1);
        for (let i = 0; i < microtasks; i += 1) await Promise.resolve();
        seen.push(name);
      };
      await Promise.all([branch("a", 20), branch("b", 0), branch("c", 40)]);
    });
    const entries = [step(1, "a"), step(2, "b"), step(3, "c"), completion(3, 1), completion(1, 1), completion(2, 1)];
    const replayed = new Conversation(definition, { entries });
    await replayed.heard();
    expect(seen.splice(0)).toEqual(["c", "a", "b"]);
    const live = new Conversation(definition);
    await live.heard();
    live.notify(...entries);
    expect((await live.heard()).at(-1)).toEqual(["end", undefined]);
    expect(seen).toEqual(["c", "a", "b"]);
  });

  it("takes notifications that come in the meantime after what is recorded", async () => {
    const definition = go(async (ctx) => {
      const order: string[] = [];
      await Promise.all([
        ctx.sleep(1).then(() => order.push("sleep")),
        ctx.signal("s").then(() => order.push("signal")),
      ]);
      return order;
    });
    const talk = new Conversation(definition, { entries: [{ ...sleep, id: 1 }, completion(1)] });
    talk.notify({ kind: "signal", signal: "s", payload: VOID });
    expect(await talk.heard()).toEqual([["end", ["sleep", "signal"]]]);
  });

  it("sends what it held back before it ends, and lets branches beside the end ask for nothing", async () => {
    const definition = object("o", {
      async go(ctx) {
        ctx.set("a", 1);
        void (async () => {
          await Promise.resolve();
          await Promise.resolve();
          await Promise.resolve();
          ctx.set("late", 1);
        })().catch(() => {});
        return 1;
      },
    });
    const talk = new Conversation(definition, {
      key: "k",
      entries: [{ kind: "signal", signal: "unused", payload: VOID }],
    });
    expect(await talk.heard()).toEqual([
      ["command", 1, "setState"],
      ["end", 1],
    ]);
  });
});

describe("divergence", () => {
  async function diff(
    run: (ctx: ObjectContext) => Promise<unknown>,
    entries: readonly Omit<Entry, "index" | "at">[],
  ): Promise<string> {
    const talk = new Conversation(object("o", { go: (ctx) => run(ctx) }), { key: "k", entries: entries as never });
    await talk.advance(10_000);
    expect(talk.said).toHaveLength(1);
    const [kind, behavior, , code, message] = talk.said[0] ?? ["nothing"];
    expect([kind, behavior, code]).toEqual(["error", "pause", "P0016"]);
    return String(message);
  }

  it("shows what is recorded, what is asked for now, and where", async () => {
    const text = await diff((ctx) => ctx.sleep("30s", "cool down"), [step(1, "summarise", 1)]);
    const [title, recorded, now, position, hint] = text.split("\n");
    expect(title).toBe("The code took a different path on replay at command 1.");
    expect(recorded).toBe('  recorded  step   name="summarise"');
    expect(now).toBe('  now       sleep  name="cool down"');
    expect(position).toMatch(/^ {2}at .*conversation\.test\.ts:\d+:\d+\)?$/);
    expect(hint).toBe(
      "Did the deployed code change, or does it branch on something not recorded? See docs/errors/P0016.md",
    );
  });

  const differences: readonly [string, (ctx: ObjectContext) => Promise<unknown>, object, string, string][] = [
    ["name", (ctx) => ctx.step("b", () => 1), step(1, "a"), 'step  name="a"', 'step  name="b"'],
    ["target", (ctx) => ctx.call("x", "k").z(), { ...call, id: 1 }, "call  x/y", "call  x/k/z"],
    [
      "state",
      async (ctx) => ctx.set("b", 1),
      { kind: "command", id: 1, command: { type: "setState", key: "a", value: "1" } },
      'setState  key="a"',
      'setState  key="b"',
    ],
    ["type", async (ctx) => ctx.send("x").y(), { ...call, id: 1 }, "call  x/y", "send  x/y"],
  ];
  for (const [name, run, entry, recorded, now] of differences) {
    it(`notices another ${name}`, async () => {
      const text = await diff(run, [entry as Omit<Entry, "index" | "at">]);
      expect(text).toContain(`  recorded  ${recorded}\n  now       ${now}\n  at `);
      expect(text).toContain("conversation.test.ts");
    });
  }

  it("notices a handler that ends before its journal does", async () => {
    expect(await diff(async () => 1, [step(1, "a", 1)])).toContain(
      '  recorded  step  name="a"\n  now       end   the handler returned\n',
    );
    const failing = (): Promise<never> => Promise.reject(new TerminalError("no"));
    expect(await diff(failing, [step(1, "a", 1)])).toContain("  now       end   the handler failed: no\n");
  });

  it("notices code that waits for something that is not in the journal", async () => {
    const text = await diff((ctx) => ctx.signal("never"), [step(1, "a", 1)]);
    expect(text).toContain("now       nothing  the code waits for something that the journal does not have");
  });

  const nothingElse = "code in an isolate waits for nothing but the journal and its own microtasks";
  it.inProcess("lets code take its time before it asks", nothingElse, async () => {
    const gate = Promise.withResolvers<void>();
    const definition = go(async (ctx) => {
      await gate.promise;
      return ctx.step("a", () => 1);
    });
    const talk = new Conversation(definition, { entries: [step(1, "a", 5)] });
    await talk.advance(2_000);
    gate.resolve();
    expect(await talk.heard()).toEqual([["end", 5]]);
  });

  it("does not mind another input", async () => {
    const recorded = { ...call, command: { ...call.command, input: '"old"' } };
    const talk = new Conversation(
      go((ctx) => ctx.call("x").y("new")),
      { entries: [{ ...recorded, id: 1, child: childId(1) }, completion(1, 2)] },
    );
    expect(await talk.heard()).toEqual([["end", 2]]);
  });
});

describe("cancel", () => {
  it("throws at the next wait where the code waited for nothing", async () => {
    const definition = go(async (ctx) => {
      await ctx.send("x").y();
      await ctx.sleep(1);
    });
    const talk = new Conversation(definition);
    expect(await talk.heard()).toEqual([["command", 1, "send"]]);
    talk.notify(cancel, {
      kind: "command",
      id: 1,
      child: childId(1),
      command: { type: "send", target: { service: "x", handler: "y" }, input: null },
    });
    expect(await talk.heard()).toEqual([["end", { failure: "P0002", message: "the run was cancelled" }]]);
  });

  it("rejects everything at once, drops late results, and tells the abort signal", async () => {
    const definition = go(async (ctx) => {
      const { abortSignal } = ctx;
      const waits = [ctx.sleep(1), ctx.signal("s"), ctx.awakeable().promise, ctx.call("x").y()];
      const settled = await Promise.allSettled(waits);
      await ctx.sleep(2);
      return [settled.map((one) => one.status), abortSignal.aborted];
    });
    const talk = new Conversation(definition);
    expect(await talk.heard()).toEqual([
      ["command", 1, "sleep"],
      ["command", 2, "call"],
    ]);
    talk.notify({ ...sleep, id: 1 }, { ...call, id: 2, child: childId(2) }, cancel, completion(2, "late"));
    expect(await talk.heard()).toEqual([["command", 3, "sleep"]]);
    talk.notify({ ...sleep, id: 3 }, completion(1), completion(3));
    expect(await talk.heard()).toEqual([["end", [["rejected", "rejected", "rejected", "rejected"], true]]]);
  });

  it("still learns the id of a child whose call it gave up", async () => {
    const definition = go(async (ctx) => {
      const calling = ctx.call("x").y();
      await calling.catch(() => {});
      return calling.handle.id();
    });
    const talk = new Conversation(definition);
    await talk.heard();
    talk.notify(cancel);
    expect(await talk.heard()).toEqual([]);
    talk.notify({ ...call, id: 1, child: childId(1) });
    expect(await talk.heard()).toEqual([["end", childId(1)]]);
  });
});

describe("suspension", () => {
  const soon = { executor: { suspendAfterMs: 1_000 } };
  const everything = go(async (ctx) => {
    const { promise } = ctx.awakeable();
    await Promise.race([ctx.sleep("1d"), ctx.signal("s"), promise, ctx.call("x").y()]);
  });
  const awaiting = [
    { kind: "completion", id: 1 },
    { kind: "completion", id: 2 },
    { kind: "signal", signal: 17 },
    { kind: "signal", signal: "s" },
  ];

  it("comes after the attempt was blocked for a while, and says what would wake it", async () => {
    const talk = new Conversation(everything, soon);
    await talk.heard();
    expect(talk.attempt.awaiting()).toBeNull(); // The call is not journaled yet.
    talk.notify({ ...sleep, id: 1 }, { ...call, id: 2, child: childId(2) });
    await talk.advance(900);
    expect(talk.attempt.awaiting()).toEqual(awaiting);
    expect(await talk.heard()).toEqual([]);
    await talk.advance(1_100);
    expect(await talk.heard()).toEqual([["suspend", awaiting, 2]]);
    expect([talk.attempt.awaiting(), talk.timers]).toEqual([null, 0]);
    talk.notify(completion(1));
    expect(await talk.heard()).toEqual([]); // C1
  });

  it("comes at once when the engine asks, or as soon as the attempt is blocked", async () => {
    const talk = new Conversation(everything, soon);
    await talk.heard();
    talk.attempt.yield();
    expect(await talk.heard()).toEqual([]);
    talk.notify({ ...sleep, id: 1 }, { ...call, id: 2, child: childId(2) });
    expect(await talk.heard()).toEqual([["suspend", awaiting, 2]]);
  });

  it("does not come while a step runs, nor while its result is on its way", async () => {
    let finish: (value: number) => void = () => {};
    const talk = new Conversation(
      go((ctx) =>
        ctx.step(
          "a",
          () =>
            new Promise((resolve) => {
              finish = resolve;
            }),
        ),
      ),
      soon,
    );
    await talk.advance(5_000);
    finish(1);
    await talk.advance(5_000);
    expect(await talk.heard()).toEqual([
      ["command", 1, "step a"],
      ["propose", 1, 1],
    ]);
  });

  it("comes while a step waits for its next try", async () => {
    const talk = new Conversation(
      go((ctx) => ctx.step("a", () => Promise.reject(new Error("x")), { retry: { initial: "1h" } })),
      soon,
    );
    await talk.advance(3_000);
    expect((await talk.heard()).at(-1)).toEqual(["suspend", [{ kind: "time", at: START_TIME + 3_600_000 }], 0]);
    expect(talk.timers).toBe(0);
  });

  it("does not come where nothing durable could wake the code", async () => {
    const talk = new Conversation(
      go(() => new Promise(() => {})),
      soon,
    );
    await talk.advance(60_000);
    expect(await talk.heard()).toEqual([]);
    expect(talk.attempt.awaiting()).toBeNull();
  });

  it("wakes where it left off, as often as it takes", async () => {
    const definition = go(async (ctx) => {
      let sum = 0;
      for (let i = 0; i < 4; i += 1) {
        await ctx.sleep("1h");
        sum += await ctx.step(`s${i}`, () => i);
      }
      return sum;
    });
    const outcome = await play({ definition, handler: "go", alwaysYield: true });
    expect(valueOf(outcome)).toBe(6);
    expect([outcome.suspensions.length, outcome.attempts]).toEqual([4, 5]);
  });
});

describe("A4: after it is over", () => {
  const thrownAway = "the instance of an aborted attempt is thrown away: only calls of the host are told";
  it.inProcess("an aborted attempt says nothing, frees its timers, and fires its signals", thrownAway, async () => {
    const signals: boolean[] = [];
    let late: (value: number) => void = () => {};
    const talk = new Conversation(
      go(async (ctx) => {
        const { abortSignal } = ctx;
        abortSignal.addEventListener("abort", () => signals.push(abortSignal.aborted));
        await ctx.step(
          "a",
          ({ signal }) =>
            new Promise((resolve) => {
              signal.addEventListener("abort", () => signals.push(signal.aborted));
              late = resolve;
            }),
          { timeout: "1h" },
        );
        await ctx.step("b", () => 1);
      }),
      { executor: { suspendAfterMs: Number.POSITIVE_INFINITY } },
    );
    await talk.heard();
    talk.attempt.abort("shutdown");
    late(1);
    talk.notify(step(1, "a", 1));
    expect(await talk.heard()).toEqual([]);
    expect([signals, talk.timers]).toEqual([[true, true], 0]);
  });

  it("ctx throws P0018 after the end, into the void", async () => {
    let leaked: Context | undefined;
    const talk = new Conversation(
      go(async (ctx) => {
        leaked = ctx;
      }),
    );
    expect(await talk.heard()).toEqual([["end", undefined]]);
    void leaked?.step("unawaited", () => 1);
    await expect(leaked?.step("a", () => 1)).rejects.toMatchObject({ code: "P0018" });
    await expect(leaked?.call("x").y()).rejects.toMatchObject({ code: "P0018" });
    expect(() => leaked?.random()).toThrow(/used after its handler had ended/);
    expect(await talk.heard()).toEqual([]);
  });

  it("code of a failed attempt goes no further", async () => {
    const seen: string[] = [];
    const talk = new Conversation(
      object("o", {
        async go(ctx) {
          ctx.set("other", 1);
          seen.push("after set");
          await ctx.step("x", () => 1);
          seen.push("after step");
        },
      }),
      { key: "k", entries: [step(1, "a", 1)] },
    );
    expect((await talk.heard())[0]?.slice(0, 2)).toEqual(["error", "pause"]);
    expect(seen).toEqual(["after set"]);
  });
});

describe("misuse", () => {
  it("of ctx inside a step is named, with the fix", async () => {
    const outcome = await play({
      definition: go((ctx) => ctx.step("outer", () => ctx.step("inner", () => 1))),
      handler: "go",
    });
    expect(outcome.result).toMatchObject({ kind: "failure", failure: { errorCode: "P0018" } });
    expect(JSON.stringify(outcome.result)).toContain("call ctx before or after it");
  });

  it("inside a step is seen later in its course too, where the host can tell", async () => {
    let inside = false;
    const ports = { insideStep: () => inside };
    const definition = go((ctx) =>
      ctx.step("outer", async () => {
        await Promise.resolve();
        inside = true;
        try {
          return await ctx.sleep(1);
        } finally {
          inside = false;
        }
      }),
    );
    expect((await play({ definition, handler: "go", ports })).result).toMatchObject({
      failure: { errorCode: "P0018" },
    });
  });

  it("of what a kind does not have is refused", async () => {
    const loose = service("s", {
      async go(ctx) {
        (ctx as ObjectContext).set("a", 1);
      },
    });
    expect((await play({ definition: loose, handler: "go" })).result).toMatchObject({
      failure: { errorCode: "P0018" },
    });
    const reader = object("o", { look: shared(async (ctx) => (ctx as ObjectContext).set("a", 1)) });
    expect((await play({ definition: reader, handler: "look", key: "k" })).result).toMatchObject({
      failure: { errorCode: "P0018" },
    });
  });
});

describe("the handler's ends", () => {
  const schema = (check: (value: unknown) => string | undefined): StandardSchema<{ n: number }> => ({
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        const message = check(value);
        return message === undefined ? { value: value as { n: number } } : { issues: [{ message, path: ["n"] }] };
      },
    },
  });
  const isNumber = schema((value) =>
    typeof (value as { n?: unknown })?.n === "number" ? undefined : "must be a number",
  );

  it("input and output are checked", async () => {
    const definition = service("s", {
      good: handler({ input: isNumber, output: isNumber }, async (_, input) => ({ n: input.n + 1 })),
      bad: handler({ output: isNumber }, async () => ({ n: "x" }) as never),
    });
    expect(valueOf(await play({ definition, handler: "good", input: { n: 1 } }))).toEqual({ n: 2 });
    const input = await play({ definition, handler: "good", input: { n: "1" } });
    expect(input.result).toMatchObject({
      failure: {
        code: 400,
        errorCode: "P0021",
        message: "the input does not fit its schema: $.n: must be a number",
        metadata: { path: "$.n" },
      },
    });
    expect((await play({ definition, handler: "bad" })).result).toMatchObject({ failure: { errorCode: "P0021" } });
  });

  it("input that is not JSON is named", async () => {
    const talk = new Conversation(
      go(async () => 1),
      { input: "{" },
    );
    const [said] = await talk.heard();
    expect(said).toMatchObject(["end", { failure: "P0021" }]);
  });

  it("errors ask for another attempt, terminal errors end the run", async () => {
    const failing = (error: unknown): Conversation => new Conversation(go(() => Promise.reject(error as Error)));
    expect(await failing(new Error("bug")).heard()).toEqual([["error", "retry", undefined, undefined, "bug"]]);
    expect(await failing(new TerminalError("no", { status: 404 })).heard()).toEqual([
      ["end", { failure: "P0001", message: "no" }],
    ]);
    const busy = await play({
      definition: go(() => Promise.reject(Object.assign(new Error("busy"), { retryAfter: "2h" }))),
      handler: "go",
      executor: {},
    }).catch(() => undefined);
    expect(busy?.errors[0]?.delayMs).toBe(7_200_000);
  }, 20_000);

  it("a handler that the code does not have pauses the run, and near matches are named", async () => {
    const talk = new Conversation(service("mailer", { async send() {} }), { handler: "sned" });
    const [said] = await talk.heard();
    expect(said?.slice(0, 4)).toEqual(["error", "pause", undefined, "P0030"]);
    expect(said?.[4]).toBe("the loaded code has no handler mailer/sned. Did you mean mailer/send?");
  });

  it("values of signals may be failures", async () => {
    const definition = go((ctx) => ctx.signal<number>("s"));
    const talk = new Conversation(definition);
    await talk.heard();
    talk.notify({ kind: "signal", signal: "s", payload: valueResult("{") });
    expect(await talk.heard()).toMatchObject([["end", { failure: "P0021" }]]);
  });
});
