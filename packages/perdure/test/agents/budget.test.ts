// Budgets in a world: trees that call in parallel, people who raise and deny, callers that die.

import { budgets, type BudgetStatus } from "@perdure/agents";
import { describe, expect, test } from "vitest";
import { crashAtEveryEntry, type TestWorld } from "../../src/testing.ts";
import {
  aCall as call,
  approvals,
  BudgetWorld,
  OTHERS,
  outputOf,
  SERVICES,
  statusesOf,
  type TreeInput,
  worldWith,
} from "./budget-world.ts";

/** Whoever is asked says `decision`. */
function answering(decision: object): (world: TestWorld) => Promise<boolean> {
  return async (world) => {
    const open = (await world.runs()).find(
      ({ service, handler, status }) => service === approvals.name && handler === "run" && status === "suspended",
    );
    if (open?.key == null) return false;
    const decided = (await world.runs()).some(({ handler, key }) => handler === "decide" && key === open.key);
    if (decided) return false;
    await world.submit({ service: approvals.name, key: open.key, handler: "decide" }, { at: world.now, ...decision });
    return true;
  };
}

describe("a tree", () => {
  interface TreeOutput {
    readonly used: number;
    readonly denied: number;
    readonly root: BudgetStatus;
  }

  async function grow(input: TreeInput, outside?: (world: TestWorld) => Promise<boolean>): Promise<TreeOutput> {
    const world = await new BudgetWorld().open();
    const run = await world.submit({ service: "tree", handler: "run" }, input);
    const result = await world.finish(run, outside);
    if (result?.kind !== "value") throw new Error(JSON.stringify(result));
    return JSON.parse(String(result.value)) as TreeOutput;
  }

  test("50 parallel children do not overshoot one budget", async () => {
    const input = { children: 50, calls: 2, inputTokens: 40, maxOutputTokens: 60, takes: "1m" };
    const { used, denied, root } = await grow(
      { ...input, limits: { tokens: 2_000, usd: 1, calls: 1_000 }, usdPerToken: 0.000_01 },
      answering({ decision: "rejected", by: "ada" }),
    );
    expect(used).toBe(2_000); // All of it, and not a token more.
    expect(denied).toBe(80);
    expect(root).toMatchObject({
      spent: { tokens: 2_000, usd: 0.02, calls: 20 },
      reserved: { tokens: 0, usd: 0, calls: 0 },
      overshoot: { tokens: 0, usd: 0, calls: 0 },
      waiting: 0,
      asked: null,
      denied: { by: "ada" },
    });
  });

  test("a child is bound by its own budget and by its root's", async () => {
    const input = { children: 5, calls: 3, inputTokens: 40, maxOutputTokens: 60, takes: "1m" };
    const { used, denied, root } = await grow(
      { ...input, limits: { tokens: 800 }, childLimits: { tokens: 200 } },
      answering({ decision: "rejected", by: "ada" }),
    );
    expect(used).toBe(800);
    expect(denied).toBe(7);
    // What a child's own budget denied came back to the root, which had granted it.
    expect(root).toMatchObject({ spent: { tokens: 800 }, reserved: { tokens: 0 }, overshoot: { tokens: 0 } });
    expect(root.unsettled.tokens).toBe(0);
  });

  test("crashed at every entry, it spends the same", async () => {
    const input: TreeInput = {
      children: 2,
      calls: 1,
      inputTokens: 40,
      maxOutputTokens: 60,
      limits: { tokens: 150, wall: "10h" },
      childLimits: { tokens: 1_000 },
      takes: "1m",
    };
    const report = await crashAtEveryEntry({
      services: SERVICES,
      target: { service: "tree", handler: "run" },
      input,
      outside: answering({ decision: "approved", by: "ada", input: { tokens: 100 } }),
      same: (a, b) => JSON.stringify(figuresOf(a)) === JSON.stringify(figuresOf(b)),
    });
    expect(figuresOf(report.result)).toMatchObject({
      used: 200,
      denied: 0,
      root: { limits: { tokens: 250 }, spent: { tokens: 200, calls: 2 }, reserved: { tokens: 0 }, waiting: 0 },
    });
    expect(report.crashes).toBe(report.commits * 2);
  });

  /** Without the time that has passed, which a crash may change. */
  function figuresOf(result: unknown): unknown {
    const { value } = result as { readonly value: string };
    return JSON.parse(value, (name, item: unknown) => (name === "wallMs" ? undefined : item));
  }
});

