// What the benchmark `cockpit` has the cockpit look at: runs that do nothing, many entries at once, and a steady stream of them.

import { setTimeout as later } from "node:timers/promises";
import { service } from "perdure";

export const load = service("load", {
  async nothing() {
    return null;
  },

  async steps(ctx, input: { count: number }) {
    for (let at = 1; at <= input.count; at += 1) await ctx.step(`step ${at}`, () => at);
    return input.count;
  },

  async ticks(ctx, input: { count: number; everyMs: number }) {
    const began = Date.now();
    for (let at = 1; at <= input.count; at += 1) {
      await ctx.step(`tick ${at}`, async () => {
        await later(Math.max(0, began + at * input.everyMs - Date.now()));
        return at;
      });
    }
    return input.count;
  },
});
