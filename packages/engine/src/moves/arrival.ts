// What queues behind the run that has a key's turn, told to that run where its handler listens: as it arrives (a signal), and
// when the run asks (`getQueue`). A hint and no transfer: a queued run gets its own turn later, whatever the holder makes
// of it, so an arrival that the holder ends without having seen is lost to nobody.

import { ARRIVAL_SIGNAL, QUEUE_LISTED_MAX, isFinished, valueResult, type Result } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { HotRun } from "../view.ts";
import { signal } from "./journal.ts";

/** The run was queued just now. */
export function tellHolder(batch: Batch, run: HotRun): void {
  const { service, handler, key } = run.record;
  if (key === null || !batch.environment.listens({ service, handler, key })) return;
  const { holder } = batch.view.key(service, key);
  const holding = holder === null ? undefined : batch.view.run(holder);
  if (holding === undefined || holding.record.handler !== handler || isFinished(holding.record.status)) return;
  signal(batch, holding, ARRIVAL_SIGNAL, valueResult(messageText(run)));
}

/** The answer to `getQueue`: runs of the same handler, in order of arrival. None for a run that has no turn. */
export function queueBehind(batch: Batch, run: HotRun): Result {
  const { id, service, handler, key } = run.record;
  const lane = key === null ? undefined : batch.view.key(service, key);
  if (lane?.holder !== id) return valueResult('{"messages":[],"more":false}');
  const queue = lane.queue.slice(0, QUEUE_LISTED_MAX);
  const queued = queue
    .flatMap((other) => batch.view.run(other) ?? [])
    .filter(({ record }) => record.handler === handler);
  const more = lane.more || lane.queue.length > queue.length;
  return valueResult(`{"messages":[${queued.map(messageText).join(",")}],"more":${more}}`);
}

/** `QueuedMessage` as JSON. The input is JSON already, so it is not parsed here. */
function messageText(run: HotRun): string {
  const { id, input, headers } = run.record;
  const text = typeof input === "string" && input !== "" ? input : "null";
  return `{"run":"${id}","input":${text},"headers":${JSON.stringify(headers ?? {})}}`;
}
