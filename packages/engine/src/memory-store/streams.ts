// The memory store's streams: what was appended, in order, and where the rest begins.

import {
  assert,
  type Entry,
  type Instant,
  type Kept,
  type Payload,
  type Run,
  type StreamOwner,
  type StreamRef,
  streamOwner,
} from "@perdure/protocol";
import { keptResult } from "../kept.ts";
import type { LoadedOwner, LoadedRange, LoadedStream, NamedStream, StreamItem, StreamPage } from "../store.ts";
import { copy } from "./copy.ts";
import { compareText, lowerBound } from "./order.ts";
import type { StorageData } from "./storage.ts";

/** One append. */
interface StoredChunk {
  readonly from: number;
  readonly at: Instant;
  readonly writer: string | null;
  readonly items: readonly Payload[];
}

export interface StoredStream {
  start: number;
  readonly chunks: StoredChunk[];
}

export function ownerText(owner: StreamOwner): string {
  return "run" in owner ? owner.run : `${owner.service}\u0000${owner.key}`;
}

export function endOf(stream: StoredStream | undefined): number {
  const last = stream?.chunks.at(-1);
  return last === undefined ? (stream?.start ?? 0) : last.from + last.items.length;
}

function find(data: StorageData, { owner, name }: StreamRef): StoredStream | undefined {
  return data.streams.get(ownerText(owner))?.get(name);
}

/** Offsets from `from` on, at most `limit`. */
function* itemsOf(stream: StoredStream | undefined, from: number, limit: number): Generator<StreamItem> {
  if (stream === undefined) return;
  const first = Math.max(from, stream.start);
  const place = lowerBound(stream.chunks, first, (chunk, offset) => chunk.from + chunk.items.length - 1 - offset);
  for (const { from: base, at, writer, items } of stream.chunks.slice(place)) {
    for (const [i, payload] of items.entries()) {
      const offset = base + i;
      if (offset < first) continue;
      if (offset >= first + limit) return;
      yield { offset, at, writer, payload };
    }
  }
}

export function loadStream(data: StorageData, stream: StreamRef): LoadedStream {
  const stored = find(data, stream);
  return { stream, start: stored?.start ?? 0, end: endOf(stored) };
}

export function loadRange(data: StorageData, stream: StreamRef, from: number): LoadedRange {
  const items = [...itemsOf(find(data, stream), from, Number.POSITIVE_INFINITY)];
  return { stream, from, items: items.map(({ payload }) => copy(payload)) };
}

export function readPage(data: StorageData, stream: StreamRef, from: number, limit: number): StreamPage {
  const stored = find(data, stream);
  return { start: stored?.start ?? 0, end: endOf(stored), items: [...itemsOf(stored, from, limit)].map(copy) };
}

export function streamsOf(data: StorageData, owner: StreamOwner): NamedStream[] {
  const named = [...(data.streams.get(ownerText(owner)) ?? [])].sort(([a], [b]) => compareText(a, b));
  return named.map(([name, stream]) => ({ name, start: stream.start, end: endOf(stream) }));
}

/** Chunks are in order of time. */
export function streamsAt(data: StorageData, owner: StreamOwner, at: Instant): LoadedOwner["streams"] {
  return streamsOf(data, owner).map((named) => {
    const last = find(data, { owner, name: named.name })?.chunks.findLast((chunk) => chunk.at <= at);
    return { ...named, endAt: last === undefined ? named.start : last.from + last.items.length };
  });
}

/** T6: the entry with its result. */
export function rebuilt(data: StorageData, run: Run, entry: Entry): Entry {
  if ((entry.kind !== "command" && entry.kind !== "completion") || entry.kept === undefined) return copy(entry);
  return { ...copy(entry), result: resultOf(data, run, entry.kept) };
}

function resultOf(data: StorageData, run: Run, kept: Kept): ReturnType<typeof keptResult> {
  const stream = find(data, { owner: streamOwner(run), name: kept.stream });
  const items = [...itemsOf(stream, kept.from, kept.count)];
  return keptResult(
    kept,
    stream?.start ?? 0,
    items.map(({ payload }) => copy(payload)),
  );
}

/** The entry as it is stored: its bytes stand in the stream alone. */
export function withoutKept(entry: Entry): Entry {
  if ((entry.kind !== "command" && entry.kind !== "completion") || entry.kept === undefined) return entry;
  assert(entry.result !== undefined, "what stands in a stream is a result");
  return { ...entry, result: KEPT };
}

/** In the place of the result; `rebuilt` replaces it. */
const KEPT = { kind: "void" } as const;
