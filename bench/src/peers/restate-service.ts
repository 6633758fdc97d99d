// Restate service
// ===============
// The ten steps on the Restate SDK; started as a process by restate.ts. Argument: the port. HTTP/2, as the SDK's
// `serve` does by default, so that the server streams journal entries both ways within one attempt.

import * as restate from "@restatedev/restate-sdk";

const bench = restate.service({
  name: "bench",
  handlers: {
    async tenSteps(ctx: restate.Context, input: { n: number }): Promise<number> {
      let value = input.n;
      for (let i = 0; i < 10; i += 1) value = await ctx.run(`step-${i}`, () => value + 1);
      return value;
    },
  },
});

await restate.serve({ services: [bench], port: Number(process.argv[2]) });
process.once("disconnect", () => process.exit(0));
process.send?.("ready");
