// What the store contract needs of an implementation, and the makings of its tests.

import {
  type CommandEntry,
  encodeRunId,
  type Entry,
  type Payload,
  type Result,
  type Run,
  type RunId,
} from "@perdure/protocol";
import type { Commit, Loaded, Mutation, Needs, Store } from "../store.ts";

export interface OpenedStore {
  readonly store: Store;
  /** Ends the connection, in order or not, and opens the same data again. */
  reopen(): Promise<Store>;
  /** Another connection to the same data beside the first; absent where only one process may have it open. */
  connect?(): Promise<Store>;
  /** Changes bytes of an image where they are stored. */
  damageImage(hash: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface StoreContract {
  /** An empty store of its own for each call. */
  open(): Promise<OpenedStore>;
  readonly capabilities: {
    /** `reader.sql` answers; otherwise it throws BadRequestError. */
    readonly sql: boolean;
  };
  /** Payloads above this many bytes take another path in this store. */
  readonly largePayloadBytes?: number;
  /** Random histories that the property tests try. */
  readonly histories?: number;
}

export function runIdOf(name: number, partition = 0): RunId {
  const bytes = new Uint8Array(24);
  const view = new DataView(bytes.buffer);
  view.setUint32(4, partition);
  view.setUint32(8, name ^ 0x5a5a5a5a);
  view.setUint32(20, name);
  return encodeRunId(bytes);
}

export function runOf(seq: number, over: Partial<Run> = {}): Run {
  return {
    id: runIdOf(seq),
    seq,
    service: "mailer",
    handler: "send",
    key: null,
    mode: "service",
    status: "running",
    input: '{"to":"a"}',
    headers: null,
    idempotencyKey: null,
    parent: null,
    forkedFrom: null,
    deployment: null,
    migrated: null,
    migrating: null,
    createdAt: 1_000 + seq,
    changedAt: 1_000 + seq,
    scheduledAt: null,
    finishedAt: null,
    arrival: 0,
    generation: 0,
    retry: null,
    awaiting: null,
    pausedBy: null,
    cancelling: null,
    trims: null,
    watched: false,
    result: null,
    ...over,
  };
}

/** A run with every field set to something that is not its default. */
export function fullRun(seq: number): Run {
  const failure = { code: 503, message: "süd ☃ 🦊", errorCode: "P0010", stack: "Error\n  at x", metadata: { a: "b" } };
  return runOf(seq, {
    service: "inbox",
    handler: "add",
    key: "kénny 🦊",
    mode: "exclusive",
    status: "paused",
    input: new Uint8Array([0, 255, 7]),
    headers: { "x-a": "1", "x-ü": "☃" },
    idempotencyKey: "idem 1",
    parent: { run: runIdOf(900), command: 7, awaited: true },
    forkedFrom: {
      run: runIdOf(800),
      key: "käy",
      entry: 9,
      createdAt: 70,
      idempotencyKey: "first",
      origin: { run: runIdOf(700), key: null, entry: 4, createdAt: 60, idempotencyKey: null, origin: null },
    },
    deployment: "d1",
    migrated: { entry: 3, commands: 2, told: 5, point: "idlé", kept: [1, 2], awakeables: 19, at: 80 },
    migrating: { to: "d2" },
    scheduledAt: 5,
    finishedAt: 6,
    arrival: 12,
    generation: 3,
    retry: { tries: 4, failure, at: 99 },
    awaiting: [
      { kind: "completion", id: 3 },
      { kind: "signal", signal: "go" },
      { kind: "signal", signal: 17 },
      { kind: "time", at: 77 },
    ],
    pausedBy: failure,
    cancelling: {
      waitingFor: [runIdOf(5), runIdOf(6)],
      held: [
        { command: 1, result: { kind: "value", value: new Uint8Array([1, 2]) } },
        { command: 2, result: { kind: "value", value: '"text"' } },
        { command: 3, result: { kind: "void" } },
        { command: 4, result: { kind: "failure", failure } },
      ],
    },
    trims: [{ command: 3, stream: "näme", before: 7 }],
    watched: true,
    result: { kind: "failure", failure },
  });
}

export function value(payload: Payload): Result {
  return { kind: "value", value: payload };
}

export function stepEntry(index: number, id: number, result: Result = value(`${id}`)): CommandEntry {
  return { kind: "command", index, at: 2_000 + index, id, command: { type: "step", name: `step ${id}` }, result };
}

export function append(run: number, commands: number, entry: Entry): Mutation {
  return { type: "appendEntry", run, commands, entry };
}

export function needs(some: Partial<Needs>): Needs {
  return {
    runs: [],
    runsBySeq: [],
    keys: [],
    promises: [],
    waiters: [],
    states: [],
    children: [],
    commands: [],
    tails: [],
    images: [],
    streams: [],
    ranges: [],
    owned: [],
    timers: null,
    finished: null,
    ...some,
  };
}

/** A store under one epoch, with the shortest words for what tests do most. */
export class Writer {
  readonly store: Store;
  readonly epoch: number;

  private constructor(store: Store, epoch: number) {
    this.store = store;
    this.epoch = epoch;
  }

  static async on(store: Store): Promise<Writer> {
    return new Writer(store, (await store.acquire("contract")).epoch);
  }

  commit(...mutations: readonly Mutation[]): Promise<void> {
    const commit: Commit = { epoch: this.epoch, mutations };
    return this.store.commit(commit);
  }

  load(some: Partial<Needs>): Promise<Loaded> {
    return this.store.load(needs(some));
  }

  async run(id: RunId): Promise<Run | undefined> {
    return (await this.load({ runs: [id] })).runs[0]?.run;
  }

  async journal(run: Run): Promise<readonly Entry[]> {
    return (await this.store.load(needs({ tails: [{ run: run.seq, from: 1 }] }))).tails[0]?.entries ?? [];
  }
}
