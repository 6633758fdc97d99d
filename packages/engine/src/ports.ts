// What the loop is given instead of an environment. The host implements these with Node, the simulator with one seed.

import type { Instant, RunId } from "@perdure/protocol";
import type { Mutation } from "./store.ts";

export interface Clock {
  now(): Instant;
  /** Calls back once the clock has reached `at`, not before (E6). Returns what cancels it. */
  wakeAt(at: Instant, callback: () => void): () => void;
}

export interface Scheduler {
  /** Calls back on a later turn, after everything that is already waiting: what arrives until then joins the batch. */
  soon(callback: () => void): void;
}

/** Is told what a commit has made true; must neither wait nor throw. */
export interface Observer {
  committed(mutations: readonly Mutation[], now: Instant): void;
  /** A batch was decided and committed: how many events it held, and how long the store took. */
  batch?(events: number, mutations: number): void;
  /** An image is damaged or cannot be read, and is forgotten: the run goes on from the one before, with a longer journal. */
  imageLost?(run: RunId, entry: number, reason: string): void;
  /** A run that is to be migrated (`Run.migrating`) has come to a safe point, or waits. */
  mayMigrate?(run: RunId): void;
}
