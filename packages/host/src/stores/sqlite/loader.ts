// The loader: what decisions and attempts need to see
// ===================================================
// All of it is synchronous, so that one load sees one state of the store (T3), and every question is answered by a point
// or range of an index: nothing here grows with the number of runs or with the length of a journal.

import {
  assert,
  type Entry,
  type Payload,
  type Result,
  type Run,
  type RunId,
  streamOwner,
  type StreamRef,
} from "@perdure/protocol";
import {
  KEY_QUEUE_PAGE,
  keptResult,
  type KeyName,
  type Loaded,
  type LoadedCommand,
  type LoadedKey,
  type LoadedRun,
  type LoadedStart,
  type Needs,
  type Timer,
  type TimerKind,
  type Waiter,
  type WaitTarget,
  waitTargetName,
} from "@perdure/engine";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Cell, type CellReader, readResult } from "./cells.ts";
import { ENTRY_COLUMNS, type EntryRow, type KeptReader, rowToEntry } from "./entry-rows.ts";
import { ImageRows } from "./image-rows.ts";
import type { LoadedPayloads } from "./payloads.ts";
import { LANE_HOLDER, LANE_QUEUED, RUN_COLUMNS, type RunRow, rowToRun } from "./run-rows.ts";
import { type StreamBounds, StreamRows } from "./stream-rows.ts";

const FINISHED_STATUSES = ["succeeded", "failed", "cancelled", "killed"] as const;

const NO_IMAGE = { image: null, damaged: [] } as const;

