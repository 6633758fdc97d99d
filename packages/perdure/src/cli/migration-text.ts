// What people read of deployments and migrations.

import type { MigrationReport } from "@perdure/protocol";
import { shortId } from "./run-lookup.ts";

/** As long as it takes to tell bundles apart. */
const SHORT_HASH_LENGTH = 12;

export function codeName(deployment: string | null): string {
  return deployment === null ? "the code that is served" : `bundle ${shortHash(deployment)}`;
}

export function shortHash(hash: string): string {
  return hash.slice(0, SHORT_HASH_LENGTH);
}

export function reportText({ runId, dryRun, outcome, point, to, reason }: MigrationReport, short: boolean): string {
  const run = short ? shortId(runId) : runId;
  switch (outcome) {
    case "migrated":
      return `${run}  ${dryRun ? "would go" : "goes"} on with ${codeName(to)}, from the safe point "${point}"`;
    case "planned":
      return `${run}  ${dryRun ? "would go" : "goes"} over to ${codeName(to)} at its next safe point: ${reason}`;
    case "unchanged":
      return `${run}  unchanged: ${reason}`;
    case "refused":
      return `${run}  ${dryRun ? "would be refused" : "refused"}: ${reason}`;
  }
}
