// Retention: finished runs go when their time is over. A sweep looks at a page of finished runs, oldest first, deletes
// those that are due, and comes back for the next page; runs of other retentions in between are simply passed over.

import type { Batch } from "../batch.ts";
import { isFinished } from "@perdure/protocol";
import { remove } from "./control.ts";

export function retention(batch: Batch): void {
  const page = batch.view.finished ?? [];
  for (const record of page) {
    const { service, handler, key, finishedAt } = record;
    const keepMs = batch.environment.retentionMs(key === null ? { service, handler } : { service, handler, key });
    const run = batch.view.run(record.id);
    if (run === undefined || !isFinished(run.record.status)) continue;
    if ((finishedAt ?? batch.now) + keepMs <= batch.now) remove(batch, run);
  }
  const last = page.at(-1);
  batch.actions.push({
    type: "retentionPage",
    lastSeq: page.length < batch.limits.retentionPageMax ? null : (last?.seq ?? null),
  });
}
