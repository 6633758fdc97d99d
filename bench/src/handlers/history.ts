// A run whose journal grows to a wanted length, and that then measures single steps whenever it is asked to.
//
// The journal is filled by steps in parallel, since those share flushes. What is measured is one step after another:
// from the start of one closure to the start of the next, which is a whole step with its commit.

import { performance } from "node:perf_hooks";
import { service } from "perdure";

export interface HistoryInput {
  readonly entries: number;
  /** Where medians are reported to. */
  readonly report: string;
  readonly stepsPerRound: number;
}

const PARALLEL = 250;

export const history = service("history", {
  async grow(ctx, input: HistoryInput) {
    // A step begun beside others takes two entries, its command and its result; the last of a group only one.
    for (let filled = 0; filled < input.entries; ) {
      const count = Math.min(PARALLEL, Math.max(1, Math.ceil((input.entries - filled) / 2)));
      await Promise.all(Array.from({ length: count }, (_, i) => ctx.step(`fill ${i}`, () => i)));
      filled += Math.max(1, count * 2 - 1);
    }
    await ctx.step("ready", () => post(input.report, { entries: input.entries, ready: true }));
    for await (const round of ctx.signals<number>("round")) {
      if (round < 0) return;
      const starts: number[] = [];
      for (let i = 0; i <= input.stepsPerRound; i += 1)
        await ctx.step("one", () => void starts.push(performance.now()));
      await ctx.step("report", () => post(input.report, { entries: input.entries, stepMs: medianGap(starts) }));
    }
  },
});

function medianGap(starts: readonly number[]): number {
  const gaps = starts.slice(1).map((start, i) => start - (starts[i] ?? start));
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? Number.NaN;
}

async function post(url: string, body: unknown): Promise<void> {
  await fetch(url, { method: "POST", body: JSON.stringify(body) });
}
