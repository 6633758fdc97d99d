// Random histories for the property test: intents that mean something in whatever state they meet, turned into commits
// that an engine could have made. Small numbers of runs, keys and names, so that they often meet.

import {
  type Entry,
  isFinished,
  type Payload,
  type Result,
  type Run,
  RUN_STATUSES,
  sha256,
  streamOwner,
  type StreamRef,
  streamText,
} from "@perdure/protocol";
import fc from "fast-check";
import { type KeyName, laneOf, type Mutation, type Timer, type WaitTarget } from "../store.ts";
import { SAMPLE_COMMANDS } from "./sample-entries.ts";
import { runIdOf, runOf } from "./store-harness.ts";

export const RUNS = 6;
export const KEYS: readonly KeyName[] = [
  { service: "inbox", key: "a" },
  { service: "inbox", key: "\u{1F98A}" },
  { service: "flow", key: "\uFFFD" },
];
export const NAMES: readonly string[] = ["", "n", "\u{1F98A}", "\uFFFD"];
export const TARGETS: readonly WaitTarget[] = [
  { kind: "run", run: runIdOf(1) },
  { kind: "run", run: runIdOf(2) },
  { kind: "promise", service: "flow", key: "\uFFFD", name: "n" },
];
/** Owned by keys, and by the first runs (of which some have a key: then nobody names it). */
export const STREAMS: readonly StreamRef[] = NAMES.flatMap((name) => [
  ...KEYS.map((owner): StreamRef => ({ owner, name })),
  ...[1, 2, 3, 4].map((run): StreamRef => ({ owner: { run: runIdOf(run, 0) }, name })),
]);
const KINDS = ["sleep", "start", "wake", "retry"] as const;
const MODES = ["exclusive", "shared", "workflow"] as const;

export interface Intent {
  readonly what:
    | "insert"
    | "update"
    | "promote"
    | "delete"
    | "append"
    | "truncate"
    | "timer"
    | "untimer"
    | "state"
    | "unstate"
    | "promise"
    | "wait"
    | "stream"
    | "keep"
    | "trim"
    | "copy"
    | "image"
    | "unimage"
    | "contradict"
    | "stale"
    | "reopen";
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly payload: Payload;
}

export type History = readonly (readonly Intent[])[];

/** Batches of intents. `large`: also payloads of that size. */
export function histories(large: number | undefined): fc.Arbitrary<History> {
  const small = fc.oneof(fc.json(), fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 40 }));
  const big = fc
    .integer({ min: 0, max: 3 })
    .map(
      (i): Payload => (i % 2 === 0 ? `"${"x".repeat((large ?? 0) + i)}"` : new Uint8Array((large ?? 0) + i).fill(i)),
    );
  const payload =
    large === undefined ? small : fc.oneof({ weight: 12, arbitrary: small }, { weight: 1, arbitrary: big });
  const number = fc.nat({ max: 1_000 });
  const often = [
    "insert",
    "update",
    "append",
    "append",
    "append",
    "timer",
    "state",
    "promise",
    "wait",
    "stream",
    "keep",
    "image",
  ] as const;
  const seldom = [
    "promote",
    "delete",
    "truncate",
    "trim",
    "copy",
    "unimage",
    "untimer",
    "unstate",
    "contradict",
    "stale",
    "reopen",
  ] as const;
  const what = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...often) },
    { weight: 1, arbitrary: fc.constantFrom(...seldom) },
  );
  return fc.array(
    fc.array(fc.record({ what, a: number, b: number, c: number, payload }), { minLength: 1, maxLength: 6 }),
    { minLength: 1, maxLength: 25 },
  );
}

interface KnownRun {
  run: Run;
  /** Entries of its images, in order. */
  images: number[];
  entries: number;
  commands: number;
  /** Commands up to each entry, from entry 0 on. */
  counts: number[];
}

/** What the history has made so far, as far as it has to be known to go on. */
export class HistoryState {
  readonly #runs = new Map<number, KnownRun>();
  #timers: Timer[] = [];
  readonly #ends = new Map<string, number>();
  #seq = 0;
  #arrival = 0;

