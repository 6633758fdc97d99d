// Entries as rows. `type` is the command's type, or the kind of a notification; the names of the two do not overlap.
//
//   name    what the entry is about: step, signal, state key, promise, awakeable
//   input   the command's payload, or the signal's
//   outcome, result   a command's fused result, or the completion's
//   detail  the rest, as JSON; NULL for an ordinary step. `kept` in it: the result stands in a stream, `result` is NULL

import {
  assert,
  type Command,
  type CommandEntry,
  type Entry,
  type Kept,
  type MigrationTold,
  type ResumedEntry,
  type Result,
  type RunId,
  type SignalName,
  unreachable,
} from "@perdure/protocol";
import { type BoundCell, type Cell, type CellReader, type CellWriter, readResult, resultCell } from "./cells.ts";

export const ENTRY_COLUMNS = "idx, at, type, id, name, outcome, result, detail, input";

/** In the order of ENTRY_COLUMNS: as it is read, and as it is written. */
export type EntryRow<Payload = Cell> = readonly [
  idx: number,
  at: number,
  type: string,
  id: number | null,
  name: string | null,
  outcome: string | null,
  result: Payload,
  detail: string | null,
  input: Payload,
];
export type BoundEntryRow = EntryRow<BoundCell | null>;

interface Parts {
  readonly name?: string;
  readonly detail?: object;
  readonly input?: BoundCell | null;
}

export function entryToRow(entry: Entry, cells: CellWriter): BoundEntryRow {
  if (entry.kind === "command") return commandToRow(entry, cells);
  const { index, at } = entry;
  switch (entry.kind) {
    case "completion":
      return [index, at, "completion", entry.id, null, ...resultColumns(entry, cells), keptDetail(entry.kept), null];
    case "signal": {
      const named = typeof entry.signal === "string";
      const detail = { ...(named ? {} : { signal: entry.signal }), payload: outcomeJson(entry.payload) };
      return [
        index,
        at,
        "signal",
        null,
        named ? (entry.signal as string) : null,
        null,
        null,
        JSON.stringify(detail),
        valueCell(entry.payload, cells),
      ];
    }
    case "retry": {
      const { tries, failure, retryAt } = entry;
      return [index, at, "retry", entry.id, null, null, null, JSON.stringify({ tries, failure, retryAt }), null];
    }
    case "resumed":
      return resumedToRow(entry, cells);
  }
}

function resumedToRow({ index, at, forget, migrated }: ResumedEntry, cells: CellWriter): BoundEntryRow {
  if (migrated === undefined) return [index, at, "resumed", forget ?? null, null, null, null, null, null];
  const { point, state, ...about } = migrated;
  return [
    index,
    at,
    "resumed",
    forget ?? null,
    point,
    ...resultColumns({ result: state }, cells),
    JSON.stringify(about),
    null,
  ];
}

/** `outcome` and `result`. What stands in a stream leaves its place empty (T6). */
function resultColumns(
  { result, kept }: { readonly result?: Result; readonly kept?: Kept },
  cells: CellWriter,
): readonly [string | null, BoundCell | null] {
  if (result === undefined) return [null, null];
  return kept === undefined ? [result.kind, resultCell(result, cells)] : ["value", null];
}

function keptDetail(kept: Kept | undefined): string | null {
  return kept === undefined ? null : JSON.stringify({ kept });
}

function commandToRow(entry: CommandEntry, cells: CellWriter): BoundEntryRow {
  const { index, at, id, command, child, kept } = entry;
  const { name, detail, input } = commandParts(command, cells);
  const rest =
    child === undefined && kept === undefined
      ? detail
      : { ...detail, ...(child === undefined ? {} : { child }), ...(kept === undefined ? {} : { kept }) };
  return [
    index,
    at,
    command.type,
    id,
    name ?? null,
    ...resultColumns(entry, cells),
    rest === undefined ? null : JSON.stringify(rest),
    input ?? null,
  ];
}

function commandParts(command: Command, cells: CellWriter): Parts {
  switch (command.type) {
    case "step":
      return stepParts(command);
    case "sleep":
      return { ...named(command), detail: { wakeAt: command.wakeAt } };
    case "call":
    case "send": {
      const { type: _type, name: _name, input, ...detail } = command;
      return { ...named(command), detail, input: input === null ? null : cells.write(input) };
    }
    case "getState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
      return { name: command.key };
    case "getQueue":
    case "getStateKeys":
    case "clearAllState":
      return {};
    case "setState":
      return { name: command.key, input: cells.write(command.value) };
    case "completePromise":
      return {
        name: command.key,
        detail: { completion: outcomeJson(command.completion) },
        input: valueCell(command.completion, cells),
      };
    case "completeAwakeable":
      return {
        name: command.awakeable,
        detail: { completion: outcomeJson(command.completion) },
        input: valueCell(command.completion, cells),
      };
    case "sendSignal":
      return {
        detail: { run: command.run, signal: command.signal, payload: outcomeJson(command.payload) },
        input: valueCell(command.payload, cells),
      };
    case "attach":
    case "output":
      return { detail: { ref: command.ref } };
    case "append":
      return { name: command.stream, detail: { count: command.count } };
    case "readStream":
      return { name: command.stream, detail: { from: command.from } };
    case "streamLength":
      return { name: command.stream };
    case "trimStream":
      return { name: command.stream, detail: { before: command.before } };
    default:
      return unreachable(command);
  }
}

