// Steps: their tries, their timeouts, and effects that may happen at most once.

import { CANCEL_SIGNAL, failureResult, VOID, valueResult } from "@perdure/protocol";
import { describe, expect } from "vitest";
import { it } from "../../test/both-modes.ts";

import { completion, Conversation, step } from "../../test/conversation.ts";
import { play, RUN_ID, START_TIME, valueOf } from "../../test/fake-engine.ts";
import type { Reconciled, StepInfo, StepOptions } from "../context/options.ts";
import { service } from "../definitions/service.ts";
import { TerminalError } from "@perdure/protocol";

function one(fn: (info: StepInfo) => unknown, options?: StepOptions): ReturnType<typeof service> {
  return service("s", {
    async go(ctx) {
      return ctx.step("charge", fn, options);
    },
  });
}

describe("a step that lives", () => {
  it("sends its command, then its result, and is seen only when it is durable", async () => {
    const seen: string[] = [];
    const definition = service("s", {
      async go(ctx) {
        await ctx.step("a", () => seen.push("ran"));
        seen.push("saw");
      },
    });
    const talk = new Conversation(definition);
    expect(talk.said).toEqual([]); // X1: nothing before `start` has returned.
    expect(await talk.heard()).toEqual([
      ["command", 1, "step a"],
      ["propose", 1, 1],
    ]);
    expect(seen).toEqual(["ran"]);
    talk.notify(step(1, "a", 1));
    expect(await talk.heard()).toEqual([["end", undefined]]);
    expect(seen).toEqual(["ran", "saw"]);
  });

  it("hands out a stable idempotency key, its attempt and a signal", async () => {
    const seen: unknown[] = [];
    const definition = one(({ idempotencyKey, attempt, signal }) => {
      seen.push([idempotencyKey, attempt, signal.aborted]);
      if (attempt < 3) throw new Error(`no ${attempt}`);
      return "yes";
    });
    expect(valueOf(await play({ definition, handler: "go" }))).toBe("yes");
    expect(seen).toEqual([1, 2, 3].map((attempt) => [`${RUN_ID}-1`, attempt, false]));
    seen.length = 0;
    await play({ definition, handler: "go", generation: 2 });
    expect(seen[0]).toEqual([`${RUN_ID}.2-1`, 1, false]);
  });

  it("retries with exponential backoff, and reports each failed try", async () => {
    const talk = new Conversation(
      one(() => Promise.reject(new Error("down")), { retry: { initial: "1s", factor: 3, max: "5s" } }),
    );
    expect(await talk.heard()).toEqual([
      ["command", 1, "step charge"],
      ["retrying", 1, 1, "down", 1_000],
    ]);
    await talk.advance(999);
    expect(await talk.heard()).toEqual([]);
    await talk.advance(1);
    expect(await talk.heard()).toEqual([["retrying", 1, 2, "down", 1_000 + 3_000]]);
    await talk.advance(3_000);
    expect(await talk.heard()).toEqual([["retrying", 1, 3, "down", 4_000 + 5_000]]);
  });

  it("waits as long as the upstream asks", async () => {
    const error = Object.assign(new Error("busy"), { responseHeaders: { "Retry-After": "30" } });
    const talk = new Conversation(one(() => Promise.reject(error), {}));
    expect((await talk.heard())[1]).toEqual(["retrying", 1, 1, "busy", 31_500]); // And up to a tenth more.
  });

  it("pauses the run when its policy is used up, and begins anew when a person resumes it", async () => {
    let tries = 0;
    const definition = one(
      () => {
        tries += 1;
        if (tries <= 4) throw new Error(`down ${tries}`);
        return tries;
      },
      { retry: { maxAttempts: 2 } },
    );
    const pauses: unknown[] = [];
    const outcome = await play({
      definition,
      handler: "go",
      resume: (pause, { failure, command }) => {
        pauses.push([pause, failure.errorCode, failure.message, failure.metadata, command]);
        return {};
      },
    });
    expect(valueOf(outcome)).toBe(5);
    expect(pauses).toEqual(
      [2, 4].map((last, pause) => [
        pause,
        "P0010",
        `step "charge" failed 2 times, and its retry policy allows no more; the last error: down ${last}`,
        { step: "charge", tries: "2", lastError: `down ${last}` },
        1,
      ]),
    );
  });

  it("takes over tries and the next time from an attempt before it", async () => {
    const entries = [
      step(1, "charge"),
      { kind: "retry", id: 1, tries: 4, failure: { code: 500, message: "x" }, retryAt: START_TIME + 700 },
    ] as const;
    const seen: number[] = [];
    const talk = new Conversation(
      one(({ attempt }) => void seen.push(attempt)),
      { entries },
    );
    await talk.advance(699);
    expect(seen).toEqual([]);
    await talk.advance(1);
    expect(seen).toEqual([5]);
  });

  it("counts from the start again after a person resumed", async () => {
    const entries = [
      step(1, "charge"),
      { kind: "retry", id: 1, tries: 4, failure: { code: 500, message: "x" }, retryAt: START_TIME + 700 },
      { kind: "resumed" },
    ] as const;
    const seen: number[] = [];
    const talk = new Conversation(
      one(({ attempt }) => void seen.push(attempt)),
      { entries },
    );
    expect(await talk.heard()).toEqual([["propose", 1, undefined]]);
    expect(seen).toEqual([1]);
  });

  it("fails for good by a terminal error, with its own status", async () => {
    const outcome = await play({
      definition: one(() => {
        throw new TerminalError("no such card", { status: 402 });
      }),
      handler: "go",
    });
    expect(outcome.result).toMatchObject({
      kind: "failure",
      failure: { code: 402, message: "no such card", errorCode: "P0001" },
    });
  });

  it("aborts a try that takes too long, and hears nothing more of it", async () => {
    const late: ((value: string) => void)[] = [];
    const aborted: unknown[] = [];
    const definition = one(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => aborted.push((signal.reason as Error).message));
          late.push(resolve);
        }),
      { timeout: "2s", retry: { initial: "1s" } },
    );
    const talk = new Conversation(definition);
    await talk.advance(2_000);
    expect(aborted).toEqual(['step "charge" took longer than its timeout of 2000 ms']);
    expect((await talk.heard()).at(-1)).toEqual(["retrying", 1, 1, aborted[0], 3_000]);
    late[0]?.("too late");
    await talk.advance(1_000);
    late[1]?.("in time");
    expect(await talk.heard()).toEqual([["propose", 1, "in time"]]);
    await talk.advance(10_000);
    expect(aborted).toHaveLength(1);
  });

  it("accepts any thenable", async () => {
    // oxlint-disable-next-line unicorn/no-thenable
    const definition = one(() => ({ then: (resolve: (value: number) => void) => resolve(7) }));
    expect(valueOf(await play({ definition, handler: "go" }))).toBe(7);
  });
});

