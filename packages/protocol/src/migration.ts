// Migration: a run goes over to other code
// ========================================
// A run keeps the code that it began with, for as long as it lives, unless somebody migrates it. That is possible at a *safe
// point*: while the newest command of the run is one, everything that has happened is in the state that was journaled there.
//
//   … safe point (state) ─ signals … ─ resumed { migrated: state' } ─ what the new code asks for …
//     └ forgotten by replay ┘└──────────── the new code begins from the top, and meets these ────────────
//
// M1. The new code never meets what stands at the safe point or before it, but for signals that nobody had taken by then.
// M2. Commands keep their numbers: the first one of the new code follows the safe point's.
// M3. The state is turned into the new code's before anything changes, and journaled with the migration: it is turned once.

import type { RunId } from "./ids.ts";
import type { RunFilterBody } from "./api.ts";
import type { Result } from "./payload.ts";
import type { RunStatus } from "./run.ts";
import type { Instant } from "./time.ts";

/** What a safe point says beside its state, which is the step's result. */
export interface SafePointMark {
  readonly point: string;
  /** Entries of signals that nobody had taken. */
  readonly kept: readonly number[];
  /** The number of the next awakeable. Those before it were given out: nobody gets them again. */
  readonly awakeables: number;
}

/** Where the code of a run begins since its last migration. */
export interface Migrated extends SafePointMark {
  /** Of the safe point: what is met stands after it. */
  readonly entry: number;
  /** Commands up to it. */
  readonly commands: number;
  /** The entry that tells of the migration. */
  readonly told: number;
  readonly at: Instant;
}

/** What the journal says of a migration. */
export interface MigrationTold {
  readonly point: string;
  readonly from: string | null;
  readonly to: string | null;
  /** The state as the new code takes it. */
  readonly state: Result;
  /** Where the code began before it: whoever goes back to before this entry begins there again. */
  readonly before: Migrated | null;
}

/** Names of steps that are safe points begin so. */
export const SAFE_POINT_PREFIX = "perdure.safePoint/";

/** What a `migrate` hook is told. */
export interface MigrationAbout {
  readonly point: string;
  /** The deployment that the state is from; null where the run is remembered by its journal. */
  readonly from: string | null;
}

/**
 * `migrated`: it goes on with that code. `planned`: it will, at its next safe point. `unchanged`: it has that code already.
 * `refused`: it stays where it is, for the reason that is given.
 */
export type MigrationOutcome = "migrated" | "planned" | "unchanged" | "refused";

/** What became of a run, or would have become of it (`dryRun`). */
export interface MigrationReport {
  readonly runId: RunId;
  readonly dryRun: boolean;
  readonly outcome: MigrationOutcome;
  /** The safe point that it is at. */
  readonly point: string | null;
  /** Deployments: hashes of bundles; null where the run is remembered by its journal. */
  readonly from: string | null;
  readonly to: string | null;
  readonly reason: string | null;
}

export interface MigrateRequest {
  /** A bundle, by the beginning of its hash; absent or `latest`: the code that new runs begin on. */
  readonly to?: string;
  readonly dryRun?: boolean;
  /** A run that is not at a safe point goes over when it comes to one. */
  readonly whenSafe?: boolean;
}

export interface BulkMigrateRequest extends MigrateRequest {
  readonly filter: RunFilterBody;
  /** An empty filter means every run. */
  readonly all?: boolean;
}

export interface BulkMigrateAnswer {
  readonly dryRun: boolean;
  readonly matched: number;
  readonly outcomes: Readonly<Record<MigrationOutcome, number>>;
  /** The first 1000. */
  readonly runs: readonly MigrationReport[];
}

/** A bundle that is stored. */
export interface DeploymentView {
  readonly hash: string;
  /** The file that it was made of. */
  readonly entry: string;
  /** ISO 8601; null where nobody wrote it down. */
  readonly createdAt: string | null;
  /** Runs of these services begin on it now. */
  readonly services: readonly string[];
  readonly bytes: number;
  /** What its runs start from: the heap with the code loaded. One for each version of the engine. */
  readonly bases: readonly { readonly hash: string; readonly bytes: number }[];
  /** Runs that have it, by status. */
  readonly runs: Readonly<Partial<Record<RunStatus, number>>>;
}

export interface DeploymentsAnswer {
  readonly deployments: readonly DeploymentView[];
}