  /** The mutations of an intent; none where it means nothing now. */
  mutations(intent: Intent): readonly Mutation[] {
    const { what, a, b, c, payload } = intent;
    const key = KEYS[b % KEYS.length] ?? { service: "", key: "" };
    const name = NAMES[c % NAMES.length] ?? "";
    const known = [...this.#runs.values()][a % Math.max(1, this.#runs.size)];
    switch (what) {
      case "insert":
        return this.#runs.size >= RUNS ? [] : this.#insert(intent, key);
      case "update":
        return known === undefined ? [] : this.#update(known, intent);
      case "promote":
        return known === undefined || laneOf(known.run) !== "queued" || this.#isHeld(known.run)
          ? []
          : this.#promote(known, b);
      case "delete":
        return known === undefined ? [] : this.#delete(known);
      case "append":
        return known === undefined ? [] : this.#append(known, intent);
      case "truncate":
        return known === undefined ? [] : this.#truncate(known, 1 + (b % (known.entries + 1)));
      case "timer":
        return [this.#timer({ at: b % 50, run: known?.run.seq ?? 77, kind: KINDS[c % 4] ?? "sleep", id: a % 3 })];
      case "untimer":
        return this.#timers.length === 0
          ? []
          : [{ type: "removeTimer", timer: this.#timers[a % this.#timers.length] as Timer }];
      case "state":
        return [{ type: "setState", key, name, value: payload }];
      case "unstate":
        return [a % 3 === 0 ? { type: "clearAllState", key } : { type: "clearState", key, name }];
      case "promise":
        return [
          a % 5 === 0 ? { type: "clearPromises", key } : { type: "setPromise", key, name, result: resultOf(intent) },
        ];
      case "wait":
        return [this.#wait(intent)];
      case "stream":
        return [this.#appendStream(streamAt(a), itemsOf(intent), b % 2 === 0 ? null : `${c}.1`, c)];
      case "keep":
        return known === undefined ? [] : this.#keep(known, intent);
      case "trim":
        return [this.#trim(streamAt(a), b)];
      case "copy":
        return this.#copy(streamAt(a), streamAt(b), c);
      case "image":
        return known === undefined ? [] : this.#image(known, intent);
      case "unimage":
        return known === undefined ? [] : this.#unimage(known, intent);
      case "contradict":
      case "stale":
      case "reopen":
        return [];
    }
  }

  #insert({ b, c, payload }: Intent, key: KeyName): readonly Mutation[] {
    const seq = (this.#seq += 1 + (c % 3));
    const keyed = b % 4 !== 0;
    const run = this.#inLane(
      runOf(seq, {
        id: runIdOf(seq, b % 2),
        status: RUN_STATUSES[c % RUN_STATUSES.length] ?? "running",
        service: keyed ? key.service : "mailer",
        key: keyed ? key.key : null,
        mode: keyed ? (MODES[c % 3] ?? "shared") : "service",
        input: b % 5 === 0 ? null : payload,
        parent: c % 4 === 0 ? { run: runIdOf(1 + (b % 3)), command: c, awaited: b % 2 === 0 } : null,
        headers: b % 7 === 0 ? { h: "v" } : null,
        idempotencyKey: b % 6 === 0 ? "i" : null,
        arrival: keyed ? ++this.#arrival : 0,
      }),
    );
    this.#runs.set(seq, { run, images: [], entries: 0, commands: 0, counts: [0] });
    return [{ type: "insertRun", run }];
  }

  #update(known: KnownRun, intent: Intent): readonly Mutation[] {
    const { b, c } = intent;
    const status = RUN_STATUSES[b % RUN_STATUSES.length] ?? "running";
    const failure = { code: 500, message: "x" };
    const { parent } = known.run;
    known.run = this.#inLane({
      ...known.run,
      status,
      changedAt: c,
      finishedAt: isFinished(status) ? c : null,
      result: isFinished(status) ? resultOf(intent) : null,
      watched: c % 2 === 0,
      deployment: c % 3 === 0 ? null : "d",
      scheduledAt: c % 5 === 0 ? c : null,
      generation: c % 4,
      retry: c % 6 === 0 ? { tries: 1, failure } : null,
      awaiting: c % 7 === 0 ? [{ kind: "time", at: b }] : null,
      pausedBy: status === "paused" ? failure : null,
      cancelling:
        c % 11 === 0
          ? {
              waitingFor: [runIdOf(b)],
              held: [{ command: 1, result: { kind: "value", value: new Uint8Array([b % 256]) } }],
            }
          : null,
      parent: parent === null ? null : { ...parent, awaited: c % 2 === 0 },
      arrival: known.run.key !== null && c % 3 === 0 ? ++this.#arrival : known.run.arrival,
    });
    return [{ type: "updateRun", run: known.run }];
  }

  /** E3: no history gives two runs the turn of one key. */
  #inLane(run: Run): Run {
    return laneOf(run) === "holder" && this.#isHeld(run) ? { ...run, status: "queued" } : run;
  }

  #isHeld(run: Run): boolean {
    const others = [...this.#runs.values()].map((known) => known.run).filter(({ seq }) => seq !== run.seq);
    return others.some((other) => other.service === run.service && other.key === run.key && laneOf(other) === "holder");
  }

  #promote(known: KnownRun, at: number): readonly Mutation[] {
    known.run = { ...known.run, status: "running", changedAt: at };
    return [{ type: "promoteRun", id: known.run.id, at }];
  }

  #delete({ run }: KnownRun): readonly Mutation[] {
    this.#runs.delete(run.seq);
    for (const stream of STREAMS)
      if ("run" in stream.owner && stream.owner.run === run.id) this.#ends.delete(streamText(stream));
    return [{ type: "deleteRun", run: run.seq, id: run.id }];
  }

