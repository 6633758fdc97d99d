// Runs as rows. Fields that most runs do not use stand together in one JSON column, which is then NULL.

import type {
  Awaiting,
  CancelState,
  Failure,
  ForkOrigin,
  HandlerMode,
  Headers,
  Migrated,
  Payload,
  RetryState,
  Run,
  RunId,
  RunStatus,
  StreamTrim,
} from "@perdure/protocol";
import { laneOf } from "@perdure/engine";
import { type Cell, type CellReader, readResult, resultFromJson, resultToJson } from "./cells.ts";

export const RUN_COLUMNS: string =
  "seq, id, status, service, handler, key, mode, created_at, changed_at, scheduled_at, finished_at, arrival, watched, deployment, " +
  "parent, parent_command, parent_awaited, idempotency_key, headers, awaiting, detail, outcome, result, input";

/** In the order of RUN_COLUMNS. */
export type RunRow = readonly [
  seq: number,
  id: string,
  status: string,
  service: string,
  handler: string,
  key: string | null,
  mode: string,
  createdAt: number,
  changedAt: number,
  scheduledAt: number | null,
  finishedAt: number | null,
  arrival: number,
  watched: number,
  deployment: string | null,
  parent: string | null,
  parentCommand: number | null,
  parentAwaited: number | null,
  idempotencyKey: string | null,
  headers: string | null,
  awaiting: string | null,
  detail: string | null,
  outcome: string | null,
  result: Cell,
  input: Cell,
];

interface Detail {
  generation?: number;
  forkedFrom?: ForkOrigin;
  migrated?: Migrated;
  migrating?: NonNullable<Run["migrating"]>;
  retry?: RetryState;
  trims?: readonly StreamTrim[];
  pausedBy?: Failure;
  cancelling?: {
    readonly waitingFor: readonly RunId[];
    readonly held: readonly { readonly command: number; readonly result: unknown }[];
  };
}

export function detailOf(run: Run): string | null {
  if (isPlain(run)) return null;
  const detail: Detail = {};
  if (run.generation !== 0) detail.generation = run.generation;
  if (run.forkedFrom !== null) detail.forkedFrom = run.forkedFrom;
  if (run.migrated !== null) detail.migrated = run.migrated;
  if (run.migrating !== null) detail.migrating = run.migrating;
  if (run.retry !== null) detail.retry = run.retry;
  if (run.trims !== null) detail.trims = run.trims;
  if (run.pausedBy !== null) detail.pausedBy = run.pausedBy;
  if (run.cancelling !== null) {
    const held = run.cancelling.held.map(({ command, result }) => ({ command, result: resultToJson(result) }));
    detail.cancelling = { waitingFor: run.cancelling.waitingFor, held };
  }
  return JSON.stringify(detail);
}

function isPlain({ generation, forkedFrom, migrated, migrating, retry, trims, pausedBy, cancelling }: Run): boolean {
  const none = retry === null && trims === null && pausedBy === null && cancelling === null;
  return none && generation === 0 && forkedFrom === null && migrated === null && migrating === null;
}

export function awaitingOf(run: Run): string | null {
  return run.awaiting === null ? null : JSON.stringify(run.awaiting);
}

export const LANE_HOLDER = 0;
export const LANE_QUEUED = 1;

export function laneNumber(run: Run): number | null {
  const lane = laneOf(run);
  if (lane === null) return null;
  return lane === "holder" ? LANE_HOLDER : LANE_QUEUED;
}

/** @param inputEntry reads an input that stands in the journal as entry 0. */
export function rowToRun(row: RunRow, cells: CellReader, inputEntry: (seq: number) => Payload): Run {
  const [
    seq,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    parent,
    parentCommand,
    parentAwaited,
    ,
    headers,
    awaiting,
    detailText,
    outcome,
    result,
    input,
  ] = row;
  const detail = detailText === null ? undefined : (JSON.parse(detailText) as Detail);
  return {
    id: row[1] as RunId,
    seq,
    service: row[3],
    handler: row[4],
    key: row[5],
    mode: row[6] as HandlerMode,
    status: row[2] as RunStatus,
    input: readInput(seq, input, cells, inputEntry),
    headers: headers === null ? null : (JSON.parse(headers) as Headers),
    idempotencyKey: row[17],
    parent:
      parent === null ? null : { run: parent as RunId, command: parentCommand ?? 0, awaited: parentAwaited === 1 },
    forkedFrom: detail?.forkedFrom ?? null,
    deployment: row[13],
    migrated: detail?.migrated ?? null,
    migrating: detail?.migrating ?? null,
    createdAt: row[7],
    changedAt: row[8],
    scheduledAt: row[9],
    finishedAt: row[10],
    arrival: row[11],
    generation: detail?.generation ?? 0,
    retry: detail?.retry ?? null,
    awaiting: awaiting === null ? null : (JSON.parse(awaiting) as readonly Awaiting[]),
    pausedBy: detail?.pausedBy ?? null,
    cancelling: detail?.cancelling === undefined ? null : cancelState(detail.cancelling),
    trims: detail?.trims ?? null,
    watched: row[12] === 1,
    result: outcome === null ? null : readResult(outcome, result, cells),
  };
}

function readInput(seq: number, cell: Cell, cells: CellReader, inputEntry: (seq: number) => Payload): Payload | null {
  if (cell === null) return null;
  return cell === 0 ? inputEntry(seq) : cells.read(cell);
}

function cancelState(json: NonNullable<Detail["cancelling"]>): CancelState {
  return {
    waitingFor: json.waitingFor,
    held: json.held.map(({ command, result }) => ({ command, result: resultFromJson(result) })),
  };
}
