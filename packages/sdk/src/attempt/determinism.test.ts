// J3 on random programs: whatever the order in which effects end, every prefix of the journal leads to the same commands
// and the same result, and no step that has a result is run again.

import { CANCEL_SIGNAL, VOID, valueResult } from "@perdure/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import { inGuest, it } from "../../test/both-modes.ts";

import { commandsOf, FakeEngine, type Outcome, type Scenario } from "../../test/fake-engine.ts";
import type { ObjectContext } from "../context/context.ts";
import { object } from "../definitions/service.ts";

type Action =
  | { readonly kind: "step"; readonly ms: number; readonly fails: boolean }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "call" | "get" | "set" | "send" | "signal" | "now" | "keys" }
  | { readonly kind: "all" | "race" | "any" | "allSettled"; readonly branches: readonly Program[] };
type Program = readonly Action[];

const { program } = fc.letrec<{ program: Program; action: Action }>((tie) => ({
  action: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ kind: fc.constant("step" as const), ms: fc.nat(20), fails: fc.boolean() }),
    fc.record({ kind: fc.constant("sleep" as const), ms: fc.nat(20) }),
    fc.record({ kind: fc.constantFrom("call", "get", "set", "send", "signal", "now", "keys") }),
    fc.record({
      kind: fc.constantFrom("all", "race", "any", "allSettled"),
      branches: fc.array(tie("program"), { minLength: 1, maxLength: 4 }),
    }),
  ) as fc.Arbitrary<Action>,
  program: fc.array(tie("action"), { maxLength: 4 }) as fc.Arbitrary<Program>,
}));

interface Notes {
  counter: number;
  readonly ran: string[];
  readonly log: string[];
}

/** Runs a program; its log is what the code saw, in the order in which it saw it. */
async function execute(
  ctx: ObjectContext,
  actions: Program,
  path: string,
  engine: FakeEngine,
  notes: Notes,
): Promise<string> {
  for (const [index, action] of actions.entries()) {
    const name = `${path}.${index}`;
    let saw: unknown;
    try {
      saw = await perform(ctx, action, name, engine, notes);
    } catch (error) {
      saw = (error as Error).name;
    }
    // The order of what code sees decides what it asks for next.
    notes.log.push(`${name}=${JSON.stringify(saw)}`);
    if (index % 2 === 1) ctx.set("last", `${notes.log.length} ${name}`);
  }
  return path;
}

async function perform(
  ctx: ObjectContext,
  action: Action,
  name: string,
  engine: FakeEngine,
  notes: Notes,
): Promise<unknown> {
  switch (action.kind) {
    case "step":
      return ctx.step(
        name,
        async ({ idempotencyKey }) => {
          notes.ran.push(idempotencyKey);
          if (action.ms > 0) await new Promise<void>((resolve) => engine.delay(action.ms, resolve));
          if (action.fails) throw new Error("fails");
          return action.ms;
        },
        { retry: { maxAttempts: 2, initial: 3, onExhausted: "throw" } },
      );
    case "sleep":
      return ctx.sleep(action.ms, name);
    case "call":
      return ctx.call("other").go(name);
    case "send":
      return (await ctx.send("other").go(name)).id;
    case "get":
      return ctx.get("last");
    case "keys":
      return ctx.keys();
    case "set":
      return ctx.set(`at ${name}`, notes.log.length);
    case "now":
      return typeof (await ctx.now());
    case "signal":
      return ctx.signal("s");
    default: {
      const branches = action.branches.map((branch, i) => execute(ctx, branch, `${name}/${i}`, engine, notes));
      if (action.kind === "all") return Promise.all(branches);
      if (action.kind === "race") return Promise.race(branches);
      if (action.kind === "any") return Promise.any(branches);
      return (await Promise.allSettled(branches)).length;
    }
  }
}

interface Play {
  readonly outcome: Outcome;
  readonly ran: readonly string[];
}

async function playProgram(actions: Program, cancels: boolean, rest: Partial<Scenario>): Promise<Play> {
  const notes: Notes = { counter: 0, ran: [], log: [] };
  let engine: FakeEngine | undefined;
  const definition = object("o", {
    async go(ctx) {
      notes.log.length = 0;
      await execute(ctx, actions, "p", engine as FakeEngine, notes);
      return notes.log;
    },
  });
  engine = new FakeEngine({
    definition,
    handler: "go",
    key: "k",
    answer: (_, input) => valueResult(JSON.stringify(input)),
    signals: [
      ["s", valueResult("1")],
      ["s", valueResult("2")],
      ...(cancels ? [[CANCEL_SIGNAL, VOID] as const] : []),
      ...Array.from({ length: 60 }, (_, i) => ["s", valueResult(String(i + 3))] as const),
    ],
    ...rest,
  });
  return { outcome: await engine.play(), ran: notes.ran };
}

it("J3: random programs replay from every prefix of their journal", async () => {
  await fc.assert(
    fc.asyncProperty(program, fc.boolean(), fc.boolean(), async (actions, cancels, alwaysYield) => {
      const { outcome } = await playProgram(actions, cancels, {});
      expect(outcome.status, JSON.stringify(outcome.paused ?? outcome.errors)).toBe("ended");
      const { entries } = outcome;
      // The whole journal gives the same result, without one effect.
      const replayed = await playProgram(actions, cancels, { entries });
      expect(replayed.outcome.result).toEqual(outcome.result);
      expect(replayed.outcome.entries).toEqual(entries);
      for (let at = 0; at < entries.length; at += 1) {
        const prefix = entries.slice(0, at);
        const { outcome: again, ran } = await playProgram(actions, cancels, { entries: prefix, alwaysYield });
        expect(again.status, JSON.stringify(again.paused ?? again.errors)).toBe("ended");
        expect(again.errors).toEqual([]);
        expect(again.entries.slice(0, at)).toEqual(prefix);
        for (const id of completedSteps(prefix)) expect(ran.filter((key) => key.endsWith(`-${id}`))).toEqual([]);
        // What came of it replays as well: the order may differ from the first run's, but not from its own journal.
        const own = await playProgram(actions, cancels, { entries: again.entries });
        expect(own.outcome.result).toEqual(again.result);
        expect(commandsOf(own.outcome.entries)).toEqual(commandsOf(again.entries));
      }
    }),
    { numRuns: inGuest() ? 12 : 60 },
  );
}, 120_000);

function completedSteps(entries: Outcome["entries"]): number[] {
  return entries.flatMap((entry) => {
    if (entry.kind === "completion") return [entry.id];
    return entry.kind === "command" && entry.result !== undefined ? [entry.id] : [];
  });
}
