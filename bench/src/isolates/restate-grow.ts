// A run whose journal grows to a wanted length, waits, and says when it goes on, on the Restate SDK; started as a process by
// restate-resume.ts. Argument: the port. What it waits for is an awakeable, whose id it reports.

import * as restate from "@restatedev/restate-sdk";

export interface GrowthInput {
  readonly entries: number;
  /** Where to report ids and that it goes on. */
  readonly report: string;
}

const PARALLEL = 250;

const bench = restate.service({
  name: "growth",
  handlers: {
    async grow(ctx: restate.Context, { entries, report }: GrowthInput): Promise<void> {
      // A `run` is two entries: its command and its completion.
      for (let filled = 0; filled < entries; ) {
        const count = Math.min(PARALLEL, Math.max(1, Math.ceil((entries - filled) / 2)));
        await restate.RestatePromise.all(
          Array.from({ length: count }, (_, index) => ctx.run(`fill ${index}`, () => index)),
        );
        filled += count * 2;
      }
      for (;;) {
        const { id, promise } = ctx.awakeable<number>();
        await ctx.run("ask", () => post(report, { entries, id }));
        const round = await promise;
        if (round < 0) return;
        await ctx.run("seen", () => post(report, { entries, seen: true }));
      }
    },
  },
});

async function post(url: string, body: unknown): Promise<void> {
  await fetch(url, { method: "POST", body: JSON.stringify(body) });
}

await restate.serve({ services: [bench], port: Number(process.argv[2]) });
process.once("disconnect", () => process.exit(0));
process.send?.("ready");
