// What the code of a deployment makes of a state: that of a bundle inside an isolate, that of this process here.

import { MigrationRefusedError, type Result } from "@perdure/protocol";
import { migrateState, type Registry, type StateMigration } from "@perdure/sdk";
import { isBundleHash } from "./executors/routed.ts";
import type { IsolateExecutor } from "./isolate/executor.ts";

/** @throws where the code refuses */
export type StateMigrator = (deployment: string | null, migration: StateMigration) => Promise<Result>;

/** Isolates have the same limit: a hook turns one state into another, it waits for nothing. */
const HOOK_MS_MAX = 5_000;

export function createStateMigrator(
  registry: Registry,
  isolates: Pick<IsolateExecutor, "migrateState">,
): StateMigrator {
  return (deployment, migration) =>
    isBundleHash(deployment) ? isolates.migrateState(deployment, migration) : here(registry, migration);
}

async function here(registry: Registry, migration: StateMigration): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const { service, handler } = migration;
    const error = new MigrationRefusedError(
      `migrate of ${service}/${handler} has not ended after ${HOOK_MS_MAX} ms: it only turns one state into another`,
    );
    timer = setTimeout(() => reject(error), HOOK_MS_MAX);
  });
  try {
    return await Promise.race([migrateState(registry, migration), late]);
  } finally {
    clearTimeout(timer);
  }
}
