// The module that is bundled for isolates: the handlers of a simulated world, whatever its seed is. Programs are read in a
// step, as they are data of the world; what the code saw is logged.

import { Catalogue } from "../catalogue.ts";
import { defineHandlers } from "./handlers.ts";
import { execute, programOf } from "./hands.ts";

/** What is logged, as a message, of what the code saw. */
const SAW = "saw";

const ids = new Catalogue({ retry: {}, retentionMs: 0, deployment: () => "" });

type Definitions = ReturnType<typeof defineHandlers>;

const definitions: Definitions = defineHandlers({
  programOf: (ctx, number) => ctx.step("program", async (info) => (await programOf(info, number)) ?? undefined),
  idempotentId: (target, key) => ids.idempotentId(target, key),
  workflowId: (service, key) => ids.workflowId(service, key),
  execute: (_, node, info) => execute(info, node),
  saw: (ctx, _, count, digest) => ctx.log.debug(SAW, { count, digest }),
  itself: (ctx) => ctx.runId,
  fails: () => false, // No code of an isolate knows another chance than its run's; faults come from outside.
});

export const svc: Definitions[0] = definitions[0];
export const obj: Definitions[1] = definitions[1];
export const wf: Definitions[2] = definitions[2];
