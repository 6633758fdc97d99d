// A checker knows only what can be seen from outside (observations.ts). It is told of every commit twice, before and
// after the shadow follows it, and of each mutation in its order.

import type { Mutation } from "@perdure/engine";
import type { AttemptStart, RunId } from "@perdure/protocol";
import type { AttemptEnd, Names, Observation, Report } from "../observations.ts";
import type { Shadow } from "./shadow.ts";

export type Committed = Extract<Observation, { type: "committed" }>;

/** An attempt as seen from outside. */
export interface SeenAttempt {
  readonly number: number;
  readonly host: number;
  readonly epoch: number;
  readonly start: AttemptStart;
  /** Index of the last entry that it was told of. */
  told: number;
  /** What it said it had seen when it suspended. */
  seen: number | null;
  over: AttemptEnd | null;
}

export interface Context {
  readonly shadow: Shadow;
  readonly attempts: ReadonlyMap<number, SeenAttempt>;
  /** The last attempt that each run began, under the newest epoch. */
  readonly lastAttempt: ReadonlyMap<RunId, SeenAttempt>;
  readonly names: Names;
  readonly report: Report;
}

/** What an attempt on a host that has lost the partition does is refused by its epoch; it cannot be prevented. */
export function isCurrent(context: Context, attempt: SeenAttempt): boolean {
  return attempt.epoch === context.shadow.epoch;
}

export interface Checker {
  readonly name: string;
  beforeCommit?(context: Context, commit: Committed): void;
  beforeMutation?(context: Context, mutation: Mutation, commit: Committed): void;
  afterCommit?(context: Context, commit: Committed): void;
  observe?(context: Context, observation: Exclude<Observation, Committed>): void;
}

export function isLive(attempt: SeenAttempt): boolean {
  return attempt.over === null;
}