describe("at the limit", () => {
  test("the tree pauses and asks once; raised, it goes on where it was", async () => {
    const world = await worldWith({ tokens: 250, approvers: ["ada"] });
    const done = [await world.start(call()), await world.start(call())];
    const paused = [await world.start(call()), await world.start(call())];
    expect(await statusesOf(world, done)).toEqual(["succeeded", "succeeded"]);
    await world.advance(2 * 86_400_000);
    expect(await statusesOf(world, paused)).toEqual(["suspended", "suspended"]);

    const [question, ...others] = await world.questions();
    expect(others).toEqual([]);
    expect(question).toMatchObject({
      title:
        "raise the budget b: used are 200 tokens of 250 tokens; one call waits, the next needs at least 100 tokens",
      input: { tokens: 250 },
      approvers: ["ada"],
    });
    const calls = (): number => world.memory.executions.filter(({ step }) => step === "model").length;
    expect(calls()).toBe(2);
    await world.decide(question!, { decision: "approved", by: "ada", comment: "go on", input: { tokens: 150 } });
    expect(await statusesOf(world, paused)).toEqual(["succeeded", "succeeded"]);
    expect(calls()).toBe(4); // What was done before the pause was not done again.
    expect(await world.status("b")).toMatchObject({
      limits: { tokens: 400 },
      spent: { tokens: 400, calls: 4 },
      asked: null,
      lastRaise: { by: "ada", comment: "go on" },
    });
  });

  test("a plain yes adds as much again", async () => {
    const world = await worldWith({ tokens: 120, usd: 5 });
    await world.start(call());
    const paused = await world.start(call());
    await world.decide((await world.questions())[0]!, { decision: "approved" });
    await outputOf(world, paused);
    expect(await world.status("b")).toMatchObject({ limits: { tokens: 240, usd: 5 }, spent: { tokens: 200 } });
  });

  test("a plain yes adds at least what the next call needs", async () => {
    const world = await worldWith({ calls: 0, tokens: 10 });
    const paused = await world.start(call());
    expect((await world.questions())[0]).toMatchObject({ input: { tokens: 90, calls: 1 } });
    await world.decide((await world.questions())[0]!, { decision: "approved" });
    await outputOf(world, paused);
  });

  test("an answer that adds nothing is asked for again", async () => {
    const world = await worldWith({ tokens: 50 });
    const paused = await world.start(call());
    await world.decide((await world.questions())[0]!, { decision: "approved", input: { tokens: "many" } });
    const [again, ...others] = await world.questions();
    expect(others).toEqual([]);
    expect(again?.title).toMatch(/could not be used: tokens: /);
    await world.decide(again!, { decision: "approved", input: { tokens: 50 } });
    expect(await outputOf(world, paused)).toMatchObject({ tokens: 100 });
  });

  test("denied, the calls that wait fail with the reason, and later ones at once", async () => {
    const world = await worldWith({ tokens: 150 });
    await world.start(call());
    const paused = [await world.start(call()), await world.start(call())];
    await world.decide((await world.questions())[0]!, { decision: "rejected", by: "ada", comment: "too dear" });
    const later = await world.start(call());
    for (const run of [...paused, later]) {
      expect((await world.run(run))?.result).toMatchObject({
        kind: "failure",
        failure: { code: 402, errorCode: "P0090", metadata: { budget: "b" } },
      });
    }
    const failure = (await world.run(later))?.result;
    expect(JSON.stringify(failure)).toContain("100 tokens of 150 tokens), and more was denied by ada: too dear");
    expect(await world.questions()).toEqual([]);
    // What fits is granted all the same; and a raise takes the denial back.
    await outputOf(world, await world.start(call({ maxOutputTokens: 40 })));
    await world.raise("b", { tokens: 100, by: "ada" });
    await outputOf(world, await world.start(call()));
    expect(await world.status("b")).toMatchObject({ spent: { tokens: 250 }, denied: null });
  });

  test("a denial is of what went on until then: opened again, the budget asks again", async () => {
    const world = await worldWith({ tokens: 50, usd: 1 });
    await world.start(call());
    await world.decide((await world.questions())[0]!, { decision: "rejected" });
    await world.start(call({ maxOutputTokens: 0, usdPerToken: null, model: "nova-9" }));
    await world.decide((await world.questions())[0]!, { decision: "rejected" });
    await world.openBudget("b", { tokens: 50, usd: 1 });
    await world.start(call());
    await world.decide((await world.questions())[0]!, { decision: "approved" });
    await world.start(call({ maxOutputTokens: 0, usdPerToken: null, model: "nova-9" }));
    expect((await world.questions()).map(({ title }) => title)).toEqual([expect.stringContaining("let nova-9")]);
  });

  test("a question that nobody answers in time is a no", async () => {
    const world = await worldWith({ tokens: 50 });
    const paused = await world.start(call());
    await world.decide((await world.questions())[0]!, { decision: "expired" });
    expect((await world.run(paused))?.result).toMatchObject({ failure: { errorCode: "P0090" } });
    expect(await world.status("b")).toMatchObject({ denied: { comment: "nobody answered in time" } });
  });

  test("where nobody can be asked, the calls fail and say so", async () => {
    for (const missing of [approvals.name, "perdure.budgetQuestions"]) {
      const world = await new BudgetWorld({ services: SERVICES.filter(({ name }) => name !== missing) }).open();
      await world.openBudget("b", { tokens: 50 });
      const run = await world.start(call());
      const result = JSON.stringify((await world.run(run))?.result);
      expect(result).toContain("nobody could be asked");
      expect(result).toContain(missing);
    }
  });

  test("a raise from elsewhere withdraws the question", async () => {
    const world = await worldWith({ tokens: 50 });
    const paused = await world.start(call());
    const [question] = await world.questions();
    expect(question).toBeDefined();
    await world.raise("b", { tokens: 50 });
    await outputOf(world, paused);
    expect(await world.questions()).toEqual([]);
    const asked = (await world.runs()).find(({ service, handler }) => service === approvals.name && handler === "run");
    expect(asked?.status).toBe("cancelled");
    expect(await world.status("b")).toMatchObject({ limits: { tokens: 100 }, asked: null, denied: null });
  });

  test("an answer to a question that is not open any more changes nothing", async () => {
    const world = await worldWith({ tokens: 50 });
    const first = await world.start(call());
    await world.cancel(first);
    const second = await world.start(call());
    expect(await world.status("b")).toMatchObject({ asked: { question: 2 } });
    await world.say("b", "answer", { question: 1, approved: false });
    expect(await statusesOf(world, [second])).not.toContain("failed");
    expect(await world.status("b")).toMatchObject({ asked: { question: 2 }, denied: null });
  });

  test("only approvers decide, where there are any", async () => {
    const world = await worldWith({ tokens: 50, approvers: ["ada"] });
    await expect(world.raise("b", { tokens: 50, by: "eve" })).rejects.toThrow(
      /ada may decide about budget b, eve may not/,
    );
    await expect(world.deny("b", {})).rejects.toThrow(/somebody without a name/);
    expect(await world.raise("b", { tokens: 50, by: "ada" })).toMatchObject({ limits: { tokens: 100 } });
  });

  test("the last call is shortened to what is left, where that is enough", async () => {
    const world = await worldWith({ tokens: 150 });
    await outputOf(world, await world.start(call()));
    const short = await outputOf(world, await world.start(call({ minOutputTokens: 30 })));
    expect(short).toMatchObject({ maxOutputTokens: 40, tokens: 50 });
    const none = await world.start(call({ minOutputTokens: 30 }));
    expect(await world.questions()).toHaveLength(1);
    expect((await world.run(none))?.status).not.toBe("succeeded");
    expect(await world.status("b")).toMatchObject({ spent: { tokens: 150 }, overshoot: { tokens: 0 } });
  });

  test("the least that an answer needs is never more than the most", async () => {
    const world = await worldWith({ tokens: 150 });
    expect(await outputOf(world, await world.start(call({ minOutputTokens: 1_000 })))).toMatchObject({ tokens: 100 });
  });

  test("a call waits for what may come back before it is shortened", async () => {
    const world = await worldWith({ tokens: 150 });
    const first = await world.start(call({ uses: 0.1, takes: "1h" }));
    const second = await world.start(call({ minOutputTokens: 30 }));
    expect(await world.questions()).toEqual([]);
    await outputOf(world, first);
    expect(await outputOf(world, second)).toMatchObject({ maxOutputTokens: 90 });
  });
});