describe("S2: at most once", () => {
  const effect =
    (ran: string[], result: () => unknown = () => "done") =>
    ({ idempotencyKey }: StepInfo) => {
      ran.push(idempotencyKey);
      return result();
    };
  const once = { atMostOnce: true } as const;

  it("runs only when its intent is durable", async () => {
    const ran: string[] = [];
    const talk = new Conversation(one(effect(ran), once));
    expect(await talk.heard()).toEqual([["command", 1, "step charge"]]);
    expect(ran).toEqual([]);
    talk.notify(step(1, "charge", undefined, true));
    expect(await talk.heard()).toEqual([["propose", 1, "done"]]);
    talk.notify(completion(1, "done"));
    expect(await talk.heard()).toEqual([["end", "done"]]);
  });

  it("pauses where an attempt left no result", async () => {
    const ran: string[] = [];
    const talk = new Conversation(one(effect(ran), once), { entries: [step(1, "charge", undefined, true)] });
    const [said] = await talk.heard();
    expect(said?.slice(0, 4)).toEqual(["error", "pause", 1, "P0011"]);
    expect(said?.[4]).toContain(
      'The effect of step "charge" (command 1) was begun, and no result of it was ever recorded.',
    );
    expect(ran).toEqual([]);
  });

  it("counts what was promised when it began, whatever the code says now", async () => {
    const talk = new Conversation(
      one(() => 1),
      { entries: [step(1, "charge", undefined, true)] },
    );
    expect((await talk.heard())[0]?.slice(0, 4)).toEqual(["error", "pause", 1, "P0011"]);
  });

  const answers: readonly [string, Reconciled<unknown>, number, unknown][] = [
    ["its value where it happened", { happened: true, value: "was done" }, 0, "was done"],
    ["a run where it did not", { happened: false }, 1, "done"],
  ];
  for (const [name, answer, runs, result] of answers) {
    it(`asks the reconcile hook: ${name}`, async () => {
      const ran: string[] = [];
      const asked: string[] = [];
      const reconcile = ({ idempotencyKey }: { idempotencyKey: string }): Promise<Reconciled<unknown>> => {
        asked.push(idempotencyKey);
        return Promise.resolve(answer);
      };
      const entries = [step(1, "charge", undefined, true)];
      const talk = new Conversation(one(effect(ran), { ...once, reconcile }), { entries });
      expect(await talk.heard()).toEqual([["propose", 1, result]]);
      expect([asked, ran.length]).toEqual([[`${RUN_ID}-1`], runs]);
    });
  }

  it("asks a person where the hook does not know, and asks again later where the hook fails", async () => {
    const entries = [step(1, "charge", undefined, true)];
    const unknown = new Conversation(
      one(() => 1, { ...once, reconcile: () => "unknown" }),
      { entries },
    );
    expect((await unknown.heard())[0]?.slice(0, 4)).toEqual(["error", "pause", 1, "P0011"]);
    const failing = new Conversation(
      one(() => 1, { ...once, reconcile: () => Promise.reject(new Error("down")) }),
      { entries },
    );
    expect(await failing.heard()).toEqual([["error", "retry", 1, undefined, "down"]]);
  });

  it("does not know what a failed try did, unless the error is terminal", async () => {
    const failing = new Conversation(one(() => Promise.reject(new Error("reset")), once));
    await failing.heard();
    failing.notify(step(1, "charge", undefined, true));
    const [said] = await failing.heard();
    expect(said?.slice(0, 4)).toEqual(["error", "pause", 1, "P0011"]);
    expect(said?.[4]).toContain("its try ended in an error: reset");
    const terminal = new Conversation(one(() => Promise.reject(new TerminalError("declined")), once));
    await terminal.heard();
    terminal.notify(step(1, "charge", undefined, true));
    expect(await terminal.heard()).toEqual([["propose", 1, { failure: "P0001", message: "declined" }]]);
  });

  it("tries again where the hook says that the failed try did nothing", async () => {
    let tries = 0;
    const definition = one(
      () => {
        tries += 1;
        if (tries === 1) throw new Error("reset");
        return tries;
      },
      { ...once, reconcile: () => ({ happened: false }) },
    );
    const outcome = await play({ definition, handler: "go" });
    expect(valueOf(outcome)).toBe(2);
    expect(outcome.entries.map((entry) => entry.kind)).toEqual(["command", "retry", "completion"]);
  });

  it("runs once more where a person says so, and announces it first", async () => {
    const ran: string[] = [];
    const entries = [step(1, "charge", undefined, true), { kind: "resumed", forget: 1 }] as const;
    const talk = new Conversation(one(effect(ran), once), { entries });
    expect((await talk.heard())[0]?.slice(0, 3)).toEqual(["retrying", 1, 1]);
    expect(ran).toEqual([]);
    const announced = {
      kind: "retry",
      id: 1,
      tries: 1,
      failure: { code: 500, message: "" },
      retryAt: START_TIME,
    } as const;
    talk.notify(announced);
    expect(await talk.heard()).toEqual([["propose", 1, "done"]]);
    // A crash right after the announcement: the permission was used.
    const again = new Conversation(one(effect(ran), once), { entries: [...entries, announced] });
    expect((await again.heard())[0]?.slice(0, 4)).toEqual(["error", "pause", 1, "P0011"]);
    expect(ran).toHaveLength(1);
  });

  it("takes the result that a person gives", async () => {
    const definition = one(() => Promise.reject(new Error("reset")), once);
    const outcome = await play({ definition, handler: "go", resume: () => ({ settle: valueResult('"by hand"') }) });
    expect(valueOf(outcome)).toBe("by hand");
  });
});

