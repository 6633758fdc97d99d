// What a batch has to see before it is decided. Asked again after each load until nothing is missing: a loaded run may
// name a parent, a key or children that the decision also touches.

import {
  isFinished,
  parseAwakeableId,
  QUEUE_LISTED_MAX,
  unreachable,
  type Command,
  type Entry,
  type Instant,
  type RunId,
  streamOwner,
  type StreamOwner,
  type StreamRef,
  type Target,
} from "@perdure/protocol";
import type { Batch } from "./batch.ts";
import { resolveRef } from "./commands/attempt-command.ts";
import { derivedId } from "./environment.ts";
import { forkKey } from "./commands/fork.ts";
import { openCommands } from "./moves/as-of.ts";
import { instantOf, THE_END } from "./moves/copy-run.ts";
import { isCancelled } from "./moves/finish.ts";
import { needsTurn } from "./commands/submit.ts";
import type { AttemptEvent, Event, Fork, Rewind } from "./events.ts";
import type { KeyName, Needs, WaitTarget } from "./store.ts";
import { waitTargetName } from "./store.ts";
import { streamRef } from "./moves/streams.ts";
import { commandText, keyText, ownedText, promiseText, rangeText, streamKey, type HotRun, type View } from "./view.ts";

/** Collects what is missing, each thing once. */
class Missing {
  readonly runs: Set<RunId> = new Set();
  readonly seqs: Set<number> = new Set();
  readonly keys: Map<string, KeyName> = new Map();
  readonly promises: Map<string, { key: KeyName; name: string }> = new Map();
  readonly waiters: Map<string, WaitTarget> = new Map();
  readonly states: Map<string, KeyName> = new Map();
  readonly children: Set<RunId> = new Set();
  readonly commands: Map<string, { run: number; id: number }> = new Map();
  readonly tails: Map<number, { run: number; from: number }> = new Map();
  readonly images: Map<number, { run: number; id: RunId }> = new Map();
  readonly streams: Map<string, StreamRef> = new Map();
  readonly ranges: Map<string, { stream: StreamRef; from: number }> = new Map();
  readonly owned: Map<string, { owner: StreamOwner; at: Instant }> = new Map();
  timers: Needs["timers"] = null;
  finished: Needs["finished"] = null;
  any = false;

  toNeeds(): Needs | null {
    if (!this.any) return null;
    return {
      runs: [...this.runs],
      runsBySeq: [...this.seqs],
      keys: [...this.keys.values()],
      promises: [...this.promises.values()],
      waiters: [...this.waiters.values()],
      states: [...this.states.values()],
      children: [...this.children],
      commands: [...this.commands.values()],
      tails: [...this.tails.values()],
      images: [...this.images.values()],
      streams: [...this.streams.values()],
      ranges: [...this.ranges.values()],
      owned: [...this.owned.values()],
      timers: this.timers,
      finished: this.finished,
    };
  }
}

export class NeedsFinder {
  readonly #view: View;
  readonly #batch: Batch;
  readonly #missing: Missing = new Missing();

  constructor(batch: Batch) {
    this.#batch = batch;
    this.#view = batch.view;
  }

  /** Null where the view has all that `events` need. */
  find(events: readonly Event[]): Needs | null {
    for (const event of events) this.#event(event);
    return this.#missing.toNeeds();
  }

