// Deployments, and runs that go over to another.

import type { FastifyInstance } from "fastify";
import {
  type BulkMigrateAnswer,
  type BulkMigrateRequest,
  type DeploymentsAnswer,
  type MigrateRequest,
  MigrationRefusedError,
  type MigrationReport,
  type RunStatus,
} from "@perdure/protocol";
import { matching } from "./bulk.ts";
import type { ServedRuntime } from "./context.ts";
import { runIdOf } from "./run-ids.ts";
import { answers, BULK_MIGRATE_BODY, MIGRATE_BODY, params, ref } from "./schemas.ts";

/** Statuses of runs that have begun and have not ended. */
const MIGRATES: readonly RunStatus[] = ["running", "suspended", "retrying", "paused"];
const LISTED_MAX = 1_000;
const AT_ONCE = 16;

export function migrationRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const tags = ["runs"];
  app.get(
    "/deployments",
    {
      schema: {
        tags: ["server"],
        summary: "The bundles that are stored, newest first, and how many runs have which",
        response: answers(ref("Deployments")),
      },
    },
    async (): Promise<DeploymentsAnswer> => ({ deployments: await runtime.deployments() }),
  );
  app.post<{ Params: { id: string }; Body: MigrateRequest | null | undefined }>(
    "/runs/:id/migrate",
    {
      schema: {
        tags,
        summary: "Let a run go over to other code, from the safe point that it is at",
        params: params("id"),
        body: MIGRATE_BODY,
        response: answers(ref("MigrationReport")),
      },
    },
    async ({ params: { id }, body }): Promise<MigrationReport> => {
      const report = await runtime.migrate(runIdOf(id), { to: "latest", ...body });
      if (report.outcome === "refused" && !report.dryRun) throw new MigrationRefusedError(report.reason ?? "refused");
      return report;
    },
  );
  app.post<{ Body: BulkMigrateRequest }>(
    "/runs/migrate",
    {
      schema: {
        tags,
        summary: "Let every run that a filter matches go over to other code; says what became of each",
        body: BULK_MIGRATE_BODY,
        response: answers(ref("BulkMigrateAnswer")),
      },
    },
    async ({ body }) => migrateAll(runtime, body),
  );
}

async function migrateAll(runtime: ServedRuntime, request: BulkMigrateRequest): Promise<BulkMigrateAnswer> {
  const { filter: _, all: __, ...rest } = request;
  const outcomes = { migrated: 0, planned: 0, unchanged: 0, refused: 0 };
  const runs: MigrationReport[] = [];
  let matched = 0;
  for await (const page of matching(runtime, "migrate", MIGRATES, request)) {
    matched += page.length;
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const some = page.slice(at, at + AT_ONCE);
      const reports = await Promise.all(some.map(({ id }) => runtime.migrate(id, { to: "latest", ...rest })));
      for (const report of reports) {
        outcomes[report.outcome] += 1;
        if (runs.length < LISTED_MAX) runs.push(report);
      }
    }
  }
  return { dryRun: request.dryRun === true, matched, outcomes, runs };
}
