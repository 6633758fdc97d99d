// What code asks of streams. An append is complete when it is written; a read is answered with what the stream holds by
// then, this batch's appends included, and only the range is journaled.

import { assert, itemList, unreachable, valueResult, type Payload, type StreamCommand } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { AttemptEvent } from "../events.ts";
import { liveAttempt } from "../moves/attempts.ts";
import { appendCommand, give } from "../moves/journal.ts";
import { appendItems, streamOf } from "../moves/streams.ts";
import { rangeText, type HotRun, type HotStream } from "../view.ts";

export function streamCommand(
  batch: Batch,
  run: HotRun,
  id: number,
  command: StreamCommand,
  items: readonly Payload[] = [],
): void {
  const stream = streamOf(batch, run, command.stream);
  switch (command.type) {
    case "append": {
      assert(items.length === command.count, `an append of ${command.count} items brings ${items.length}`);
      const from = appendItems(batch, stream, items, null);
      appendCommand(batch, run, id, command, { result: valueResult(String(from)) });
      return;
    }
    case "readStream":
      read(batch, run, id, command, stream);
      return;
    case "streamLength":
      give(batch, run, appendCommand(batch, run, id, command, { result: valueResult(String(stream.end)) }));
      return;
    case "trimStream": {
      appendCommand(batch, run, id, command);
      const before = Math.min(command.before, stream.end);
      if (before <= firstOffset(run, stream)) return;
      const trims = run.record.trims ?? [];
      const others = trims.filter((trim) => trim.stream !== command.stream); // The later one drops at least as much.
      batch.change(run).trims = [...others, { command: id, stream: command.stream, before }];
      return;
    }
    default:
      unreachable(command);
  }
}

/** Where the stream begins for this run: it does not see what it has trimmed itself. */
function firstOffset(run: HotRun, stream: HotStream): number {
  let first = stream.start;
  for (const trim of run.record.trims ?? []) if (trim.stream === stream.ref.name) first = Math.max(first, trim.before);
  return first;
}

function read(
  batch: Batch,
  run: HotRun,
  id: number,
  command: Extract<StreamCommand, { type: "readStream" }>,
  stream: HotStream,
): void {
  const from = Math.max(command.from, firstOffset(run, stream));
  const items = from < stream.end ? itemsFrom(batch, stream, command.from, from) : [];
  const result = valueResult(itemList(items));
  // No range is journaled for no items: an empty list has no place to stand in.
  const kept = { stream: command.stream, from, count: items.length, form: "list" } as const;
  give(batch, run, appendCommand(batch, run, id, command, items.length === 0 ? { result } : { result, kept }));
}

/** What is stored, and what this batch has appended. */
function itemsFrom(batch: Batch, stream: HotStream, asked: number, from: number): readonly Payload[] {
  const stored = batch.view.ranges.get(rangeText(stream.text, asked));
  assert(stored !== undefined, `stream ${stream.text} is read without being loaded`);
  const items = [...stored.items];
  for (const mutation of batch.mutations) {
    if (mutation.type !== "appendStream" || mutation.stream !== stream.ref) continue;
    items.push(...mutation.items.slice(Math.max(0, asked - mutation.from)));
  }
  const wanted = items.slice(items.length - (stream.end - from));
  assert(wanted.length === stream.end - from, `stream ${stream.text} has gaps`);
  return wanted;
}

/** Items from within a step, which nothing waits for and no replay sees. */
export function appendLive(batch: Batch, event: Extract<AttemptEvent, { type: "append" }>): void {
  const run = batch.view.run(event.run);
  if (run === undefined || liveAttempt(run, event.attempt) === null) return; // E4: stale.
  appendItems(batch, streamOf(batch, run, event.stream), event.items, event.writer);
}