  #event(event: Event): void {
    if ("attempt" in event) this.#attemptEvent(event);
    else this.#otherEvent(event);
  }

  #attemptEvent(event: AttemptEvent): void {
    switch (event.type) {
      case "propose":
        this.#result(event.run, event.id);
        return;
      case "append":
        this.#stream(this.#view.runs.get(event.run), event.stream);
        return;
      case "image":
      case "imageUnusable":
        if (this.#view.runs.get(event.run)?.attempt?.token === event.attempt) this.#images(event.run);
        return;
      case "retrying":
      case "suspend":
        return; // Only the live run itself, which is hot.
      case "command":
        if (event.command.type === "step") {
          const { into } = event.command;
          if (into !== undefined) this.#stream(this.#view.runs.get(event.run), into);
        } else if (event.command.type !== "sleep") this.#command(event.run, event.command, event.result !== undefined);
        return;
      case "end":
        if (isCancelled(event.result)) this.#tree(event.run);
        else this.#ending(this.#view.runs.get(event.run));
        return;
      case "error":
        if (event.failure.behavior !== "pause") this.#ending(this.#view.runs.get(event.run));
        return;
      default:
        unreachable(event);
    }
  }

  #otherEvent(event: Exclude<Event, AttemptEvent>): void {
    switch (event.type) {
      case "submit":
        if (!event.fresh) this.#run(event.run);
        this.#turn(event.target, this.#batch.environment.mode(event.target));
        return;
      case "attach":
      case "pause":
      case "begin":
      case "resume":
      case "planMigration":
      case "purge":
        this.#run(event.run);
        return;
      case "nameMoment":
      case "forgetImages":
      case "migrate":
        this.#images(event.run);
        return;
      case "signal":
        this.#signal(event.run, event.signal === 1);
        return;
      case "cancel":
      case "kill":
        this.#tree(event.run);
        return;
      case "restart":
        this.#restart(event.run, event.from);
        return;
      case "fork":
        this.#fork(event);
        return;
      case "rewind":
        this.#rewind(event);
        return;
      case "settleEffect":
        this.#settle(event.run, event.command);
        return;
      case "editState":
        this.#key(event.key);
        if (event.force) this.#holderImages(event.key);
        if (event.expected.size > 0) this.#state(event.key);
        return;
      case "timers":
        this.#timers();
        return;
      case "retention":
        this.#retention(event.afterSeq);
        return;
      default:
        unreachable(event);
    }
  }

  #command(runId: RunId, command: Command, answered: boolean): void {
    const run = this.#view.runs.get(runId);
    if (run === undefined || run.attempt === null) return;
    switch (command.type) {
      case "append":
      case "streamLength":
      case "trimStream":
        this.#stream(run, command.stream);
        return;
      case "readStream":
        this.#range(run, command.stream, command.from);
        return;
      case "call":
      case "send": {
        const mode = this.#batch.environment.mode(command.target);
        if (mode === null) return;
        const named = derivedId(this.#batch.environment, command.target, command.idempotencyKey ?? null, mode);
        if (named !== null) this.#run(named); // Other ids are new: nothing can be there.
        this.#turn(command.target, mode);
        return;
      }
      case "getQueue":
        if (run.record.key !== null) this.#queue({ service: run.record.service, key: run.record.key });
        return;
      case "attach":
      case "output":
        this.#run(resolveRef(this.#batch, command.ref));
        return;
      case "sendSignal":
        this.#signal(command.run, command.signal === 1);
        return;
      case "completeAwakeable": {
        const ref = parseAwakeableId(command.awakeable);
        if (ref !== undefined) this.#signal(ref.run, false);
        return;
      }
      case "getPromise":
      case "peekPromise":
      case "completePromise":
        if (run.record.key !== null)
          this.#promise(
            { service: run.record.service, key: run.record.key },
            command.key,
            command.type === "completePromise",
          );
        return;
      case "getState":
      case "getStateKeys":
        if (!answered && run.record.key !== null) this.#state({ service: run.record.service, key: run.record.key });
        return;
      default:
        return;
    }
  }

  #run(id: RunId): HotRun | undefined {
    const known = this.#view.runs.get(id);
    if (known === undefined && !this.#view.missing.has(id)) {
      this.#missing.runs.add(id);
      this.#missing.any = true;
    }
    return known;
  }

  #images(id: RunId): void {
    const run = this.#run(id);
    if (run === undefined || run.images !== null) return;
    this.#missing.images.set(run.record.seq, { run: run.record.seq, id });
    this.#missing.any = true;
  }

  #key(name: KeyName): void {
    const text = keyText(name.service, name.key);
    if (this.#view.keys.has(text)) return;
    this.#missing.keys.set(text, name);
    this.#missing.any = true;
  }

  #turn(target: Target, mode: HotRun["record"]["mode"] | null): void {
    const { service, key } = target;
    if (mode === null || key === undefined || !needsTurn({ mode, target })) return;
    this.#key({ service, key });
    if (!this.#batch.environment.listens(target)) return;
    const holder = this.#view.keys.get(keyText(service, key))?.holder ?? null;
    if (holder !== null) this.#run(holder); // It is told of the arrival.
  }

  #keyOfRun(run: HotRun): void {
    const { service, handler, key, mode } = run.record;
    if (key !== null) this.#turn({ service, handler, key }, mode);
  }

  #queue(name: KeyName): void {
    this.#key(name);
    const queue = this.#view.keys.get(keyText(name.service, name.key))?.queue ?? [];
    for (const id of queue.slice(0, QUEUE_LISTED_MAX)) this.#run(id);
  }

  #waiters(target: WaitTarget): void {
    const text = waitTargetName(target);
    const known = this.#view.waiters.get(text);
    if (known === undefined) {
      this.#missing.waiters.set(text, target);
      this.#missing.any = true;
    } else for (const waiter of known) this.#run(waiter.run);
  }

  /** What the end of a run touches. */
  #ending(run: HotRun | undefined): void {
    if (run === undefined) return;
    const { key, parent, status, watched } = run.record;
    if (status !== "scheduled" && status !== "queued") this.#images(run.record.id); // What has begun may have some.
    if (key !== null) this.#keyOfRun(run);
    if (parent !== null && parent.awaited) this.#parents(parent.run);
    if (watched) this.#waiters({ kind: "run", run: run.record.id });
  }

  #parents(id: RunId): void {
    this.#run(id);
  }

  #signal(id: RunId, cancels: boolean): void {
    if (cancels) this.#tree(id);
    else this.#run(id);
  }

  /** The run, its awaited children and theirs, and what the end of each touches. */
  #tree(id: RunId): void {
    const run = this.#run(id);
    if (run === undefined || isFinished(run.record.status)) return;
    this.#ending(run);
    const children = this.#view.children.get(id);
    if (children === undefined) {
      if (run.fresh) return;
      this.#missing.children.add(id);
      this.#missing.any = true;
      return;
    }
    for (const child of children) this.#tree(child);
  }

  #restart(id: RunId, from: number): void {
    const run = this.#run(id);
    if (run === undefined) return;
    this.#keyOfRun(run);
    this.#images(id);
    const { seq } = run.record;
    if (!this.#view.tails.has(seq)) {
      const other = this.#missing.tails.get(seq)?.from ?? Number.POSITIVE_INFINITY;
      this.#missing.tails.set(seq, { run: seq, from: Math.min(other, Math.max(1, from)) });
      this.#missing.any = true;
    }
    const children = this.#view.children.get(id);
    if (children === undefined) {
      this.#missing.children.add(id);
      this.#missing.any = true;
    } else for (const child of children) this.#tree(child);
  }

  #holderImages({ service, key }: KeyName): void {
    const holder = this.#view.keys.get(keyText(service, key))?.holder ?? null;
    if (holder !== null) this.#images(holder);
  }

  #rewind({ run: id, at, branch }: Rewind): void {
    this.#run(branch);
    const journal = this.#journal(id);
    this.#restart(id, at + 1);
    const run = this.#run(id);
    if (run === undefined) return;
    const { service, key } = run.record;
    if (journal !== undefined) this.#takeUp(journal, service, key);
    if (key === null) this.#owned({ run: id }, THE_END);
    else this.#state({ service, key });
  }

  /** What a fork takes along, and what it waits for. */
  #fork(event: Fork): void {
    this.#run(event.id);
    const run = this.#run(event.run);
    const journal = this.#journal(event.run);
    if (run === undefined || journal === undefined) return;
    const at = event.at ?? run.entries;
    const { service, key } = run.record;
    const newKey = forkKey(run, event);
    const owner = streamOwner(run.record);
    this.#owned(owner, instantOf(run, journal, at));
    if (key !== null && newKey !== null && newKey !== key) {
      this.#key({ service, key: newKey });
      for (const name of [key, newKey]) this.#state({ service, key: name });
      this.#owned({ service, key: newKey }, 0);
    }
    this.#takeUp(journal.slice(0, at), service, newKey);
  }

  /** What a copy of a run waits for. */
  #takeUp(entries: readonly Entry[], service: string, key: string | null): void {
    for (const { command, child } of openCommands(entries)) {
      if (command.type === "call" && child !== undefined) this.#run(child);
      else if (command.type === "attach") this.#run(resolveRef(this.#batch, command.ref));
      else if (command.type === "getPromise" && key !== null) this.#promise({ service, key }, command.key, false);
    }
  }

  /** The whole journal of a run, and its images. */
  #journal(id: RunId): readonly Entry[] | undefined {
    this.#images(id);
    const run = this.#run(id);
    if (run === undefined) return undefined;
    const { seq } = run.record;
    const journal = this.#view.tails.get(seq);
    if (journal !== undefined && (journal[0]?.index ?? 1) === 1) return journal;
    this.#missing.tails.set(seq, { run: seq, from: 1 });
    this.#missing.any = true;
    return undefined;
  }

  #owned(owner: StreamOwner, at: Instant): void {
    const text = ownedText(owner, at);
    if (this.#view.owned.has(text)) return;
    this.#missing.owned.set(text, { owner, at });
    this.#missing.any = true;
  }

  #settle(id: RunId, command: number): void {
    const run = this.#run(id);
    if (run === undefined) return;
    const known = this.#view.commands.get(commandText(run.record.seq, command));
    if (known !== undefined) {
      if (known.entry?.command.type === "step") this.#stream(run, known.entry.command.into);
      return;
    }
    this.#missing.commands.set(commandText(run.record.seq, command), { run: run.record.seq, id: command });
    this.#missing.any = true;
  }

  #promise({ service, key }: KeyName, name: string, completesIt: boolean): void {
    const text = promiseText({ service, key }, name);
    if (!this.#view.promises.has(text)) {
      this.#missing.promises.set(text, { key: { service, key }, name });
      this.#missing.any = true;
    }
    if (completesIt) this.#waiters({ kind: "promise", service, key, name });
  }

  /** The result of a step may go into a stream. */
  #result(id: RunId, command: number): void {
    const run = this.#view.runs.get(id);
    const attempt = run?.attempt ?? null;
    if (run === undefined || attempt === null) return;
    if (attempt.streams !== null) this.#stream(run, attempt.streams.into.get(command));
    if (command <= attempt.imaged && !attempt.open.has(command)) this.#settle(id, command);
  }

  #stream(run: HotRun | undefined, name: string | undefined): StreamRef | undefined {
    if (run === undefined || name === undefined) return undefined;
    const ref = streamRef(run.record, name);
    const text = streamKey(ref);
    if (this.#view.streams.has(text)) return ref;
    this.#missing.streams.set(text, ref);
    this.#missing.any = true;
    return ref;
  }

  #range(run: HotRun, name: string, from: number): void {
    const stream = this.#stream(run, name);
    if (stream === undefined) return;
    const text = rangeText(streamKey(stream), from);
    if (this.#view.ranges.has(text)) return;
    this.#missing.ranges.set(text, { stream, from });
    this.#missing.any = true;
  }

  #state(name: KeyName): void {
    const text = keyText(name.service, name.key);
    if (this.#view.states.has(text)) return;
    this.#missing.states.set(text, name);
    this.#missing.any = true;
  }

  #timers(): void {
    const { timers } = this.#view;
    if (timers === null) {
      this.#missing.timers = { until: this.#batch.now, limit: this.#batch.limits.timersPerBatchMax };
      this.#missing.any = true;
      return;
    }
    for (const timer of timers) {
      if (!this.#view.knowsSeq(timer.run)) {
        this.#missing.seqs.add(timer.run);
        this.#missing.any = true;
      } else if (timer.kind === "start") {
        const run = this.#view.runBySeq(timer.run);
        if (run !== undefined) this.#keyOfRun(run);
      }
    }
  }

  #retention(afterSeq: number): void {
    const { finished } = this.#view;
    if (finished === null) {
      this.#missing.finished = { afterSeq, limit: this.#batch.limits.retentionPageMax };
      this.#missing.any = true;
    } else for (const run of finished) this.#run(run.id);
  }
}