  /** Few contents, so that images of several runs are the same. */
  #image(known: KnownRun, { b, c }: Intent): readonly Mutation[] {
    const entry = known.entries;
    if (entry === 0 || entry <= (known.images.at(-1) ?? 0)) return [];
    known.images.push(entry);
    const bytes = new Uint8Array((c % 3) * 4_000 + 5).fill(b % 4);
    const name = c % 5 === 0 ? `name ${c}` : null;
    const info = { entry, hash: sha256(bytes), base: sha256(`${b % 2}`), size: bytes.byteLength, at: c, name };
    return [{ type: "addImage", run: known.run.seq, info, bytes }];
  }

  #unimage(known: KnownRun, { b, c }: Intent): readonly Mutation[] {
    const run = known.run.seq;
    const entry = known.images[b % Math.max(1, known.images.length)];
    if (entry === undefined) return [{ type: "dropImages", run, entries: [c] }];
    if (b % 3 === 0) return [{ type: "nameImage", run, entry, name: c % 2 === 0 ? null : `name ${c}` }];
    known.images = known.images.filter((other) => other !== entry);
    return [{ type: "dropImages", run, entries: [entry] }];
  }

  #append(known: KnownRun, intent: Intent): readonly Mutation[] {
    const entry = entryOf(known, intent);
    known.entries = entry.index;
    if (entry.kind === "command") known.commands = entry.id;
    known.counts[entry.index] = known.commands;
    return [{ type: "appendEntry", run: known.run.seq, commands: known.commands, entry }];
  }

  #appendStream(stream: StreamRef, items: readonly Payload[], writer: string | null, at: number): Mutation {
    const from = this.#ends.get(streamText(stream)) ?? 0;
    this.#ends.set(streamText(stream), from + items.length);
    return { type: "appendStream", stream, from, items, writer, at };
  }

  #copy(from: StreamRef, to: StreamRef, c: number): readonly Mutation[] {
    const end = this.#ends.get(streamText(from));
    if (end === undefined || this.#ends.has(streamText(to))) return [];
    const before = c % (end + 1);
    this.#ends.set(streamText(to), before);
    return [{ type: "copyStream", from, to, before }];
  }

  #trim(stream: StreamRef, b: number): Mutation {
    return { type: "trimStream", stream, before: b % ((this.#ends.get(streamText(stream)) ?? 0) + 1) };
  }

  /** A step whose result goes into a stream, or a read of all that is there. */
  #keep(known: KnownRun, { a, b, c, payload }: Intent): readonly Mutation[] {
    const stream: StreamRef = { owner: streamOwner(known.run), name: NAMES[a % NAMES.length] ?? "" };
    const base = { index: known.entries + 1, at: c };
    known.entries += 1;
    known.commands += 1;
    known.counts[known.entries] = known.commands;
    const head = { kind: "command", ...base, id: known.commands } as const;
    const end = this.#ends.get(streamText(stream)) ?? 0;
    const result = { kind: "value", value: payload } as const;
    const write = (entry: Entry): Mutation => ({
      type: "appendEntry",
      run: known.run.seq,
      commands: known.commands,
      entry,
    });
    const from = b % Math.max(1, end);
    if (b % 2 === 0 && end > 0) {
      const kept = { stream: stream.name, from, count: end - from, form: "list" } as const;
      return [write({ ...head, command: { type: "readStream", stream: stream.name, from }, result, kept })];
    }
    const kept = { stream: stream.name, from: end, count: 1, form: "item" } as const;
    const command = { type: "step", name: "s", into: stream.name } as const;
    return [this.#appendStream(stream, [payload], null, c), write({ ...head, command, result, kept })];
  }

  #truncate(known: KnownRun, from: number): readonly Mutation[] {
    known.entries = from - 1;
    known.images = known.images.filter((entry) => entry < from);
    known.commands = known.counts[from - 1] ?? 0;
    return [{ type: "truncate", run: known.run.seq, id: known.run.id, from, commands: known.commands }];
  }

  #timer(timer: Timer): Mutation {
    this.#timers = [...this.#timers.slice(-20), timer];
    return { type: "addTimer", timer };
  }

  #wait({ a, b, c }: Intent): Mutation {
    const target = TARGETS[b % TARGETS.length] as WaitTarget;
    if (a % 6 === 0) return { type: "removeWaiters", target };
    return { type: "addWaiter", waiter: { target, run: runIdOf(1 + (c % RUNS), c % 2), command: a % 3 } };
  }

  /** Mutations that cannot be applied, whatever came before. */
  contradiction({ b }: Intent): Mutation {
    const [known] = this.#runs.values();
    if (known === undefined || b % 3 === 0) return { type: "updateRun", run: runOf(999_999) };
    if (b % 3 === 1) return { type: "insertRun", run: known.run };
    return { type: "promoteRun", id: runIdOf(888_888), at: 1 };
  }
}

