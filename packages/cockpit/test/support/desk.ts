// Handlers that a test can hold where it wants them: they wait for signals and for files, fail when they are told to, and give
// back whatever they were given.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { object, schedules, service, TerminalError } from "perdure";

/** Where a test puts the files that open gates. */
const GATES: string = process.env["DESK_GATES"] ?? "";
const LOOK_EVERY_MS = 20;

async function gate(name: string): Promise<void> {
  while (!existsSync(join(GATES, name))) await later(LOOK_EVERY_MS);
}

/** What a handler must not branch on. */
const BEGUN = new Set<string>();

interface Leaf {
  readonly name: string;
}

export const desk = service("desk", {
  async steps(ctx, input: { readonly count: number; readonly value?: string }) {
    for (let at = 1; at <= input.count; at += 1) await ctx.step(`step ${at}`, () => input.value ?? at);
    return input.count;
  },

  async waits(ctx, input: { readonly before?: string }) {
    await ctx.step(input.before ?? "before", () => "was done before the wait");
    const word = await ctx.signal<string>("go");
    await ctx.step("after", () => `was told ${word}`);
    return word;
  },

  /** Two branches with a leaf each. What was begun is undone when it is cancelled. */
  async trunk(ctx, input: Leaf) {
    try {
      await Promise.all(["left", "right"].map((name) => ctx.call(desk).branch({ name: `${input.name} ${name}` })));
    } finally {
      await ctx.step("undo the trunk", () => null);
    }
  },

  async branch(ctx, input: Leaf) {
    try {
      await ctx.call(desk).leaf(input);
    } finally {
      await ctx.step("undo the branch", () => null);
    }
  },

  async leaf(ctx, input: Leaf) {
    try {
      await ctx.signal("grown");
    } finally {
      await ctx.step(`undo the leaf ${input.name}`, () => gate(`undo ${input.name}`));
    }
  },

  /** A step of the name that it is given, with a result that it is given. */
  async echo(ctx, input: { readonly name: string; readonly value: unknown }) {
    return ctx.step(input.name, () => input.value);
  },

  /** Asks for another step than the recorded one whenever it runs again. */
  async drifts(ctx, input: { readonly recorded: string; readonly now: string }) {
    await ctx.step("greet", () => "hello");
    const hasRun = BEGUN.has(ctx.runId);
    BEGUN.add(ctx.runId);
    await ctx.step(hasRun ? input.now : input.recorded, () => "charged");
    return ctx.signal<string>("go");
  },

  /** The note that a fork is given, or what everybody is told. */
  async chooses(ctx) {
    await ctx.step("look around", () => "looked");
    const word = await Promise.race([ctx.signal<string>("perdure.fork"), ctx.signal<string>("go")]);
    return ctx.step("take", () => word);
  },

  async fails(_, input: { readonly message: string }) {
    throw new TerminalError(input.message, { status: 422 });
  },

  /** Paused after its second try. */
  async pauses(ctx, input: { readonly name: string; readonly message: string }) {
    return ctx.step(input.name, () => Promise.reject(new Error(input.message)), {
      retry: { maxAttempts: 2, initial: "1ms", max: "1ms" },
    });
  },

  /** A schedule of the name that it is given. */
  async plan(ctx, input: { readonly name: string; readonly text: string }) {
    const target = { service: "desk", handler: "steps" };
    await ctx.call(schedules, input.name).put({ cron: "0 3 * * *", target, input: { count: 1, value: input.text } });
    return input.name;
  },

  /** So many journal entries a second, or so. */
  async busy(ctx, input: { readonly steps: number; readonly everyMs: number }) {
    for (let at = 1; at <= input.steps; at += 1) {
      await ctx.step(`work ${at}`, async () => {
        if (input.everyMs > 0) await later(input.everyMs);
        return at;
      });
    }
    return input.steps;
  },
});

export { schedules } from "perdure";

export const shelf = object("shelf", {
  async put(ctx, input: { readonly name: string; readonly value: unknown }) {
    ctx.set(input.name, input.value);
    return input.name;
  },

  async hold(ctx) {
    return ctx.signal("release");
  },
});