function statements(db: DatabaseSync) {
  return {
    runBySeq: db.prepare(`SELECT ${RUN_COLUMNS} FROM runs WHERE seq = ?`),
    runById: db.prepare(`SELECT ${RUN_COLUMNS} FROM runs WHERE substr(id, 17) = substr(?, 17) AND id = ?`),
    seqOf: db.prepare("SELECT seq FROM runs WHERE substr(id, 17) = substr(?, 17) AND id = ?"),
    ownerOf: db.prepare("SELECT id, service, key FROM runs WHERE seq = ?"),
    tail: db.prepare("SELECT idx, commands FROM entries WHERE run = ? ORDER BY idx DESC LIMIT 1"),
    input: db.prepare("SELECT input FROM entries WHERE run = ? AND idx = 0"),
    entries: db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entries WHERE run = ? AND idx >= ? ORDER BY idx LIMIT ?`),
    entry: db.prepare(`SELECT ${ENTRY_COLUMNS} FROM entries WHERE run = ? AND idx = ?`),
    commandsAt: db.prepare("SELECT commands FROM entries WHERE run = ? AND idx = ?"),
    completed: db.prepare("SELECT 1 FROM entries WHERE run = ? AND id = ? AND type = 'completion'"),
    holder: db.prepare(`SELECT id FROM runs WHERE service = ? AND key = ? AND lane = ${LANE_HOLDER}`),
    queue: db.prepare(
      `SELECT id FROM runs WHERE service = ? AND key = ? AND lane = ${LANE_QUEUED} ORDER BY arrival, seq LIMIT ${KEY_QUEUE_PAGE + 1}`,
    ),
    promise: db.prepare("SELECT outcome, value FROM promises WHERE service = ? AND key = ? AND name = ?"),
    waiters: db.prepare("SELECT run, command FROM waiters WHERE target = ? ORDER BY run, command"),
    children: db.prepare(
      `SELECT ${RUN_COLUMNS} FROM runs WHERE parent IS NOT NULL AND substr(parent, 17) = substr(?, 17) AND parent = ? AND parent_awaited = 1` +
        " AND status NOT IN ('succeeded', 'failed', 'cancelled', 'killed') ORDER BY seq",
    ),
    timers: db.prepare("SELECT at, run, kind, id FROM timers WHERE at <= ? ORDER BY at, run, kind, id LIMIT ?"),
    nextTimer: db.prepare("SELECT at FROM timers ORDER BY at LIMIT 1"),
    byStatus: db.prepare(
      "SELECT seq, id FROM runs WHERE status = ? AND status <> 'suspended' AND seq > ? ORDER BY seq LIMIT ?",
    ),
    state: db.prepare("SELECT name, value FROM state WHERE service = ? AND key = ? ORDER BY name"),
  } satisfies Record<string, StatementSync>;
}

export class Loader {
  readonly #sql: ReturnType<typeof statements>;
  readonly streams: StreamRows;
  readonly images: ImageRows;

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
    this.streams = new StreamRows(db);
    this.images = new ImageRows(db);
    for (const statement of Object.values(this.#sql)) statement.setReturnArrays(true);
  }

  load(needs: Needs, cells: CellReader): Loaded {
    return {
      runs: this.#runs(needs, cells),
      keys: needs.keys.map((key) => this.#key(key)),
      promises: needs.promises.map(({ key, name }) => ({ key, name, result: this.#promise(key, name, cells) })),
      waiters: needs.waiters.map((target) => ({ target, waiters: this.#waiters(target) })),
      states: needs.states.map((key) => ({ key, state: this.state(key, cells) })),
      children: needs.children.map((parent) => ({ parent, children: this.#children(parent, cells) })),
      commands: needs.commands.map(({ run, id }) => this.#command(run, id, cells)),
      tails: needs.tails.map(({ run, from }) => ({ run, from, entries: this.entries(run, from, -1, cells) })),
      images: needs.images.map(({ run, id }) => ({ id, images: this.images.ofRun(run) })),
      streams: needs.streams.map((stream) => this.streams.load(stream)),
      ranges: needs.ranges.map(({ stream, from }) => this.streams.loadRange(stream, from, cells)),
      owned: needs.owned.map(({ owner, at }) => ({ owner, at, streams: this.streams.namesAt(owner, at) })),
      timers: needs.timers === null ? [] : this.#timers(needs.timers.until, needs.timers.limit),
      finished: needs.finished === null ? [] : this.#finished(needs.finished.afterSeq, needs.finished.limit, cells),
    };
  }

  loadStart(run: Run, cells: LoadedPayloads): LoadedStart {
    const images = this.images.ofRun(run.seq);
    const found = images.length === 0 ? NO_IMAGE : this.images.newestWhole(run, images, this.#length(run.seq), cells);
    const entries =
      found.image === null
        ? this.#entriesOfCode(run, cells)
        : this.entries(run.seq, found.image.info.entry + 1, -1, cells);
    const { service, key } = run;
    const state = key === null || found.image !== null ? null : this.state({ service, key }, cells);
    return { ...found, entries, state, images };
  }

  /** All that its code meets from its beginning on (M1). */
  #entriesOfCode({ seq, migrated }: Run, cells: CellReader): Entry[] {
    if (migrated === null) return this.entries(seq, 1, -1, cells);
    const kept = migrated.kept.flatMap((index) => this.entries(seq, index, 1, cells));
    return [...kept, ...this.entries(seq, migrated.entry + 1, -1, cells)];
  }

  /** Entries with index >= `from`; a negative `limit` is none. */
  entries(run: number, from: number, limit: number, cells: CellReader): Entry[] {
    const rows = this.#sql.entries.all(run, Math.max(1, from), limit) as unknown as readonly EntryRow[];
    const readKept = this.#keptReader(run, cells);
    return rows.map((row) => rowToEntry(row, cells, readKept));
  }

  /** T6. The run's streams are looked for only where an entry of it points to one. */
  #keptReader(seq: number, cells: CellReader): KeptReader {
    const known = new Map<string, StreamBounds | null>();
    return (kept) => {
      let stream = known.get(kept.stream);
      if (stream === undefined) known.set(kept.stream, (stream = this.streams.find(this.#streamOf(seq, kept.stream))));
      if (stream === null) return keptResult(kept, 0, []);
      const items = kept.from < stream.start ? [] : this.streams.items(stream, kept.from, kept.count, cells);
      return keptResult(
        kept,
        stream.start,
        items.map(({ payload }) => payload),
      );
    };
  }

  #streamOf(seq: number, name: string): StreamRef {
    const row = this.#sql.ownerOf.get(seq) as unknown as readonly [RunId, string, string | null] | undefined;
    assert(row !== undefined, `an entry needs its run: ${seq}`);
    const [id, service, key] = row;
    return { owner: streamOwner({ id, service, key }), name };
  }

  state(key: KeyName, cells: CellReader): ReadonlyMap<string, Payload> {
    const rows = this.#sql.state.all(key.service, key.key) as unknown as readonly (readonly [string, Cell])[];
    return new Map(rows.map(([name, value]) => [name, cells.read(value)]));
  }

  running(afterSeq: number, limit: number): readonly { readonly id: RunId; readonly seq: number }[] {
    return this.#byStatus("running", afterSeq, limit).map(([seq, id]) => ({ id, seq }));
  }

  nextTimer(): number | null {
    const row = this.#sql.nextTimer.get() as unknown as readonly [number] | undefined;
    return row === undefined ? null : row[0];
  }

  run(id: RunId, cells: CellReader): Run | null {
    const row = this.#sql.runById.get(id, id) as unknown as RunRow | undefined;
    return row === undefined ? null : this.#decode(row, cells);
  }

  runBySeq(seq: number, cells: CellReader): Run | null {
    const row = this.#sql.runBySeq.get(seq) as unknown as RunRow | undefined;
    return row === undefined ? null : this.#decode(row, cells);
  }

  seqOf(id: RunId): number | null {
    const row = this.#sql.seqOf.get(id, id) as unknown as readonly [number] | undefined;
    return row === undefined ? null : row[0];
  }

  #decode(row: RunRow, cells: CellReader): Run {
    return rowToRun(row, cells, (seq) => {
      const input = this.#sql.input.get(seq) as unknown as readonly [Cell] | undefined;
      assert(input !== undefined, `the input of run ${seq} stands in its journal`);
      return cells.read(input[0]);
    });
  }

  #loaded(run: Run): LoadedRun {
    const tail = this.#sql.tail.get(run.seq) as unknown as readonly [number, number] | undefined;
    return tail === undefined ? { run, entries: 0, commands: 0 } : { run, entries: tail[0], commands: tail[1] };
  }

  #length(seq: number): number {
    const tail = this.#sql.tail.get(seq) as unknown as readonly [number, number] | undefined;
    return tail === undefined ? 0 : tail[0];
  }

  #runs(needs: Needs, cells: CellReader): LoadedRun[] {
    const found = new Map<number, LoadedRun>();
    for (const id of needs.runs) {
      const run = this.run(id, cells);
      if (run !== null) found.set(run.seq, this.#loaded(run));
    }
    for (const seq of needs.runsBySeq) {
      const run = found.has(seq) ? null : this.runBySeq(seq, cells);
      if (run !== null) found.set(seq, this.#loaded(run));
    }
    return [...found.values()];
  }

  #key(key: KeyName): LoadedKey {
    const holder = this.#sql.holder.get(key.service, key.key) as unknown as readonly [RunId] | undefined;
    const rows = this.#sql.queue.all(key.service, key.key) as unknown as readonly (readonly [RunId])[];
    const queue = rows.slice(0, KEY_QUEUE_PAGE).map(([id]) => id);
    return { key, holder: holder === undefined ? null : holder[0], queue, more: rows.length > KEY_QUEUE_PAGE };
  }

  #promise(key: KeyName, name: string, cells: CellReader): Result | null {
    const row = this.#sql.promise.get(key.service, key.key, name) as unknown as readonly [string, Cell] | undefined;
    return row === undefined ? null : readResult(row[0], row[1], cells);
  }

  #waiters(target: WaitTarget): Waiter[] {
    const rows = this.#sql.waiters.all(waitTargetName(target)) as unknown as readonly (readonly [RunId, number])[];
    return rows.map(([run, command]) => ({ target, run, command }));
  }

  #children(parent: RunId, cells: CellReader): LoadedRun[] {
    const rows = this.#sql.children.all(parent, parent) as unknown as readonly RunRow[];
    return rows.map((row) => this.#loaded(this.#decode(row, cells)));
  }

  /**
   * `commands` never falls along a journal, so the entry of command `id` is found by halving: it is the first entry that
   * has so many commands. It cannot stand before index `id`, and mostly stands close after it.
   */
  #command(run: number, id: number, cells: CellReader): LoadedCommand {
    const tail = this.#sql.tail.get(run) as unknown as readonly [number, number] | undefined;
    if (tail === undefined || id < 1 || id > tail[1]) return { run, id, entry: null, complete: false };
    let low = id;
    let high = tail[0];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#commandsAt(run, middle) < id) low = middle + 1;
      else high = middle;
    }
    const row = this.#sql.entry.get(run, low) as unknown as EntryRow | undefined;
    const entry = row === undefined ? undefined : rowToEntry(row, cells, this.#keptReader(run, cells));
    assert(
      entry?.kind === "command" && entry.id === id,
      `J1: command ${id} of run ${run} stands where its number says`,
    );
    return { run, id, entry, complete: entry.result !== undefined || this.#sql.completed.get(run, id) !== undefined };
  }

  #commandsAt(run: number, index: number): number {
    const row = this.#sql.commandsAt.get(run, index) as unknown as readonly [number] | undefined;
    assert(row !== undefined, `the journal of run ${run} has no gap at ${index}`);
    return row[0];
  }

  #timers(until: number, limit: number): Timer[] {
    const rows = this.#sql.timers.all(until, limit) as unknown as readonly (readonly [
      number,
      number,
      TimerKind,
      number,
    ])[];
    return rows.map(([at, run, kind, id]) => ({ at, run, kind, id }));
  }

  #byStatus(status: string, afterSeq: number, limit: number): readonly (readonly [number, RunId])[] {
    return this.#sql.byStatus.all(status, afterSeq, limit) as unknown as readonly (readonly [number, RunId])[];
  }

  #finished(afterSeq: number, limit: number, cells: CellReader): Run[] {
    const pages = FINISHED_STATUSES.flatMap((status) => this.#byStatus(status, afterSeq, limit).map(([seq]) => seq));
    pages.sort((a, b) => a - b);
    return pages
      .slice(0, limit)
      .map((seq) => this.runBySeq(seq, cells))
      .filter((run) => run !== null);
  }
}
