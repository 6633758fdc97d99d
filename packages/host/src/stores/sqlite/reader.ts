// The reader: what people look at
// ===============================
// It has a connection of its own, so that its pages do not drive those of the loop out of the cache. Scans that no index
// answers go in slices, with turns of the event loop between them: a filter over a million runs never holds up a commit
// for longer than a slice. SQL of people runs in a process of its own (sql-console.ts).

import type { Entry, ImageInfo, Payload, Run, RunId, RunStatus, StreamOwner, StreamRef } from "@perdure/protocol";
import { BUILT_IN_PREFIX, RUN_STATUSES, StoreDamagedError } from "@perdure/protocol";
import {
  type DeploymentCount,
  type BlobStore,
  type KeyName,
  matchesRunFilter,
  type NamedStream,
  type RunFilter,
  type StoreReader,
  type StreamPage,
} from "@perdure/engine";
import { statSync } from "node:fs";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { isCorrupt, translate } from "./errors.ts";
import { Loader } from "./loader.ts";
import { LoadedPayloads, prepareBlobLookup } from "./payloads.ts";
import { type SqlResult, runSql } from "./sql-console.ts";

const RUNS_PAGE_MAX = 1_000;
/** Rows that one slice of a scan looks at: some 3 ms. */
const SLICE_ROWS = 5_000;
/** Rows that one slice of a count looks at; it reads an index only. */
const COUNT_ROWS = 20_000;
const STATEMENTS_KEPT = 128;

const SALVAGE_SOURCES = [
  "NOT INDEXED ORDER BY seq",
  "NOT INDEXED ORDER BY seq DESC",
  "INDEXED BY runs_id ORDER BY substr(id, 17), id",
  "INDEXED BY runs_id ORDER BY substr(id, 17) DESC, id DESC",
  "INDEXED BY runs_status WHERE status <> 'suspended' ORDER BY status, seq",
  "INDEXED BY runs_status WHERE status <> 'suspended' ORDER BY status DESC, seq DESC",
];

export interface ReaderOptions {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly blobs: BlobStore;
  readonly sqlTimeMsMax: number;
  /** Leaves out what cannot be read, rather than reading nothing. */
  readonly salvage: boolean;
}

