// Who the code is: the run whose id and key it knows, and from which its random numbers come.
//
// The first entries of a fork were made by another run (`AttemptStart.origin`). Until the code has met them all it is told that
// run's id and key, so that it asks for what is recorded; from there on it is itself, with numbers of its own, so that new
// effects do not take the names of the origin's.
//
// S1. Who it is depends on what the code has asked for and met, so it is the same on every replay, and never goes back.
// S2. An entry is met when the cursor has passed it. A command is as good as met when the code has asked for it, unless its
//     entry brings the code something that it may wait for.

import type { AttemptOrigin, AttemptStart, CommandType, Entry, RunId } from "@perdure/protocol";
import type { HandlerScope } from "../ports.ts";
import { ReplayableRandom } from "./prng.ts";

/** How far the code has come. */
export interface Progress {
  /** Commands that it has asked for. */
  readonly issued: number;
  /** Index of the last entry that it has met. */
  readonly met: number;
}

interface Stage {
  readonly run: RunId;
  readonly key: string | null;
  /** Commands and the last entry that have to be met before the next stage. */
  readonly commands: number;
  readonly last: number;
}

/** Entries of these bring nothing, also where they have a result. */
const SILENT: ReadonlySet<CommandType> = new Set<CommandType>([
  "setState",
  "clearState",
  "clearAllState",
  "sendSignal",
  "completeAwakeable",
  "append",
  "trimStream",
]);

const NEVER = Number.POSITIVE_INFINITY;

export class Identity {
  /** The entry that the code began with, if it began after the run. */
  readonly began: number;
  readonly #progress: () => Progress;
  #stages: readonly Stage[];
  #stage = 0;

  constructor(start: AttemptStart, progress: () => Progress) {
    this.began = start.migrated?.told ?? 0;
    this.#progress = progress;
    this.#stages = stagesOf(start);
  }

  /** The heap was put back from an image, perhaps for a fork of the run that it was taken from. */
  resume(start: AttemptStart): void {
    this.#stages = stagesOf(start);
    this.#stage = 0;
  }

  get run(): RunId {
    return this.#now().run;
  }

  get key(): string | null {
    return this.#now().key;
  }

  #now(): Stage {
    const last = this.#stages.length - 1;
    if (this.#stage < last) {
      const { issued, met } = this.#progress();
      while (this.#stage < last && isOver(this.#stages[this.#stage] as Stage, issued, met)) this.#stage += 1;
    }
    return this.#stages[this.#stage] as Stage;
  }
}

export function scopeOf({ run, service, handler, key }: AttemptStart): HandlerScope {
  return { run, service, handler, key };
}

function isOver({ commands, last }: Stage, issued: number, met: number): boolean {
  return issued >= commands && met >= last;
}

/** Oldest first; the last one is the run itself, for good. */
function stagesOf(start: AttemptStart): readonly Stage[] {
  const itself: Stage = { run: start.run, key: start.key, commands: NEVER, last: NEVER };
  if (start.origin === null) return [itself];
  const isExclusive = start.mode === "exclusive" || start.mode === "workflow";
  const stages: Stage[] = [itself];
  for (let origin: AttemptOrigin | null = start.origin; origin !== null; origin = origin.origin) {
    const { run, key, until } = origin;
    let [commands, last] = [0, 0];
    for (const entry of start.entries) {
      if (entry.index > until) break;
      if (entry.kind === "command") commands = entry.id;
      if (brings(entry, isExclusive)) last = entry.index;
    }
    stages.unshift({ run, key, commands, last });
  }
  return stages;
}

function brings(entry: Entry, isExclusive: boolean): boolean {
  if (entry.kind === "completion" || entry.kind === "signal") return true;
  if (entry.kind !== "command") return false;
  const { type } = entry.command;
  if (type === "getState" || type === "getStateKeys") return !isExclusive && entry.result !== undefined;
  return type === "send" || (entry.result !== undefined && !SILENT.has(type));
}

/** Random numbers of whoever the code is. */
export class IdentityRandom {
  readonly #identity: Identity;
  #run: RunId;
  #numbers: ReplayableRandom;

  constructor(identity: Identity) {
    this.#identity = identity;
    this.#run = identity.run;
    this.#numbers = new ReplayableRandom(this.#run, identity.began);
  }

  random(): number {
    return this.#of().random();
  }

  uuid(): string {
    return this.#of().uuid();
  }

  #of(): ReplayableRandom {
    const { run } = this.#identity;
    if (run !== this.#run) {
      this.#run = run;
      this.#numbers = new ReplayableRandom(run, this.#identity.began);
    }
    return this.#numbers;
  }
}