function streamAt(a: number): StreamRef {
  return STREAMS[a % STREAMS.length] as StreamRef;
}

function itemsOf({ a, b, payload }: Intent): readonly Payload[] {
  return Array.from({ length: 1 + (b % 4) }, (_, i) => (i === a % 4 ? payload : `${i}`));
}

function resultOf({ a, payload }: Intent): Result {
  if (a % 4 === 0) return { kind: "void" };
  return a % 4 === 1
    ? { kind: "failure", failure: { code: 400, message: "m", metadata: { a: "b" } } }
    : { kind: "value", value: payload };
}

function entryOf(known: KnownRun, intent: Intent): Entry {
  const { a, b, c, payload } = intent;
  const base = { index: known.entries + 1, at: c };
  const open = 1 + (b % Math.max(1, known.commands));
  switch (b % 7) {
    case 0:
      return { kind: "completion", ...base, id: open, result: resultOf(intent) };
    case 1:
      return { kind: "signal", ...base, signal: c % 2 === 0 ? c : "s", payload: resultOf(intent) };
    case 2:
      return { kind: "retry", ...base, id: open, tries: c, failure: { code: 1, message: "m" } };
    case 3:
      return {
        kind: "command",
        ...base,
        id: known.commands + 1,
        command: SAMPLE_COMMANDS[a % SAMPLE_COMMANDS.length] as (typeof SAMPLE_COMMANDS)[number],
      };
    default:
      return {
        kind: "command",
        ...base,
        id: known.commands + 1,
        command: { type: "step", name: "s" },
        result: { kind: "value", value: payload },
      };
  }
}