export class SqliteReader implements StoreReader {
  readonly #options: ReaderOptions;
  readonly #db: DatabaseSync;
  readonly #loader: Loader;
  readonly #findBlob: StatementSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#db = options.db;
    this.#loader = new Loader(options.db);
    this.#findBlob = prepareBlobLookup(options.db);
  }

  async runs(filter: RunFilter): Promise<readonly Run[]> {
    const limit = Math.min(Math.max(0, filter.limit), RUNS_PAGE_MAX);
    try {
      return await this.#runs(filter, limit);
    } catch (error) {
      if (this.#options.salvage && isDamage(error)) return this.#salvageRuns(filter, limit);
      throw this.#translated(error);
    }
  }

  async #runs(filter: RunFilter, limit: number): Promise<readonly Run[]> {
    const statuses = filter.status === undefined ? [null] : [...new Set(filter.status)];
    const found: number[] = [];
    for (const status of statuses) found.push(...(await this.#scan(filter, status, limit)));
    found.sort((a, b) => (filter.order === "oldest" ? a - b : b - a));
    return this.#read((cells) =>
      found
        .slice(0, limit)
        .map((seq) => this.#loader.runBySeq(seq, cells))
        .filter((run) => run !== null),
    );
  }

  /** One by one, by every number that some index still tells of; runs that cannot be read are left out. */
  async #salvageRuns(filter: RunFilter, limit: number): Promise<readonly Run[]> {
    const seqs = [...this.#salvageSeqs()].sort((a, b) => (filter.order === "oldest" ? a - b : b - a));
    const found: Run[] = [];
    for (const seq of seqs) {
      if (found.length >= limit) break;
      const run = await this.#read((cells) => this.#loader.runBySeq(seq, cells)).catch((error: unknown) => {
        if (isDamage(error)) return null;
        throw error;
      });
      if (run !== null && matchesRunFilter(run, filter)) found.push(run);
    }
    return found;
  }

  /** From both ends of the table and of its indexes, each up to the first page that is damaged. */
  #salvageSeqs(): ReadonlySet<number> {
    const seqs = new Set<number>();
    for (const source of SALVAGE_SOURCES) {
      try {
        for (const row of this.#statement(`SELECT seq FROM runs ${source}`).iterate()) seqs.add(numberOf(row));
      } catch (error) {
        if (!isCorrupt(error)) throw error;
      }
    }
    return seqs;
  }

  run(id: RunId): Promise<Run | null> {
    return this.#read((cells) => this.#loader.run(id, cells));
  }

  journal(id: RunId, after: number, limit: number): Promise<readonly Entry[]> {
    return this.#read((cells) => {
      const seq = this.#loader.seqOf(id);
      return seq === null ? [] : this.#loader.entries(seq, after + 1, Math.max(0, limit), cells);
    });
  }

  images(id: RunId): Promise<readonly ImageInfo[]> {
    return this.#read(() => {
      const seq = this.#loader.seqOf(id);
      return seq === null ? [] : this.#loader.images.ofRun(seq);
    });
  }

  imageBytes(hash: string): Promise<Uint8Array | null> {
    return this.#read((cells) => this.#loader.images.bytesOf(hash, cells));
  }

  counts(): Promise<Readonly<Partial<Record<RunStatus, number>>>> {
    return this.#guarded(() => this.#counts());
  }

  async #counts(): Promise<Readonly<Partial<Record<RunStatus, number>>>> {
    const counts: Partial<Record<RunStatus, number>> = {};
    let others = 0;
    for (const status of RUN_STATUSES) {
      const count = status === "suspended" ? 0 : await this.#countByStatus(status);
      if (count > 0) counts[status] = count;
      others += count;
    }
    // No index has the suspended ones. Runs that come or go meanwhile make this an estimate, as any count is.
    const suspended = (await this.#count("runs", "substr(id, 17)")) - others;
    if (suspended > 0) counts.suspended = suspended;
    return counts;
  }

  deployments(): Promise<readonly DeploymentCount[]> {
    return this.#guarded(async () => {
      const rows = this.#statement(
        "SELECT deployment, status, count(*) FROM runs WHERE length(deployment) = 64 GROUP BY deployment, status ORDER BY deployment, status",
      ).all() as unknown as readonly (readonly [string, RunStatus, number])[];
      return rows.map(([deployment, status, count]) => ({ deployment, status, count }));
    });
  }

  stateKeys(service: string, after: string | null, limit: number): Promise<readonly string[]> {
    return this.#guarded(() => this.#stateKeys(service, after, limit));
  }

  async #stateKeys(service: string, after: string | null, limit: number): Promise<readonly string[]> {
    // From key to key by the index, since a key may have very many values.
    const first = this.#statement("SELECT key FROM state WHERE service = ? ORDER BY key LIMIT 1");
    const next = this.#statement("SELECT key FROM state WHERE service = ? AND key > ? ORDER BY key LIMIT 1");
    const keys: string[] = [];
    for (let last = after; keys.length < limit; ) {
      const row = (last === null ? first.get(service) : next.get(service, last)) as unknown as
        | readonly [string]
        | undefined;
      if (row === undefined) break;
      last = row[0];
      keys.push(last);
      if (keys.length % SLICE_ROWS === 0) await turn();
    }
    return keys;
  }

  state(key: KeyName): Promise<ReadonlyMap<string, Payload>> {
    return this.#read((cells) => this.#loader.state(key, cells));
  }

  stream(stream: StreamRef, from: number, limit: number): Promise<StreamPage> {
    return this.#read((cells) => this.#loader.streams.page(stream, from, limit, cells));
  }

  streams(owner: StreamOwner): Promise<readonly NamedStream[]> {
    return this.#read(() => this.#loader.streams.names(owner));
  }

  sql(query: string, limit: number): Promise<SqlResult> {
    return runSql({ file: this.#options.file, query, limit, timeMsMax: this.#options.sqlTimeMsMax });
  }

  stats(): Promise<Readonly<Record<string, number>>> {
    return this.#guarded(() => this.#stats());
  }

  async #stats(): Promise<Readonly<Record<string, number>>> {
    const { file } = this.#options;
    const runs = Object.values(await this.#counts()).reduce((sum, count) => sum + count, 0);
    const timers = await this.#count("timers", "at, run, kind, id");
    const state = await this.#count("state", "service, key, name");
    const promises = await this.#count("promises", "service, key, name");
    const waiters = await this.#count("waiters", "target, run, command");
    const { areThere } = this.#loader.streams;
    const streams = areThere ? await this.#count("streams", "id") : 0;
    const chunks = areThere ? await this.#count("chunks", "stream, from_offset") : 0;
    const { areThere: imagesAreThere } = this.#loader.images;
    const images = imagesAreThere ? await this.#count("images", "run, entry") : 0;
    const artifacts = imagesAreThere ? await this.#count("artifacts", "id") : 0;
    const blobs = this.#statement("SELECT count(*), coalesce(sum(size), 0) FROM blobs").get() as unknown as readonly [
      number,
      number,
    ];
    const wal = sizeOf(`${file}-wal`);
    return {
      disk_bytes: sizeOf(file) + wal,
      wal_bytes: wal,
      blob_bytes: blobs[1],
      blobs: blobs[0],
      runs,
      timers,
      state,
      promises,
      waiters,
      streams,
      chunks,
      images,
      artifacts,
    };
  }

  async close(): Promise<void> {
    this.#prepared.clear();
    this.#db.close();
  }

  /** Numbers of matching runs in the filter's order, at most `limit`. */
  async #scan(filter: RunFilter, status: RunStatus | null, limit: number): Promise<number[]> {
    const { conditions, values } = conditionsOf(filter, status);
    const oldest = filter.order === "oldest";
    const order = oldest ? "ASC" : "DESC";
    const beyond = oldest ? "seq > ?" : "seq < ?";
    const source = `FROM runs WHERE ${[...conditions.indexed, beyond].join(" AND ")} ORDER BY seq ${order}`;
    // A slice: the rows up to the one that stands SLICE_ROWS further in the index.
    const border = this.#statement(`SELECT seq ${source} LIMIT 1 OFFSET ${SLICE_ROWS}`);
    const within = oldest ? "seq <= ?" : "seq >= ?";
    const where = [...conditions.indexed, ...conditions.others, beyond, within].join(" AND ");
    const slice = this.#statement(`SELECT seq FROM runs WHERE ${where} ORDER BY seq ${order} LIMIT ?`);
    const found: number[] = [];
    let cursor = filter.cursor ?? (oldest ? -1 : Number.MAX_SAFE_INTEGER);
    while (found.length < limit) {
      const end = border.get(...values.indexed, cursor) as unknown as readonly [number] | undefined;
      const last = end === undefined ? (oldest ? Number.MAX_SAFE_INTEGER : -1) : end[0];
      const rows = slice.all(
        ...values.indexed,
        ...values.others,
        cursor,
        last,
        limit - found.length,
      ) as unknown as readonly (readonly [number])[];
      for (const [seq] of rows) found.push(seq);
      if (end === undefined) break;
      cursor = last;
      await turn();
    }
    return found;
  }

  async #countByStatus(status: RunStatus): Promise<number> {
    const slice = this.#statement(
      `SELECT count(*), max(seq) FROM (SELECT seq FROM runs WHERE status = ? AND status <> 'suspended' AND seq > ? ORDER BY seq LIMIT ${COUNT_ROWS})`,
    );
    let total = 0;
    for (let after = -1; ; await turn()) {
      const [count, last] = slice.get(status, after) as unknown as readonly [number, number | null];
      total += count;
      if (count < COUNT_ROWS || last === null) return total;
      after = last;
    }
  }

  /** Counts a table along an index, from border to border. `key`: its columns, of which not too many rows are alike. */
  async #count(table: string, key: string): Promise<number> {
    const columns = key.split(/, (?!\d)/);
    const values = columns.length === 1 ? key : `(${key})`;
    const holes = columns.length === 1 ? "?" : `(${columns.map(() => "?").join(", ")})`;
    const first = this.#statement(`SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1 OFFSET ${COUNT_ROWS}`);
    const next = this.#statement(
      `SELECT ${key} FROM ${table} WHERE ${values} >= ${holes} ORDER BY ${key} LIMIT 1 OFFSET ${COUNT_ROWS}`,
    );
    const below = this.#statement(`SELECT count(*) FROM ${table} WHERE ${values} < ${holes}`);
    const between = this.#statement(
      `SELECT count(*) FROM ${table} WHERE ${values} >= ${holes} AND ${values} < ${holes}`,
    );
    const rest = this.#statement(`SELECT count(*) FROM ${table} WHERE ${values} >= ${holes}`);
    let from = first.get() as unknown as readonly SQLInputValue[] | undefined;
    if (from === undefined) return numberOf(this.#statement(`SELECT count(*) FROM ${table}`).get());
    let total = numberOf(below.get(...from));
    for (;;) {
      await turn();
      const to = next.get(...from) as unknown as readonly SQLInputValue[] | undefined;
      if (to === undefined || to.every((value, i) => value === from?.[i])) return total + numberOf(rest.get(...from));
      total += numberOf(between.get(...from, ...to));
      from = to;
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      if (this.#prepared.size >= STATEMENTS_KEPT) this.#prepared.clear();
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  async #guarded<T>(body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #translated(error: unknown): unknown {
    return translate(error, "read", this.#options.file);
  }

  async #read<T>(body: (cells: LoadedPayloads) => T): Promise<T> {
    const cells = new LoadedPayloads(this.#findBlob);
    for (;;) {
      try {
        const result = body(cells);
        if (cells.complete) return result;
      } catch (error) {
        throw this.#translated(error);
      }
      await cells.fetch(this.#options.blobs);
    }
  }
}

function isDamage(error: unknown): boolean {
  return isCorrupt(error) || error instanceof StoreDamagedError;
}

function numberOf(row: unknown): number {
  return (row as readonly [number])[0];
}

interface Conditions {
  readonly conditions: { readonly indexed: readonly string[]; readonly others: readonly string[] };
  readonly values: { readonly indexed: readonly SQLInputValue[]; readonly others: readonly SQLInputValue[] };
}

/** What an index finds, and what has to be looked at row by row. */
function conditionsOf(filter: RunFilter, status: RunStatus | null): Conditions {
  const indexed: string[] = [];
  const others: string[] = [];
  const indexedValues: SQLInputValue[] = [];
  const otherValues: SQLInputValue[] = [];
  if (filter.parent !== undefined) {
    indexed.push("parent IS NOT NULL AND substr(parent, 17) = substr(?, 17) AND parent = ?");
    indexedValues.push(filter.parent, filter.parent);
  } else if (status !== null && status !== "suspended") {
    indexed.push("status = ? AND status <> 'suspended'");
    indexedValues.push(status);
  }
  const also = (condition: string, value: SQLInputValue | null | undefined): void => {
    if (value === undefined || value === null) return;
    others.push(condition);
    otherValues.push(value);
  };
  // The plus keeps the planner from this index where another one was chosen.
  if (filter.parent !== undefined || status === "suspended") also("+status = ?", status);
  also("service = ?", filter.service);
  also("handler = ?", filter.handler);
  also("key = ?", filter.key);
  if (filter.builtIn === false) also("substr(service, 1, 8) <> ?", BUILT_IN_PREFIX);
  also("created_at > ?", filter.createdAfter);
  also("created_at < ?", filter.createdBefore);
  return { conditions: { indexed, others }, values: { indexed: indexedValues, others: otherValues } };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
