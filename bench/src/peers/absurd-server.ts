// Absurd server
// =============
// Started as a process by absurd.ts. Arguments: the Postgres URL and the path of the schema.
//
// Absurd's own `awaitTaskResult` polls the database after 50, 100, 200 … ms. The caller here sits in the worker's
// process, so the SDK's hook around a task's execution answers it the moment the run's completion is committed: the
// fastest way its interface allows.

import { Absurd } from "absurd-sdk";
import { readFileSync } from "node:fs";
import { Pool } from "pg";
import { serveTenSteps } from "./http.ts";

const [, , connectionString = "", schema = ""] = process.argv;
const pool = new Pool({ connectionString, max: 20 }); // 10, 20 and 40 measured alike: the processor is the limit.
await pool.query(readFileSync(schema, "utf8"));

const results = new Map<string, number>();
const waiting = new Map<string, PromiseWithResolvers<number>>();

const app = new Absurd({
  db: pool,
  queueName: "bench",
  hooks: {
    async wrapTaskExecution(ctx, execute) {
      const done = await execute();
      const value = results.get(ctx.taskID) ?? Number.NaN;
      results.delete(ctx.taskID);
      waiterOf(ctx.taskID).resolve(value);
      return done;
    },
  },
});
await app.createQueue("bench");
app.registerTask<{ n: number }, number>({ name: "tenSteps" }, async ({ n }, ctx) => {
  let value = n;
  for (let i = 0; i < 10; i += 1) value = await ctx.step(`step-${i}`, async () => value + 1);
  results.set(ctx.taskID, value);
  return value;
});
await app.startWorker({ concurrency: 256, batchSize: 64, pollInterval: 0.005, claimTimeout: 60 });

serveTenSteps(async (n) => {
  const { taskID } = await app.spawn("tenSteps", { n });
  const value = await waiterOf(taskID).promise;
  waiting.delete(taskID);
  return value;
});

/** The task may end before `spawn` has answered: whoever comes first makes the promise. */
function waiterOf(taskId: string): PromiseWithResolvers<number> {
  const waiter = waiting.get(taskId) ?? Promise.withResolvers<number>();
  waiting.set(taskId, waiter);
  return waiter;
}
