// Appending to streams. Offsets are given here, in the order of the batch, by the end that the view knows: several attempts
// may append to one stream in one batch, and each item gets an offset of its own.

import { type Kept, type Payload, type Run, streamOwner, type StreamRef } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import { type HotRun, type HotStream, streamKey } from "../view.ts";

/** The stream that a run means by a name. */
export function streamRef(run: Pick<Run, "id" | "service" | "key">, name: string): StreamRef {
  return { owner: streamOwner(run), name };
}

export function streamOf(batch: Batch, run: HotRun, name: string): HotStream {
  return batch.view.useStream(streamKey(streamRef(run.record, name)), run.attempt);
}

/** The offset of the first item. */
export function appendItems(batch: Batch, stream: HotStream, items: readonly Payload[], writer: string | null): number {
  const from = stream.end;
  stream.end += items.length;
  const last = batch.mutations.at(-1);
  // Tokens come in bursts: what one writer says without a break is one row.
  if (writer !== null && last?.type === "appendStream" && last.stream === stream.ref && last.writer === writer)
    batch.mutations[batch.mutations.length - 1] = { ...last, items: [...last.items, ...items] };
  else batch.mutations.push({ type: "appendStream", stream: stream.ref, from, items, writer, at: batch.now });
  return from;
}

/** Puts the value of a result into a stream, and says where it stands. */
export function keep(batch: Batch, run: HotRun, name: string, value: Payload): Kept {
  const from = appendItems(batch, streamOf(batch, run, name), [value], null);
  return { stream: name, from, count: 1, form: "item" };
}

/** The run has ended and is not replayed any more: what it asked to trim goes. */
export function trimStreams(batch: Batch, run: HotRun): void {
  const { record } = run;
  for (const { stream: name, before } of record.trims ?? []) {
    const stream = streamRef(record, name);
    const hot = batch.view.streams.get(streamKey(stream));
    if (hot !== undefined) hot.start = Math.max(hot.start, before);
    batch.mutations.push({ type: "trimStream", stream, before });
  }
  batch.change(run).trims = null;
}
