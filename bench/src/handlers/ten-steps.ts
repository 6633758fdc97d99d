// Ten steps
// =========
// The handler that the benchmark `steps` calls: ten dependent steps, each adding one to the step before it.

import { service } from "perdure";

export const bench = service("bench", {
  async tenSteps(ctx, input: { n: number }) {
    let value = input.n;
    for (let i = 0; i < 10; i += 1) value = await ctx.step(`step-${i}`, () => value + 1);
    return value;
  },
});