function stepParts({ name, type: _type, ...detail }: Extract<Command, { type: "step" }>): Parts {
  return Object.keys(detail).length === 0 ? { name } : { name, detail };
}

function named(command: { readonly name?: string }): Parts {
  return command.name === undefined ? {} : { name: command.name };
}

/** A result in `detail`, its value left to the column `input`. */
function outcomeJson(result: Result): object {
  return result.kind === "value" ? { kind: "value" } : result;
}

function valueCell(result: Result, cells: CellWriter): BoundCell | null {
  return result.kind === "value" ? cells.write(result.value) : null;
}

function outcomeFrom(json: Result, input: Cell, cells: CellReader): Result {
  return json.kind === "value" ? { kind: "value", value: cells.read(input) } : json;
}

/** Puts a result together that stands in a stream (T6). */
export type KeptReader = (kept: Kept) => Result;

export function rowToEntry(row: EntryRow, cells: CellReader, readKept: KeptReader): Entry {
  const [index, at, type, id, name, outcome, result, detail, input] = row;
  switch (type) {
    case "completion":
      assert(id !== null && outcome !== null, "a completion names its command and has a result");
      if (detail === null) return { kind: "completion", index, at, id, result: readResult(outcome, result, cells) };
      return { kind: "completion", index, at, id, ...keptParts(detail, readKept) };
    case "signal": {
      const json = JSON.parse(detail ?? "{}") as { readonly signal?: SignalName; readonly payload: Result };
      return {
        kind: "signal",
        index,
        at,
        signal: name ?? json.signal ?? "",
        payload: outcomeFrom(json.payload, input, cells),
      };
    }
    case "retry":
      assert(id !== null && detail !== null, "a retry names its command and has a failure");
      return { kind: "retry", index, at, id, ...(JSON.parse(detail) as object) } as Entry;
    case "resumed":
      return { kind: "resumed", index, at, ...(id === null ? {} : { forget: id }), ...migratedPart(row, cells) };
    default:
      return rowToCommand(row, cells, readKept);
  }
}

function migratedPart(
  [, , , , name, outcome, result, detail]: EntryRow,
  cells: CellReader,
): { readonly migrated?: MigrationTold } {
  if (detail === null || outcome === null) return {};
  const about = JSON.parse(detail) as Omit<MigrationTold, "point" | "state">;
  return { migrated: { point: name ?? "", ...about, state: readResult(outcome, result, cells) } };
}

function keptParts(detail: string, readKept: KeptReader): { readonly result: Result; readonly kept: Kept } {
  const { kept } = JSON.parse(detail) as { readonly kept: Kept };
  return { result: readKept(kept), kept };
}

function rowToCommand(row: EntryRow, cells: CellReader, readKept: KeptReader): CommandEntry {
  const [index, at, , id, , outcome, result, detail] = row;
  assert(id !== null, "a command has an id");
  const json = detail === null ? undefined : (JSON.parse(detail) as { child?: RunId; kept?: Kept });
  const { child, kept } = json ?? {};
  if (json !== undefined) {
    delete json.child;
    delete json.kept;
  }
  const entry: CommandEntry = { kind: "command", index, at, id, command: commandOf(row, json, cells) };
  const withChild = child === undefined ? entry : { ...entry, child };
  if (kept !== undefined) return { ...withChild, result: readKept(kept), kept };
  return outcome === null ? withChild : { ...withChild, result: readResult(outcome, result, cells) };
}

function commandOf(row: EntryRow, json: object | undefined, cells: CellReader): Command {
  const [, , type, , name, , , , input] = row;
  switch (type as Command["type"]) {
    case "step":
      return { type: "step", name: name ?? "", ...json } as Command;
    case "sleep":
      return { type, ...(name === null ? {} : { name }), ...json } as Command;
    case "call":
    case "send":
      return {
        type,
        ...(name === null ? {} : { name }),
        ...json,
        input: input === null ? null : cells.read(input),
      } as Command;
    case "getState":
    case "clearState":
    case "getPromise":
    case "peekPromise":
      return { type, key: name ?? "" } as Command;
    case "getQueue":
    case "getStateKeys":
    case "clearAllState":
      return { type } as Command;
    case "setState":
      return { type: "setState", key: name ?? "", value: cells.read(input) };
    case "completePromise":
      return {
        type: "completePromise",
        key: name ?? "",
        completion: outcomeFrom((json as { completion: Result }).completion, input, cells),
      };
    case "completeAwakeable":
      return {
        type: "completeAwakeable",
        awakeable: name ?? "",
        completion: outcomeFrom((json as { completion: Result }).completion, input, cells),
      };
    case "sendSignal":
      return { type, ...json, payload: outcomeFrom((json as { payload: Result }).payload, input, cells) } as Command;
    case "attach":
    case "output":
      return { type, ...json } as Command;
    case "append":
    case "readStream":
    case "streamLength":
    case "trimStream":
      return { type, stream: name ?? "", ...json } as Command;
    default:
      throw new TypeError(`the journal holds a command of an unknown type: ${type}`);
  }
}
