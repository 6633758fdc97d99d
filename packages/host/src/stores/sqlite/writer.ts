// The writer: mutations as statements
// ===================================
// One method per mutation, statements prepared once. All of it runs inside the transaction of one commit.
//
// The hot path is `appendEntry` (ten times per run), `insertRun` and `updateRun`; what costs there is the number of bound
// values and of touched indexes, so the common shapes have statements of their own.

import { assert, type Payload, payloadSize, type Result, type Run, type RunId, unreachable } from "@perdure/protocol";
import { type KeyName, type Mutation, type Timer, type WaitTarget, waitTargetName } from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { BlobRefs } from "./blob-refs.ts";
import { type BoundCell, type CellWriter, resultCell } from "./cells.ts";
import { entryToRow } from "./entry-rows.ts";
import { ImageWriter } from "./image-rows.ts";
import { awaitingOf, detailOf, LANE_HOLDER, LANE_QUEUED, laneNumber } from "./run-rows.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Inputs above this stand in the journal as entry 0, so that a run's row stays small where it is rewritten. */
const INPUT_IN_RUN_MAX = 1_024;
/** What then stands in the run's row. */
const INPUT_IN_JOURNAL = 0n;
/** Arrivals are reserved in blocks, so that remembering the largest costs nothing per run. */
const ARRIVAL_BLOCK = 65_536;

const UPDATED =
  "status = ?, changed_at = ?, scheduled_at = ?, finished_at = ?, watched = ?, deployment = ?, awaiting = ?, detail = ?, outcome = ?, result = ?";

