// A run of ten steps that take a while each and write every execution into a ledger outside, which survives the kill.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { service } from "perdure";

export interface RecoveryInput {
  readonly ledger: string;
  readonly stepMs: number;
}

export const recovery = service("recovery", {
  async tenSteps(ctx, input: RecoveryInput) {
    for (let i = 1; i <= 10; i += 1) {
      await ctx.step(`step ${i}`, async () => {
        appendFileSync(input.ledger, `${ctx.runId} ${i}\n`);
        await sleep(input.stepMs);
      });
    }
  },
});
