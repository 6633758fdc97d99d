// perdure migrate: lets runs go over to other code, at their safe points.

import type { Command } from "commander";
import type { BulkMigrateAnswer, MigrateRequest, MigrationReport, RunFilterBody } from "@perdure/protocol";
import type { ActOptions } from "../act-on-runs.ts";
import { confirm } from "../confirm.ts";
import type { AdminClient } from "../api/admin-client.ts";
import { adminCommand, type Cli } from "../cli.ts";
import { UsageError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { reportText } from "../migration-text.ts";
import { addFilterOptions, filterOf } from "../run-filter.ts";
import { findRun } from "../run-lookup.ts";
import { plural } from "../text.ts";

interface Options extends ActOptions {
  readonly to: string;
  readonly whenSafe?: boolean;
}

export function migrateCommand(cli: Cli): Command {
  const command = adminCommand("migrate", "let runs go over to other code, from the safe points that they are at")
    .argument("[run...]", "ids, or the beginnings or ends of them")
    .option("--to <bundle>", "latest, or the beginning of a hash that `perdure deployments` shows", "latest")
    .option("--when-safe", "those at no safe point go over when they come to one")
    .option("--all", "all that have begun and not ended")
    .option("--dry-run", "say what would happen to each, and change nothing")
    .option("--yes", "do not ask");
  return addFilterOptions(command).action((runs: readonly string[], options: Options) => migrate(cli, runs, options));
}

async function migrate(cli: Cli, runs: readonly string[], options: Options): Promise<void> {
  const admin = cli.admin(options);
  const filter = await filterOf(options, admin, cli.io.now());
  const isFiltered = Object.keys(filter).length > 0;
  const request: MigrateRequest = {
    to: options.to,
    dryRun: options.dryRun === true,
    whenSafe: options.whenSafe === true,
  };
  if (runs.length > 0) {
    if (isFiltered || options.all === true) throw new UsageError("name runs, or choose them by a filter: not both");
    return migrateNamed(cli, admin, runs, request, options);
  }
  if (!isFiltered && options.all !== true)
    throw new UsageError(
      "which runs? Name them, or choose them: --status, --service, --handler, --key, --since, --until, --parent, or --all",
      cli.commandLine({}, "migrate", "--help"),
    );
  await migrateFiltered(cli, admin, filter, request, options);
}

async function migrateNamed(
  cli: Cli,
  admin: AdminClient,
  runs: readonly string[],
  request: MigrateRequest,
  options: Options,
): Promise<void> {
  const out = cli.output(options);
  const reports: MigrationReport[] = [];
  for (const run of runs) {
    const report = await admin.migrate(await findRun(admin, run), request);
    reports.push(report);
    if (!out.json) out.text(reportText(report, out.live));
  }
  if (out.json) out.document({ runs: reports });
  if (reports.some(({ outcome }) => outcome === "refused")) cli.exitCode = EXIT.refused;
}

async function migrateFiltered(
  cli: Cli,
  admin: AdminClient,
  filter: RunFilterBody,
  request: MigrateRequest,
  options: Options,
): Promise<void> {
  const out = cli.output(options);
  const tried = await admin.bulkMigrate({ ...request, filter, all: true, dryRun: true });
  const { migrated, planned } = tried.outcomes;
  const changes = migrated + planned > 0 && request.dryRun !== true;
  if (changes && options.yes !== true) await confirm(cli, `migrate ${plural(migrated + planned, "run")}`, options);
  const answer = changes ? await admin.bulkMigrate({ ...request, filter, all: true }) : tried;
  if (out.json) out.document(answer);
  else {
    for (const report of answer.runs) out.text(reportText(report, out.live));
    cli.hint(options, summary(answer));
  }
  if (answer.outcomes.refused > 0) cli.exitCode = EXIT.refused;
}

function summary({ matched, outcomes, dryRun }: BulkMigrateAnswer): string {
  const parts = Object.entries(outcomes).flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome}`] : []));
  return `${dryRun ? "this would be " : ""}${plural(matched, "run")}: ${parts.join(", ") || "nothing to do"}`;
}
