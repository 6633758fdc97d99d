// Queues of `overlap: "queue"`
// ============================
// A key's lane is a durable queue already (E3): what waits is a run of `start`, which holds the lane until the run that it
// started has ended. So nothing waits in the schedule's own key.

import {
  handler,
  object,
  type DefinedHandler,
  type ObjectContext,
  type ObjectDefinition,
  type Sends,
} from "@perdure/sdk";
import { z } from "zod";
import type { ScheduleHandlers } from "./schedules.ts";
import { startTarget, type StartOrder } from "./start.ts";
import { SCHEDULE_LANES, SCHEDULES } from "./types.ts";

export interface LaneHandlers {
  readonly start: DefinedHandler<ObjectContext, [order: StartOrder], void>;
}

export const scheduleLanes: ObjectDefinition<LaneHandlers> = object(
  SCHEDULE_LANES,
  {
    start: handler({ input: z.custom<StartOrder>(), internal: true }, async (ctx: ObjectContext, order) => {
      const { schedule, id } = order;
      // By name: the schedules need the lanes, and a module cannot need itself.
      const kept: Sends<ScheduleHandlers> = ctx.send(SCHEDULES, schedule);
      const started = await startTarget(ctx, order);
      if ("failed" in started) {
        void kept.begun({ id, run: null, outcome: `failed: ${started.failed}` });
        return;
      }
      void kept.begun({ id, run: started.run.id, outcome: "started" });
      await started.run.result().catch(() => undefined); // However it ended: the next one may start.
    }),
  },
  { description: "Starts that wait for the one before (overlap: queue).", retention: "1h" },
);
