// A host: a process that may die, with its clock, its executor and its loop over the disk that all hosts share.
//
//   down ─▶ booting ─▶ up ─▶ down (crashed, drained, fenced, or its loop failed)
//
// H1. A host that died does nothing any more: what it had on the agenda is void, its commits are applied or lost.

import {
  type Clock,
  type Environment,
  Loop,
  type LoopOptions,
  type MemoryStorage,
  type Question,
  type Reply,
  type Store,
} from "@perdure/engine";
import { type Executor, FencedError } from "@perdure/protocol";
import type { Agenda } from "./agenda.ts";
import type { BentContext } from "./agents/stage.ts";
import { HostClock } from "./host-clock.ts";
import type { Observation } from "./observations.ts";
import type { Parameters } from "./parameters.ts";
import type { Random } from "./random.ts";
import { SimStore } from "./sim-store.ts";
import { WatchedExecutor } from "./watched-executor.ts";

/** What a test may put between the loop and its ports, to break a promise on purpose. */
export interface Sabotage {
  store?(store: Store, random: Random): Store;
  executor?(executor: Executor): Executor;
  clock?(clock: Clock, random: Random): Clock;
  environment?(environment: Environment): Environment;
  /** Around what agents get as `ctx` when they handle a message. */
  context?: BentContext;
}

export interface HostPorts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly parameters: Parameters;
  readonly environment: Environment;
  readonly sabotage: Sabotage;
  readonly storage: MemoryStorage;
  faultsOn(): boolean;
  nextAttempt(): number;
  see(observation: Observation): void;
  trace(host: number, mark: string, text: string): void;
  executor(host: SimHost, process: Process): Executor;
  /** The host is down for another reason than a crash. */
  down(host: SimHost, fenced: boolean): void;
}

/** One life of a host. */
export class Process {
  dead = false;
  /** What its executor is seen to do. */
  watched: WatchedExecutor | null = null;
  /** Called when it dies, for those who wait for its answers. */
  readonly bereaved: Set<() => void> = new Set();
  readonly #agenda: Agenda;
  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }
  readonly after = (ms: number, callback: () => void): (() => void) =>
    this.#agenda.after(ms, () => {
      if (!this.dead) callback();
    });
}

export class SimHost {
  readonly index: number;
  readonly clock: HostClock;
  readonly #ports: HostPorts;
  readonly #random: Random;
  #process: Process | null = null;
  #loop: Loop | null = null;
  watched: WatchedExecutor | null = null;

  constructor(index: number, ports: HostPorts) {
    this.index = index;
    this.#ports = ports;
    this.#random = ports.random.split(`host ${index}`);
    this.clock = new HostClock(ports.agenda);
  }

  get loop(): Loop | null {
    return this.#loop;
  }

  get isUp(): boolean {
    return this.#loop?.state === "running";
  }

  get isDown(): boolean {
    return this.#loop === null;
  }

  get epoch(): number {
    return this.#loop?.epoch ?? 0;
  }

