// Budgets and callers that die: killed or cancelled, what they held is let go, and nobody is asked on their behalf.

import { describe, expect, test } from "vitest";
import { aCall as call, BudgetWorld, outputOf, statusesOf, worldWith } from "./budget-world.ts";

describe("a caller that dies", () => {
  test("killed while it calls, what it holds is let go", async () => {
    const world = await worldWith({ tokens: 150 });
    const first = await world.start(call({ takes: "1h" }));
    const second = await world.start(call());
    expect(await statusesOf(world, [first, second])).not.toContain("succeeded");
    await world.kill(first);
    await world.settle();
    expect(await outputOf(world, second)).toMatchObject({ tokens: 100 });
    expect(await world.status("b")).toMatchObject({
      spent: { tokens: 100, calls: 1 },
      reserved: { tokens: 0 },
      unsettled: { tokens: 100, calls: 1 },
    });
  });

  test("killed while it waits, its question is withdrawn and the next in line goes on", async () => {
    const world = await worldWith({ tokens: 150 });
    await world.start(call());
    const large = await world.start(call());
    const small = await world.start(call({ maxOutputTokens: 40 }));
    expect(await world.questions()).toHaveLength(1);
    await world.kill(large);
    await world.settle();
    await outputOf(world, small);
    expect(await world.questions()).toEqual([]);
    expect(await world.status("b")).toMatchObject({ spent: { tokens: 150 }, waiting: 0, asked: null });
  });

  test("killed while nobody waits, the status lets go of what it held", async () => {
    const world = await worldWith({ tokens: 150 });
    const run = await world.start(call({ takes: "1h" }));
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 100, calls: 1 } });
    await world.kill(run);
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 0 }, unsettled: { tokens: 100 } });
  });

  test("cancelled while it calls, it releases itself", async () => {
    const world = await worldWith({ tokens: 150 });
    const run = await world.start(call({ takes: "1h" }));
    await world.cancel(run);
    await world.settle();
    expect((await world.run(run))?.status).toBe("cancelled");
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 0 }, unsettled: { tokens: 0 } });
  });

  test("cancelled while it waits, it leaves the line, and what it held elsewhere comes back", async () => {
    const world = await worldWith({ tokens: 500 });
    await world.openBudget("small", { tokens: 50 });
    const run = await world.start(call({ budgets: ["b", "small"] }));
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 100 } });
    expect(await world.questions()).toHaveLength(1);
    await world.cancel(run);
    await world.settle();
    expect((await world.run(run))?.status).toBe("cancelled");
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 0 } });
    expect(await world.status("small")).toMatchObject({ waiting: 0, asked: null });
    expect(await world.questions()).toEqual([]);
  });

  test.each(["kill", "cancel"] as const)(
    "a %s at any moment loses no room, and nothing that was settled",
    async (how) => {
      const spentBy = new Set<number>();
      for (let moment = 0; ; moment += 1) {
        const world = await new BudgetWorld({ limits: { batchEventsMax: 1, timersPerBatchMax: 1 } }).open();
        await world.openBudget("b", { tokens: 150 });
        const [first, second] = await Promise.all([
          world.submit({ service: "caller", handler: "call" }, call(), "first"),
          world.submit({ service: "caller", handler: "call" }, call({ maxOutputTokens: 40 }), "second"),
        ]);
        for (let turn = 0; turn < moment; turn += 1) await macrotask();
        const missed = (await world.run(first))?.status === "succeeded";
        if (missed) break;
        await world[how](first);
        await world.settle();
        // Whoever waited for the room of the one that died has got it.
        expect(await outputOf(world, second), `moment ${moment}`).toMatchObject({ tokens: 50 });
        const { spent, reserved, waiting } = await world.status("b");
        const isSettled = (await world.journal(first)).some(
          (entry) =>
            entry.kind === "command" && entry.command.type === "send" && entry.command.target.handler === "settle",
        );
        expect({ reserved: reserved.tokens, waiting }, `moment ${moment}`).toEqual({ reserved: 0, waiting: 0 });
        expect(spent.tokens, `moment ${moment}`).toBe(isSettled ? 150 : 50);
        spentBy.add(spent.tokens);
      }
      expect(spentBy).toEqual(new Set([50, 150]));
    },
  );

  test.each(["kill", "cancel"] as const)("after a %s at any moment nobody is asked on its behalf", async (how) => {
    const asked = new Set<number>();
    for (let moment = 0; ; moment += 1) {
      const world = await new BudgetWorld({ limits: { batchEventsMax: 1, timersPerBatchMax: 1 } }).open();
      await world.openBudget("b", { tokens: 50 });
      const run = await world.submit({ service: "caller", handler: "call" }, call());
      for (let turn = 0; turn < moment; turn += 1) await macrotask();
      const before = await world.questions();
      await world[how](run);
      await world.settle();
      expect(await world.questions(), `moment ${moment}`).toEqual([]);
      expect(await world.status("b"), `moment ${moment}`).toMatchObject({ waiting: 0, asked: null });
      asked.add(before.length);
      if (before.length === 1 && asked.size === 2 && moment > MOMENTS) break;
    }
  });

  test("only a run that has ended lets go of what it holds", async () => {
    const world = await worldWith({ tokens: 150 });
    const run = await world.start(call({ takes: "1h" }));
    await world.say("b", "reap", { run });
    expect(await world.status("b")).toMatchObject({ reserved: { tokens: 100 } });
  });
});

/** Turns of the event loop in which everything that a call sets in motion has happened. */
const MOMENTS = 80;

function macrotask(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