describe("S3: a step that a cancel caught", () => {
  it("finds its signal aborted, also where it asks for it only after the cancel", async () => {
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const definition = service("s", {
      async go(ctx) {
        await ctx
          .step("slow", async (info) => {
            await gate.promise;
            seen.push(info.signal.aborted);
          })
          .catch(() => undefined);
        await ctx.sleep("1d"); // The attempt goes on.
      },
    });
    const talk = new Conversation(definition);
    await talk.heard();
    talk.notify({ kind: "signal", signal: CANCEL_SIGNAL, payload: VOID });
    await talk.heard();
    gate.resolve();
    await talk.heard();
    expect(seen).toEqual([true]);
  });

  it("has its signal aborted; its result is journaled and not seen", async () => {
    let finish: (value: string) => void = () => {};
    const reasons: unknown[] = [];
    const definition = service("s", {
      async go(ctx) {
        try {
          await ctx.step(
            "long",
            ({ signal }) =>
              new Promise<string>((resolve) => {
                signal.addEventListener("abort", () => reasons.push((signal.reason as Error).message));
                finish = resolve;
              }),
          );
        } catch (error) {
          await ctx.step("undo", ({ signal }) => signal.aborted);
          throw error;
        }
      },
    });
    const talk = new Conversation(definition);
    expect(await talk.heard()).toEqual([["command", 1, "step long"]]);
    talk.notify({ kind: "signal", signal: CANCEL_SIGNAL, payload: VOID });
    expect(await talk.heard()).toEqual([
      ["command", 2, "step undo"],
      ["propose", 2, false],
    ]);
    expect(reasons).toEqual(["the run was cancelled"]);
    finish("after all");
    expect(await talk.heard()).toEqual([["propose", 1, "after all"]]);
    talk.notify(step(1, "long"), step(2, "undo", false), completion(1, "after all"));
    expect(await talk.heard()).toEqual([["end", { failure: "P0002", message: "the run was cancelled" }]]);
  });

  it("is not run again on replay", async () => {
    const ran: string[] = [];
    const definition = service("s", {
      async go(ctx) {
        await ctx.step("long", () => ran.push("long")).catch(() => {});
        return ctx.step("undo", () => ran.push("undo"));
      },
    });
    const entries = [step(1, "long"), { kind: "signal", signal: CANCEL_SIGNAL, payload: VOID }] as const;
    const talk = new Conversation(definition, { entries });
    expect(await talk.heard()).toEqual([
      ["command", 2, "step undo"],
      ["propose", 2, 1],
    ]);
    expect(ran).toEqual(["undo"]);
  });
});

it("is settled by whatever the journal says, also where the closure says something else", async () => {
  const talk = new Conversation(one(() => "mine"));
  await talk.heard();
  talk.notify({
    ...step(1, "charge"),
    result: failureResult({ code: 500, message: "theirs", errorCode: "P0001" }),
  } as never);
  expect(await talk.heard()).toEqual([["end", { failure: "P0001", message: "theirs" }]]);
});
