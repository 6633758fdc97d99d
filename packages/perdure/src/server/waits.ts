// What a run waits for, in words that a person can act on: which timer until when, which child, which awakeable.

import type { StoreReader } from "@perdure/engine";
import {
  isFinished,
  type Awaiting,
  type CommandEntry,
  type Entry,
  type Run,
  type RunId,
  type WaitView,
} from "@perdure/protocol";
import type { LiveView } from "@perdure/host";
import { awakeableOf, instantText } from "./views.ts";

/** Commands that are waited for are mostly among the last entries; the others are looked up one by one, up to a limit. */
const TAIL_ENTRIES = 200;
const LOOKED_UP_MAX = 20;
const LOOK_UP_PAGE = 500;

export interface JournalEnd {
  readonly length: number;
  readonly tail: readonly Entry[];
}

/** Length and last entries of a journal, in a logarithmic number of single-row reads: the reader only pages forward. */
export async function readJournalEnd(reader: StoreReader, run: RunId): Promise<JournalEnd> {
  const hasMoreThan = async (count: number): Promise<boolean> => (await reader.journal(run, count, 1)).length > 0;
  let low = 0; // The journal has at least that many entries …
  let high = TAIL_ENTRIES;
  while (await hasMoreThan(high)) {
    low = high + 1;
    high *= 4;
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasMoreThan(middle)) low = middle + 1;
    else high = middle;
  }
  const tail = await reader.journal(run, Math.max(0, low - TAIL_ENTRIES), TAIL_ENTRIES);
  return { length: low, tail };
}

export async function waitsOf(
  reader: StoreReader,
  run: Run,
  live: LiveView,
  end: JournalEnd,
): Promise<readonly WaitView[]> {
  if (isFinished(run.status)) return [];
  const awaiting = live.live ? (live.awaiting ?? []) : (run.awaiting ?? []);
  const commands = new Map<number, CommandEntry>();
  for (const entry of end.tail) if (entry.kind === "command") commands.set(entry.id, entry);
  const absent = awaiting
    .filter((item) => item.kind === "completion" && !commands.has(item.id))
    .slice(0, LOOKED_UP_MAX);
  for (const item of absent) {
    if (item.kind !== "completion") continue;
    const found = await findCommand(reader, run.id, item.id);
    if (found !== undefined) commands.set(item.id, found);
  }
  const waits = awaiting.map((item) => waitView(run.id, item, commands));
  const retryAt = run.status === "retrying" ? run.retry?.at : undefined;
  if (retryAt !== undefined) waits.push({ kind: "time", at: instantText(retryAt) });
  if (run.status === "scheduled" && run.scheduledAt !== null)
    waits.push({ kind: "time", at: instantText(run.scheduledAt) });
  return waits;
}

/** J1: command `id` stands at index `id` or later, by as much as there are notifications before it. */
async function findCommand(reader: StoreReader, run: RunId, id: number): Promise<CommandEntry | undefined> {
  const page = await reader.journal(run, id - 1, LOOK_UP_PAGE);
  return page.find((entry): entry is CommandEntry => entry.kind === "command" && entry.id === id);
}

function waitView(run: RunId, awaiting: Awaiting, commands: ReadonlyMap<number, CommandEntry>): WaitView {
  if (awaiting.kind === "time") return { kind: "time", at: instantText(awaiting.at) };
  if (awaiting.kind === "signal") {
    const awakeable = awakeableOf(run, awaiting.signal);
    return awakeable === undefined ? { kind: "signal", signal: awaiting.signal } : { kind: "awakeable", id: awakeable };
  }
  const entry = commands.get(awaiting.id);
  const command = awaiting.id;
  if (entry === undefined) return { kind: "command", command, type: null };
  switch (entry.command.type) {
    case "sleep":
      return { kind: "timer", command, name: entry.command.name ?? null, at: instantText(entry.command.wakeAt) };
    case "call":
      return entry.child === undefined
        ? { kind: "command", command, type: "call" }
        : { kind: "run", command, runId: entry.child, target: entry.command.target };
    case "step":
      return { kind: "step", command, name: entry.command.name };
    case "getPromise":
      return { kind: "promise", command, name: entry.command.key };
    default:
      return { kind: "command", command, type: entry.command.type };
  }
}
