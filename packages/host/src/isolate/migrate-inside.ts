// Asks the code of a bundle what becomes of the state of a run that is to go over to it. In an instance of its own, which is
// thrown away: what the hook does to the heap is nobody's.

import { errorFromFailure, type Instant, MigrationRefusedError, type Result } from "@perdure/protocol";
import type { StateMigration } from "@perdure/sdk";
import type { BaseImage } from "./image-codec.ts";
import { Instance, type InstanceLimits } from "./instance.ts";
import type { MachinePool } from "./machine-pool.ts";

/** @throws MigrationRefusedError, IsolateLimitError, or what the hook threw */
export function migrateInside(
  pool: MachinePool,
  base: BaseImage,
  limits: InstanceLimits,
  migration: StateMigration,
  now: Instant,
): Result {
  const instance = Instance.start(pool, base, limits);
  try {
    const { messages } = instance.turn({ type: "migrate", migration, now });
    for (const message of messages) {
      if (message.type === "migrated") return message.state;
      if (message.type === "notMigrated") throw errorFromFailure(message.failure);
    }
  } finally {
    instance.dispose();
  }
  const { service, handler } = migration;
  throw new MigrationRefusedError(
    `migrate of ${service}/${handler} waits for something outside: it only turns one state into another`,
  );
}