describe("without an opening", () => {
  test("a budget has no room, and says why", async () => {
    const world = await new BudgetWorld().open();
    const run = await world.start(call());
    expect(JSON.stringify((await world.run(run))?.result)).toContain("there is no budget b: open it with its limits");
    await expect(world.status("b")).rejects.toThrow(/there is no budget b/);
  });
});

describe("money", () => {
  test("is reserved and settled exactly, whatever fractions it comes in", async () => {
    const world = await worldWith({ usd: 0.3 });
    for (let i = 0; i < 3; i += 1) await outputOf(world, await world.start(call({ usdPerToken: 0.001 })));
    expect(await world.status("b")).toMatchObject({ spent: { usd: 0.3 }, overshoot: { usd: 0 } });
  });

  test("of a model without a known price is asked about", async () => {
    const world = await worldWith({ usd: 1 });
    const unknown = await world.start(call({ usdPerToken: null, model: "nova-9" }));
    const [question] = await world.questions();
    expect(question).toMatchObject({ input: { models: ["nova-9"] } });
    expect(question?.title).toContain("let nova-9 be called within the budget b: its price is not known");
    await world.decide(question!, { decision: "approved" });
    await outputOf(world, unknown);
    await outputOf(world, await world.start(call({ usdPerToken: null, model: "nova-9" })));
    expect(await world.status("b")).toMatchObject({
      spent: { tokens: 200, usd: 0 },
      unpriced: { tokens: 200, calls: 2 },
    });
    const other = await world.start(call({ usdPerToken: null, model: "nova-10" }));
    await world.decide((await world.questions())[0]!, { decision: "rejected" });
    expect(JSON.stringify((await world.run(other))?.result)).toContain("the price of nova-10 is not known");
    // That was about a model, not about the limit.
    await outputOf(world, await world.start(call({ usdPerToken: 0.001 })));
  });

  test("of a model without a known price is not asked about where that is allowed", async () => {
    const world = await worldWith({ usd: 1, unknownPrice: "allow" });
    await outputOf(world, await world.start(call({ usdPerToken: null })));
    expect(await world.questions()).toEqual([]);
    expect(await world.status("b")).toMatchObject({ unpriced: { tokens: 100, calls: 1 } });
  });
});