  boot(): void {
    const { parameters, agenda, sabotage } = this.#ports;
    const life = new Process(agenda);
    this.#process = life;
    let epoch = 0;
    const store = this.#store(life, (taken) => (epoch = taken));
    const watched = new WatchedExecutor(this.#ports.executor(this, life), {
      host: this.index,
      tick: () => agenda.tick,
      epoch: () => epoch,
      nextAttempt: this.#ports.nextAttempt,
      see: this.#ports.see,
    });
    this.watched = watched;
    life.watched = watched;
    const environment = sabotage.environment?.(this.#ports.environment) ?? this.#ports.environment;
    const options: LoopOptions = {
      store: sabotage.store?.(store, this.#random) ?? store,
      executor: sabotage.executor?.(watched) ?? watched,
      environment,
      clock: sabotage.clock?.(this.clock, this.#random) ?? this.clock,
      scheduler: { soon: (callback) => this.#soon(life, callback) },
      limits: parameters.limits,
      retentionEveryMs: parameters.retention.everyMs,
      onFailure: (error) => this.#failed(life, error),
    };
    const loop = new Loop(options);
    this.#loop = loop;
    loop.start(`host ${this.index}`).then(
      () => this.#ports.trace(this.index, "^", `took the partition, epoch ${loop.epoch}`),
      (error: unknown) => this.#failed(life, error),
    );
  }

  #soon(life: Process, callback: () => void): void {
    life.after(this.#random.chance(0.2) ? this.#random.int(0, 2) : 0, () => {
      this.clock.mark();
      callback();
    });
  }

  #store(life: Process, acquired: (epoch: number) => void): Store {
    const { parameters, agenda, see } = this.#ports;
    const { faults } = parameters;
    const whileFaulty = (probability: number) => () => (this.#ports.faultsOn() ? probability : 0);
    return new SimStore(this.#ports.storage, {
      random: this.#random.split(`store ${agenda.tick}`),
      latencyMsMax: parameters.storeMsMax,
      keyQueuePage: parameters.keyQueuePage,
      after: life.after,
      commitRefused: whileFaulty(faults.commitRefused),
      commitUncertain: whileFaulty(faults.commitUncertain),
      loadFails: whileFaulty(faults.loadFails),
      latest: () => this.clock.latest,
      acquired: (epoch) => {
        acquired(epoch);
        see({ type: "acquired", tick: agenda.tick, host: this.index, epoch });
      },
      committed: (commit, now) => see({ type: "committed", tick: agenda.tick, host: this.index, now, commit }),
    });
  }

  #failed(life: Process, error: unknown): void {
    if (life.dead) return;
    const fenced = error instanceof FencedError;
    this.#ports.trace(this.index, "!", `the loop failed: ${String(error)}`);
    const isExpected = fenced || (error instanceof Error && error.name === "StoreWriteError");
    if (!isExpected)
      this.#ports.see({
        type: "settled",
        figures: {},
        why: `the loop failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      });
    this.#end();
    this.#ports.down(this, fenced);
  }

  #end(): void {
    const life = this.#process;
    if (life !== null) life.dead = true;
    this.watched?.crash();
    this.clock.forget();
    this.#process = null;
    this.#loop = null;
    this.watched = null;
    for (const hear of life?.bereaved ?? []) hear();
  }

  crash(): void {
    if (this.#loop === null) return;
    this.#ports.trace(this.index, "!", "crash");
    this.#end();
  }

  /** Ends in order. */
  drain(patienceMs: number): void {
    const loop = this.#loop;
    const life = this.#process;
    if (loop === null || life === null || loop.state !== "running") return;
    this.#ports.trace(this.index, "v", "drains");
    loop
      .drain((giveUp) => void life.after(patienceMs, giveUp))
      .then(() => {
        if (life.dead) return;
        this.#end();
        this.#ports.down(this, false);
      })
      .catch((error: unknown) => this.#failed(life, error));
  }

  /** Ends the loop at once, but in order. The process lives on: what its store was about to do is still done. */
  stop(): void {
    const [loop, life] = [this.#loop, this.#process];
    if (loop === null || life === null) return;
    this.#ports.trace(this.index, "v", "stops");
    loop.stop();
    this.#end();
    life.dead = false;
  }

  /** Asks this host's loop; null where no answer comes, or the asker went away after `patienceMs`. */
  ask(question: Question, patienceMs?: number): Promise<Reply | null> {
    const [loop, life] = [this.#loop, this.#process];
    if (loop === null || life === null) return Promise.resolve(null);
    this.#ports.see({ type: "asked", question });
    return new Promise((resolve) => {
      const hear = (): void => resolve(null); // The host went down: whether it happened is not known.
      life.bereaved.add(hear);
      const asked = loop.ask(question, (withdraw) => {
        if (patienceMs !== undefined) life.after(patienceMs, () => (withdraw(), hear()));
      });
      asked.then((reply) => {
        life.bereaved.delete(hear);
        this.#ports.see({ type: "replied", tick: this.#ports.agenda.tick, question, reply });
        resolve(reply);
      }, hear);
    });
  }
}
