// A handler that nobody calls: it is run once before the base image is taken, and forgotten.
//
// What a first run leaves behind in the heap (shapes, atoms, blocks of the sizes that an attempt needs, freed again) is
// part of the base then. Runs that start from it find the same blocks in the same order, so that their images differ from
// the base by what they hold and not by where it lies: measured, a third of the bytes.

import { service } from "../definitions/service.ts";
import type { ServiceDefinition } from "../definitions/service.ts";

export const REHEARSAL = "perdure.rehearsal";

export const rehearsal: ServiceDefinition<object> = service(REHEARSAL, {
  async run(ctx) {
    const heard: unknown[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      heard.push(await ctx.step(`step ${turn}`, async (info) => ({ turn, key: info.idempotencyKey, text: "text" })));
    }
    ctx.log.debug("rehearsed", { turns: heard.length });
    try {
      await Promise.race([ctx.sleep("1h"), ctx.signal("never")]);
    } finally {
      heard.length = 0;
    }
  },
});