function statements(db: DatabaseSync) {
  return {
    insertRun: db.prepare(
      "INSERT INTO runs (seq, id, status, service, handler, key, mode, created_at, changed_at, scheduled_at, finished_at, arrival, lane, watched, deployment," +
        " parent, parent_command, parent_awaited, idempotency_key, headers, awaiting, detail, outcome, result, input)" +
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    insertPlainRun: db.prepare(
      "INSERT INTO runs (seq, id, status, service, handler, mode, created_at, changed_at, arrival, watched, deployment, input) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    insertInput: db.prepare(
      "INSERT INTO entries (run, idx, at, type, commands, input) VALUES (?, 0, ?, 'input', 0, ?)",
    ),
    updateRun: db.prepare(`UPDATE runs SET ${UPDATED} WHERE seq = ?`),
    // Apart, since a statement that names columns of runs_lane pays for that index also where they stay as they are.
    updateLane: db.prepare("UPDATE runs SET lane = ?, arrival = ? WHERE seq = ? AND (lane IS NOT ? OR arrival <> ?)"),
    updateAwaited: db.prepare("UPDATE runs SET parent_awaited = ? WHERE seq = ? AND parent_awaited IS NOT ?"),
    promoteRun: db.prepare(
      `UPDATE runs SET status = 'running', changed_at = ?, lane = ${LANE_HOLDER} WHERE substr(id, 17) = substr(?, 17) AND id = ? AND lane = ${LANE_QUEUED}`,
    ),
    deleteRun: db.prepare("DELETE FROM runs WHERE seq = ?"),
    raiseLastSeq: db.prepare("UPDATE meta SET value = ? WHERE name = 'last_seq' AND value < ?"),
    raiseArrival: db.prepare("UPDATE meta SET value = ? WHERE name = 'arrival_high'"),
    appendStep: db.prepare(
      "INSERT INTO entries (run, idx, at, type, id, commands, name, outcome, result) VALUES (?, ?, ?, 'step', ?, ?, ?, 'value', ?)",
    ),
    appendEntry: db.prepare(
      "INSERT INTO entries (run, commands, idx, at, type, id, name, outcome, result, detail, input) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    deleteEntries: db.prepare("DELETE FROM entries WHERE run = ? AND idx >= ?"),
    addTimer: db.prepare("INSERT OR IGNORE INTO timers (at, run, kind, id) VALUES (?, ?, ?, ?)"),
    removeTimer: db.prepare("DELETE FROM timers WHERE at = ? AND run = ? AND kind = ? AND id = ?"),
    truncateTimers: db.prepare("DELETE FROM timers WHERE run = ? AND (kind <> 'sleep' OR id > ?)"),
    truncateWaiters: db.prepare("DELETE FROM waiters WHERE run = ? AND command > ?"),
    removeTimersOf: db.prepare("DELETE FROM timers WHERE run = ?"),
    setState: db.prepare(
      "INSERT INTO state (service, key, name, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
    clearState: db.prepare("DELETE FROM state WHERE service = ? AND key = ? AND name = ?"),
    clearAllState: db.prepare("DELETE FROM state WHERE service = ? AND key = ?"),
    setPromise: db.prepare(
      "INSERT INTO promises (service, key, name, outcome, value) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, value = excluded.value",
    ),
    clearPromises: db.prepare("DELETE FROM promises WHERE service = ? AND key = ?"),
    addWaiter: db.prepare("INSERT OR IGNORE INTO waiters (target, run, command) VALUES (?, ?, ?)"),
    removeWaiters: db.prepare("DELETE FROM waiters WHERE target = ?"),
    removeWaitersOf: db.prepare("DELETE FROM waiters WHERE run = ?"),
  } satisfies Record<string, StatementSync>;
}

export class Writer {
  readonly #sql: ReturnType<typeof statements>;
  readonly #refs: BlobRefs;
  readonly #cells: CellWriter;
  readonly #streams: StreamWriter;
  readonly #images: ImageWriter;
  #arrivalHigh: number;

  constructor(db: DatabaseSync, refs: BlobRefs, arrivalHigh: number) {
    this.#sql = statements(db);
    this.#refs = refs;
    this.#cells = refs;
    this.#streams = new StreamWriter(db, refs);
    this.#images = new ImageWriter(db, refs);
    this.#arrivalHigh = arrivalHigh;
  }

  /** Not less than any arrival that is stored. */
  get arrivalHigh(): number {
    return this.#arrivalHigh;
  }

  /** Applies a batch. `arrivalHigh` falls back where the batch fails. */
  applyAll(mutations: readonly Mutation[]): () => void {
    const arrivalHigh = this.#arrivalHigh;
    const undo = (): void => void (this.#arrivalHigh = arrivalHigh);
    try {
      for (const mutation of mutations) this.#apply(mutation);
    } catch (error) {
      undo();
      throw error;
    }
    return undo;
  }

  #apply(mutation: Mutation): void {
    switch (mutation.type) {
      case "appendEntry":
        return this.#appendEntry(mutation);
      case "insertRun":
        return this.#insertRun(mutation.run);
      case "updateRun":
        return this.#updateRun(mutation.run);
      case "promoteRun":
        return this.#promoteRun(mutation.id, mutation.at);
      case "deleteRun":
        return this.#deleteRun(mutation.run, mutation.id);
      case "truncate":
        return this.#truncate(mutation);
      case "appendStream":
        return this.#streams.append(mutation);
      case "copyStream":
        return this.#streams.copy(mutation);
      case "trimStream":
        return this.#streams.trim(mutation.stream, mutation.before);
      case "addImage":
        return this.#images.add(mutation.run, mutation.info, mutation.bytes);
      case "nameImage":
        return this.#images.name(mutation.run, mutation.entry, mutation.name);
      case "dropImages":
        return this.#images.drop(mutation.run, mutation.entries);
      case "addTimer":
        return this.#timer(this.#sql.addTimer, mutation.timer);
      case "removeTimer":
        return this.#timer(this.#sql.removeTimer, mutation.timer);
      case "setState":
        return this.#setState(mutation.key, mutation.name, mutation.value);
      case "clearState":
        return this.#clearState(mutation.key, mutation.name);
      case "clearAllState":
        return this.#clearAllState(mutation.key);
      case "setPromise":
        return this.#setPromise(mutation.key, mutation.name, mutation.result);
      case "clearPromises":
        return this.#clearPromises(mutation.key);
      case "addWaiter":
        return void this.#sql.addWaiter.run(
          waitTargetName(mutation.waiter.target),
          mutation.waiter.run,
          mutation.waiter.command,
        );
      case "removeWaiters":
        return this.#removeWaiters(mutation.target);
      default:
        return unreachable(mutation);
    }
  }

  #appendEntry(mutation: Extract<Mutation, { type: "appendEntry" }>): void {
    const { run, entry, commands } = mutation;
    if (entry.kind === "command") {
      assert(entry.id === commands, "J1: command ids count the commands");
      const { command, result } = entry;
      if (
        command.type === "step" &&
        result?.kind === "value" &&
        command.atMostOnce === undefined &&
        command.into === undefined &&
        command.safePoint === undefined &&
        entry.kept === undefined &&
        entry.child === undefined
      ) {
        this.#sql.appendStep.run(
          run,
          entry.index,
          entry.at,
          entry.id,
          commands,
          command.name,
          this.#cells.write(result.value),
        );
        return;
      }
    }
    const row = entryToRow(entry, this.#cells);
    this.#sql.appendEntry.run(run, commands, ...row);
  }

  #insertRun(run: Run): void {
    if (run.arrival > this.#arrivalHigh) this.#raiseArrival(run.arrival);
    const input = this.#inputCell(run);
    if (isPlain(run)) {
      this.#sql.insertPlainRun.run(
        run.seq,
        run.id,
        run.status,
        run.service,
        run.handler,
        run.mode,
        run.createdAt,
        run.changedAt,
        run.arrival,
        run.watched ? 1 : 0,
        run.deployment,
        input,
      );
      return;
    }
    const { parent } = run;
    this.#sql.insertRun.run(
      run.seq,
      run.id,
      run.status,
      run.service,
      run.handler,
      run.key,
      run.mode,
      run.createdAt,
      run.changedAt,
      run.scheduledAt,
      run.finishedAt,
      run.arrival,
      laneNumber(run),
      run.watched ? 1 : 0,
      run.deployment,
      parent?.run ?? null,
      parent?.command ?? null,
      parent === null ? null : parent.awaited ? 1 : 0,
      run.idempotencyKey,
      run.headers === null ? null : JSON.stringify(run.headers),
      awaitingOf(run),
      detailOf(run),
      run.result === null ? null : run.result.kind,
      run.result === null ? null : resultCell(run.result, this.#cells),
      input,
    );
  }

  #inputCell(run: Run): BoundCell | null {
    if (run.input === null) return null;
    const cell = this.#cells.write(run.input);
    if (typeof cell === "bigint" || payloadSize(run.input) <= INPUT_IN_RUN_MAX) return cell;
    this.#sql.insertInput.run(run.seq, run.createdAt, cell);
    return INPUT_IN_JOURNAL;
  }

  #updateRun(run: Run): void {
    if (run.arrival > this.#arrivalHigh) this.#raiseArrival(run.arrival);
    this.#refs.releaseRunResult(run.seq);
    const { result } = run;
    const done = this.#sql.updateRun.run(
      run.status,
      run.changedAt,
      run.scheduledAt,
      run.finishedAt,
      run.watched ? 1 : 0,
      run.deployment,
      awaitingOf(run),
      detailOf(run),
      result === null ? null : result.kind,
      result === null ? null : resultCell(result, this.#cells),
      run.seq,
    );
    assert(done.changes === 1, `there is no run with number ${run.seq}`);
    if (run.arrival !== 0 || run.key !== null) this.#updateLane(run);
    if (run.parent !== null) this.#updateAwaited(run.parent.awaited ? 1 : 0, run.seq);
  }

  #updateLane(run: Run): void {
    const lane = laneNumber(run);
    this.#sql.updateLane.run(lane, run.arrival, run.seq, lane, run.arrival);
  }

  #updateAwaited(awaited: number, seq: number): void {
    this.#sql.updateAwaited.run(awaited, seq, awaited);
  }

  #raiseArrival(arrival: number): void {
    this.#arrivalHigh = arrival + ARRIVAL_BLOCK;
    this.#sql.raiseArrival.run(BigInt(this.#arrivalHigh));
  }

  #promoteRun(id: RunId, at: number): void {
    assert(this.#sql.promoteRun.run(at, id, id).changes === 1, `only a queued run gets its key's turn: ${id}`);
  }

  #deleteRun(seq: number, id: RunId): void {
    this.#refs.releaseRun(seq);
    this.#sql.raiseLastSeq.run(BigInt(seq), seq);
    this.#sql.deleteEntries.run(seq, 0);
    this.#sql.removeTimersOf.run(seq);
    this.#sql.removeWaitersOf.run(id);
    this.#streams.deleteOf(id);
    this.#images.dropFrom(seq, 0);
    this.#sql.deleteRun.run(seq);
  }

  #truncate({ run: seq, id, from, commands }: Extract<Mutation, { type: "truncate" }>): void {
    assert(from >= 1, "entries count from 1");
    this.#refs.releaseEntries(seq, from);
    this.#sql.deleteEntries.run(seq, from);
    this.#sql.truncateTimers.run(seq, commands);
    this.#sql.truncateWaiters.run(id, commands);
    this.#images.dropFrom(seq, from);
  }

  #timer(statement: StatementSync, timer: Timer): void {
    statement.run(timer.at, timer.run, timer.kind, timer.id);
  }

  #setState(key: KeyName, name: string, value: Payload): void {
    this.#refs.releaseState(key, name);
    this.#sql.setState.run(key.service, key.key, name, this.#cells.write(value));
  }

  #clearState(key: KeyName, name: string): void {
    this.#refs.releaseState(key, name);
    this.#sql.clearState.run(key.service, key.key, name);
  }

  #clearAllState(key: KeyName): void {
    this.#refs.releaseAllState(key);
    this.#sql.clearAllState.run(key.service, key.key);
  }

  #setPromise(key: KeyName, name: string, result: Result): void {
    this.#refs.releasePromise(key, name);
    this.#sql.setPromise.run(key.service, key.key, name, result.kind, resultCell(result, this.#cells));
  }

  #clearPromises(key: KeyName): void {
    this.#refs.releaseAllPromises(key);
    this.#sql.clearPromises.run(key.service, key.key);
  }

  #removeWaiters(target: WaitTarget): void {
    this.#sql.removeWaiters.run(waitTargetName(target));
  }
}

/** A run as most are inserted: everything that the short statement leaves out is NULL. */
function isPlain(run: Run): boolean {
  return (
    run.key === null &&
    run.parent === null &&
    run.headers === null &&
    run.idempotencyKey === null &&
    run.scheduledAt === null &&
    run.finishedAt === null &&
    run.awaiting === null &&
    run.result === null &&
    detailOf(run) === null
  );
}
