// The migrator: runs go over to other code, at a safe point
// ==========================================================
//   read the journal ─▶ at a safe point? ─▶ ask the other code what becomes of the state ─▶ one commit
//        ▲   │ no: refused, or planned                 │ refuses: nothing has changed        │ the run went on meanwhile
//        └───┴───────────────────────────────────────────────────────────────────────────────┘
//
// A planned migration stands in the run (`migrating`), so it outlives this process; it is tried whenever the run comes to a
// safe point or waits. One that the other code refuses is given up and told of, or it would be tried for ever.

import { type Environment, type Question, type Reply, type SafePoint, safePointOf, type Store } from "@perdure/engine";
import {
  BadRequestError,
  type Entry,
  failureFrom,
  type MigrationOutcome,
  type MigrationReport,
  type Result,
  type Run,
  type RunId,
  RunNotFoundError,
  type Target,
} from "@perdure/protocol";
import type { StateMigrator } from "./state-migrator.ts";

export interface MigrationRequest {
  /** The hash of a bundle, or how it begins; `latest`: the code that new runs begin on. */
  readonly to: string;
  /** Nothing is changed: what would happen is reported. */
  readonly dryRun?: boolean;
  /** A run that is not at a safe point goes over when it comes to one. */
  readonly whenSafe?: boolean;
}

export interface MigratorOptions {
  readonly store: Pick<Store, "reader" | "artifacts">;
  readonly environment: Pick<Environment, "deployment" | "mode">;
  readonly migrateState: StateMigrator;
  readonly ask: (question: Question) => Promise<Reply>;
  /** A planned migration was given up. */
  readonly onGivenUp: (run: RunId, reason: string) => void;
}

const JOURNAL_PAGE = 1_000;
/** A run that goes on between reading and writing is read again, so often. */
const TRIES = 3;
const HASH_CHARACTERS_MIN = 6;

type Looked =
  | { readonly kind: "ready"; readonly safePoint: SafePoint; readonly state: Result }
  /** Later it may be. */
  | { readonly kind: "not now"; readonly reason: string }
  | { readonly kind: "never"; readonly reason: string; readonly point: string };

export class Migrator {
  readonly #options: MigratorOptions;

  constructor(options: MigratorOptions) {
    this.#options = options;
  }

  /** @throws RunNotFoundError, BadRequestError where `to` names no code */
  async migrate(id: RunId, { to, dryRun = false, whenSafe = false }: MigrationRequest): Promise<MigrationReport> {
    const run = await this.#run(id);
    const deployment = await this.#deployment(run, to);
    if (deployment === run.deployment && deployment !== null) {
      if (run.migrating !== null && !dryRun) await this.#plan(id, null);
      return report(run, { dryRun, outcome: "unchanged", to: deployment, reason: "it has that code already" });
    }
    const looked = await this.#tried(id, deployment, dryRun);
    if (looked.kind === "ready")
      return report(run, { dryRun, outcome: "migrated", to: deployment, point: looked.safePoint.point });
    const { reason, kind } = looked;
    if (kind === "never")
      return report(run, { dryRun, outcome: "refused", to: deployment, reason, point: looked.point });
    const planned = whenSafe && mayPlan(run);
    if (planned && !dryRun) await this.#plan(id, { to: deployment });
    return report(run, { dryRun, outcome: planned ? "planned" : "refused", to: deployment, reason });
  }

  /** A run whose migration is planned has come to a safe point, or waits. Tells of what fails, and never rejects. */
  async mayMigrate(id: RunId): Promise<void> {
    try {
      const { migrating } = await this.#run(id);
      if (migrating === null) return;
      const looked = await this.#tried(id, migrating.to, false);
      if (looked.kind !== "never") return;
      await this.#plan(id, null);
      this.#options.onGivenUp(id, looked.reason);
    } catch (error) {
      this.#options.onGivenUp(id, failureFrom(error).message);
    }
  }

  async #tried(id: RunId, to: string | null, dryRun: boolean): Promise<Looked> {
    let looked: Looked = {
      kind: "not now",
      reason: "it goes on all the time, and is at no safe point for long enough",
    };
    for (let tries = 0; tries < TRIES; tries += 1) {
      const now = await this.#look(await this.#run(id), to);
      if (now.kind !== "ready" || dryRun) return now;
      const { safePoint, state } = now;
      const reply = await this.#options.ask({ type: "migrate", run: id, to, safePoint, state });
      if (reply.type === "done") return now;
      if (reply.type === "refused") looked = { kind: "not now", reason: reply.message };
    }
    return looked;
  }

  async #look(run: Run, to: string | null): Promise<Looked> {
    const safePoint = safePointOf(run, await this.#journal(run));
    if ("refusal" in safePoint) return { kind: "not now", reason: safePoint.refusal };
    const { service, handler, deployment: from } = run;
    const { point, state } = safePoint;
    try {
      const migrated = await this.#options.migrateState(to, { service, handler, state, point, from });
      return { kind: "ready", safePoint, state: migrated };
    } catch (error) {
      return { kind: "never", reason: failureFrom(error).message, point };
    }
  }

  /** What the code of the run can meet. */
  async #journal({ id, migrated }: Run): Promise<readonly Entry[]> {
    const journal: Entry[] = [];
    for (let after = migrated?.entry ?? 0; ; after = journal.at(-1)?.index ?? after) {
      const page = await this.#options.store.reader.journal(id, after, JOURNAL_PAGE);
      journal.push(...page);
      if (page.length < JOURNAL_PAGE) return journal;
    }
  }

  async #deployment({ service, handler, key }: Run, to: string): Promise<string | null> {
    const target: Target = key === null ? { service, handler } : { service, handler, key };
    const { environment, store } = this.#options;
    if (to === "latest") {
      if (environment.mode(target) === null)
        throw new BadRequestError(`there is no latest code of ${service}/${handler}: it is not served any more`);
      return environment.deployment(target);
    }
    const bundles = (await store.artifacts.list()).filter(({ kind, hash }) => kind === "bundle" && hash.startsWith(to));
    const [found] = bundles;
    if (to.length < HASH_CHARACTERS_MIN || found === undefined || bundles.length > 1)
      throw new BadRequestError(
        `"${to}" does not name one bundle: give "latest", or at least ${HASH_CHARACTERS_MIN} characters of a hash that perdure deployments shows`,
      );
    return found.hash;
  }

  async #plan(run: RunId, plan: Run["migrating"]): Promise<void> {
    await this.#options.ask({ type: "planMigration", run, plan });
  }

  async #run(id: RunId): Promise<Run> {
    const run = await this.#options.store.reader.run(id);
    if (run === null) throw new RunNotFoundError(`there is no run ${id}: it never was, or its retention is over`);
    return run;
  }
}

/** One that has not begun begins on the newest code, and one that has ended begins on none. */
function mayPlan({ status, cancelling }: Run): boolean {
  return ["running", "suspended", "retrying", "paused"].includes(status) && cancelling === null;
}

function report(
  { id, deployment }: Run,
  about: {
    readonly dryRun: boolean;
    readonly outcome: MigrationOutcome;
    readonly to: string | null;
    readonly reason?: string;
    readonly point?: string;
  },
): MigrationReport {
  const { point = null, reason = null, ...rest } = about;
  return { runId: id, from: deployment, ...rest, point, reason };
}
