// What the world of a run was after entry `at`, as far as its journal tells: the state of its key, its promises, and where
// its streams stood. The journal of the run is whole here, from entry 1 on.

import { type Command, type Entry, type Payload, type Result } from "@perdure/protocol";

type Write = Extract<Command, { type: "setState" | "clearState" | "clearAllState" }>;

function isWrite(command: Command): command is Write {
  return command.type === "setState" || command.type === "clearState" || command.type === "clearAllState";
}

function writes(command: Write, name: string): boolean {
  return command.type === "clearAllState" || command.key === name;
}

export interface StateAsOf {
  readonly state: ReadonlyMap<string, Payload>;
  /** The journal, or what is there now, tells of every name. */
  readonly certain: boolean;
}

/**
 * Each name has what the last write up to `at` gave it; else what the first read of it says that comes before any write; else
 * what it has now, unless the run has written it since: then nobody knows what it was, and it is left out.
 */
export function stateAsOf(journal: readonly Entry[], at: number, present: ReadonlyMap<string, Payload>): StateAsOf {
  const commands = journal.filter((entry) => entry.kind === "command");
  const written = commands.map(({ command }) => command).filter(isWrite);
  const names = new Set([...present.keys(), ...written.flatMap((write) => ("key" in write ? [write.key] : []))]);
  for (const { command } of commands) if (command.type === "getState") names.add(command.key);
  const state = new Map<string, Payload>();
  let certain = true;
  for (const name of names) {
    const value = valueAsOf(journal, at, name, present.get(name));
    if (value === UNKNOWN) certain = false;
    else if (value !== undefined) state.set(name, value);
  }
  return { state, certain };
}

const UNKNOWN = Symbol("unknown");

function valueAsOf(
  journal: readonly Entry[],
  at: number,
  name: string,
  present: Payload | undefined,
): Payload | undefined | typeof UNKNOWN {
  const commands = journal.filter((entry) => entry.kind === "command");
  const last = commands.findLast(
    ({ index, command }) => index <= at && isWrite(command) && writes(command, name),
  )?.command;
  if (last !== undefined) return last.type === "setState" ? last.value : undefined;
  const firstWrite = commands.find(({ command }) => isWrite(command) && writes(command, name))?.index;
  const read = commands.find(({ command }) => command.type === "getState" && command.key === name);
  if (read !== undefined && read.index < (firstWrite ?? Number.POSITIVE_INFINITY)) {
    const result = resultOf(journal, read.id);
    if (result !== undefined) return result.kind === "value" ? result.value : undefined;
  }
  return firstWrite === undefined ? present : UNKNOWN;
}

/** The result of a command, fused or not. */
export function resultOf(journal: readonly Entry[], id: number): Result | undefined {
  for (const entry of journal)
    if ((entry.kind === "command" || entry.kind === "completion") && entry.id === id && entry.result !== undefined)
      return entry.result;
  return undefined;
}

/** Promises that the run has completed, or has seen completed, up to `at`. */
export function promisesAsOf(prefix: readonly Entry[]): ReadonlyMap<string, Result> {
  const promises = new Map<string, Result>();
  for (const entry of prefix) {
    if (entry.kind !== "command") continue;
    const { command } = entry;
    if (command.type !== "completePromise" && command.type !== "getPromise" && command.type !== "peekPromise") continue;
    const result = resultOf(prefix, entry.id);
    if (result === undefined) continue;
    if (command.type === "completePromise") {
      if (result.kind === "void") promises.set(command.key, command.completion);
    } else if (command.type === "getPromise" || result.kind !== "void") promises.set(command.key, result);
  }
  return promises;
}

/** Where a stream of the run stood after entry `at`, where time alone says `endAt`. */
export function streamEndAsOf(
  journal: readonly Entry[],
  at: number,
  stream: { readonly name: string; readonly end: number; readonly endAt: number },
): number {
  let [low, high] = [0, stream.end];
  for (const entry of journal) {
    const told = toldOf(entry, stream.name);
    if (told === undefined) continue;
    if (entry.index <= at) low = Math.max(low, told.after);
    else high = Math.min(high, told.before);
  }
  return Math.min(Math.max(stream.endAt, low), Math.max(high, low));
}

/** What an entry says of a stream's end, before and after it. */
function toldOf(entry: Entry, name: string): { readonly before: number; readonly after: number } | undefined {
  if (entry.kind !== "command" && entry.kind !== "completion") return undefined;
  const { kept, result } = entry;
  if (kept?.stream === name) {
    const after = kept.from + kept.count;
    return { before: kept.form === "item" ? kept.from : after, after };
  }
  if (entry.kind !== "command" || result?.kind !== "value") return undefined;
  const { command } = entry;
  if (command.type === "append" && command.stream === name) {
    const before = Number(result.value);
    return { before, after: before + command.count };
  }
  if (command.type !== "streamLength" || command.stream !== name) return undefined;
  return { before: Number(result.value), after: Number(result.value) };
}

/** Entries from `at` on are gone: the commands that are left, and have no result. */
export function openCommands(prefix: readonly Entry[]): readonly Extract<Entry, { kind: "command" }>[] {
  const completed = new Set<number>();
  for (const entry of prefix)
    if (entry.kind === "completion" || (entry.kind === "command" && entry.result !== undefined))
      completed.add(entry.id);
  return prefix.filter((entry) => entry.kind === "command").filter(({ id }) => !completed.has(id));
}