describe("what was used", () => {
  test("beyond what was reserved is counted, and shown", async () => {
    const world = await worldWith({ tokens: 150 });
    await outputOf(world, await world.start(call({ uses: 2 })));
    expect(await world.status("b")).toMatchObject({ spent: { tokens: 190 }, overshoot: { tokens: 90 } });
  });

  test("counts once, also after the call was let go", async () => {
    const world = await worldWith({ tokens: 150 });
    await world.submit({ service: "caller", handler: "regrets" }, call());
    await world.settle();
    const { spent, reserved } = await world.status("b");
    expect({ tokens: spent.tokens, calls: spent.calls, reserved: reserved.tokens }).toEqual({
      tokens: 60 + OTHERS,
      calls: 1 + OTHERS,
      reserved: 0,
    });
  });

  test("takes two messages a call to say", async () => {
    const world = await worldWith({ tokens: 150 });
    await outputOf(world, await world.start(call()));
    const said = (await world.runs()).filter(({ service }) => service === budgets.name).map(({ handler }) => handler);
    expect(said).toEqual(["open", "reserve", "settle"]);
  });

  test("passes the soft threshold once per level", async () => {
    const world = await worldWith({ tokens: 300, soft: 0.5 });
    const passed: boolean[] = [];
    const next = async (): Promise<void> => {
      const { softPassed } = await outputOf(world, await world.start(call()));
      passed.push(softPassed.includes("b"));
    };
    for (let i = 0; i < 3; i += 1) await next();
    await world.raise("b", { tokens: 500 });
    for (let i = 0; i < 3; i += 1) await next();
    expect(passed).toEqual([false, true, false, true, false, false]);
  });

  test("stays spent when the budget is opened with other limits", async () => {
    const world = await worldWith({ tokens: 150 });
    await outputOf(world, await world.start(call()));
    await world.raise("b", { tokens: 10 });
    await world.openBudget("b", { tokens: 150 });
    await world.openBudget("b", { tokens: 300 });
    expect(await world.status("b")).toMatchObject({ limits: { tokens: 310 }, spent: { tokens: 100 } });
  });

  test("is all a budget keeps: its state does not grow with the calls", async () => {
    const world = await worldWith({ tokens: 100_000 });
    const sizes: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      await outputOf(world, await world.start(call()));
      const state = stateOf(world);
      expect(Object.keys(state)).toEqual(["book"]);
      sizes.push(JSON.stringify(state).length);
    }
    const digits = 10; // Figures get longer by a digit now and then.
    expect(sizes.at(-1)).toBeLessThanOrEqual(sizes[19]! + digits);
  });

  function stateOf(world: BudgetWorld): Readonly<Record<string, unknown>> {
    return Object.fromEntries(world.memory.storage.data.state.get(budgets.name)?.get("b") ?? []);
  }
});

describe("time", () => {
  test("is limited from the opening on, and asked about when it is over", async () => {
    const world = await worldWith({ wall: "1h" });
    await world.advance(20 * 60_000);
    const first = await outputOf(world, await world.start(call()));
    expect(first.wallLeftMs).toBe(40 * 60_000);
    await world.advance(40 * 60_000);
    const late = await world.start(call());
    const [question] = await world.questions();
    expect(question).toMatchObject({
      title: "raise the budget b: used are 1h of 1h; one call waits",
      input: { wall: 3_600_000 },
    });
    await world.advance(3 * 86_400_000); // The clock of the budget stands still meanwhile.
    await world.decide(question!, { decision: "approved", input: { wall: "10m" } });
    expect(await outputOf(world, late)).toMatchObject({ wallLeftMs: 10 * 60_000 });
  });
});
