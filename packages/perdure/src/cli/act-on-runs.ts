// One action on many runs: those that are named, or those that a filter finds. What a filter finds is counted first, and
// done only when somebody said yes.

import type { BulkAction, RunFilterBody, RunId, RunStatus } from "@perdure/protocol";
import type { AdminClient, RunAction } from "./api/admin-client.ts";
import type { Cli, CommonOptions } from "./cli.ts";
import { confirm } from "./confirm.ts";
import { explain, InterruptedError, UsageError } from "./errors.ts";
import { errorDocument, reportError } from "./error-report.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { filterOf, type FilterOptions } from "./run-filter.ts";
import { findRun } from "./run-lookup.ts";
import { paintStatus } from "./style.ts";
import { plural } from "./text.ts";

export interface ActOptions extends CommonOptions, FilterOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function actOnRuns(
  cli: Cli,
  action: RunAction,
  runs: readonly string[],
  options: ActOptions,
): Promise<void> {
  const admin = cli.admin(options);
  const filter = await filterOf(options, admin, cli.io.now());
  const isFiltered = Object.keys(filter).length > 0;
  if (runs.length > 0) {
    if (isFiltered || options.all === true) throw new UsageError("name runs, or choose them by a filter: not both");
    if (options.dryRun === true)
      throw new UsageError("--dry-run lists what a filter finds: it does not go with named runs");
    cli.exitCode = await actOnNamed(cli, admin, action, runs, options);
    return;
  }
  if (!isFiltered && options.all !== true) {
    throw new UsageError(
      `which runs? Name them, or choose them: --status, --service, --handler, --key, --since, --until, --parent, or --all`,
      cli.commandLine({}, action, "--help"),
    );
  }
  await actOnFiltered(cli, admin, action, filter, options);
}

async function actOnNamed(
  cli: Cli,
  admin: AdminClient,
  action: RunAction,
  runs: readonly string[],
  options: ActOptions,
): Promise<ExitCode> {
  const out = cli.output(options);
  const done: { readonly runId: RunId; readonly status: RunStatus | null }[] = [];
  const failed: object[] = [];
  let exit: ExitCode = EXIT.ok;
  for (const run of runs) {
    try {
      const answer = await admin.act(await findRun(admin, run), action);
      done.push(answer);
      if (!out.json)
        out.text(`${answer.runId}  ${answer.status === null ? "deleted" : paintStatus(out.paint, answer.status)}`);
    } catch (error) {
      const explained = explain(error);
      if (explained.exit === EXIT.unreachable || error instanceof InterruptedError) throw error;
      if (exit === EXIT.ok) exit = explained.exit;
      if (out.json) failed.push({ run, error: errorDocument(explained) });
      else reportError(error, cli.io, false);
    }
  }
  if (out.json) out.document({ done, failed });
  return exit;
}

async function actOnFiltered(
  cli: Cli,
  admin: AdminClient,
  action: RunAction,
  filter: RunFilterBody,
  options: ActOptions,
): Promise<void> {
  const out = cli.output(options);
  const { matched, runs } = await findMatched(admin, action, filter);
  if (options.dryRun === true) return listMatched(cli, action, matched, runs, options);
  if (matched > 0 && options.yes !== true) await confirm(cli, `${action} ${plural(matched, "run")}`, options);
  const answer = action === "purge" ? await purgeAll(admin, runs) : await doBulk(admin, action, filter, matched);
  if (out.json) out.document(answer);
  else {
    out.text(`${action}: ${plural(answer.done, "run")}`);
    for (const { runId, code, message } of answer.failed) cli.io.stderr.write(`${runId}  ${code} ${message}\n`);
  }
  if (answer.failed.length > 0) cli.exitCode = EXIT.refused;
}

/** There is no route that purges by a filter. */
async function findMatched(
  admin: AdminClient,
  action: RunAction,
  filter: RunFilterBody,
): Promise<{ readonly matched: number; readonly runs: readonly RunId[] }> {
  if (action !== "purge") return admin.bulk(action, { filter, dryRun: true, all: true });
  const runs = await findFinished(admin, filter);
  return { matched: runs.length, runs };
}

function listMatched(cli: Cli, action: RunAction, matched: number, runs: readonly RunId[], options: ActOptions): void {
  const out = cli.output(options);
  if (out.json) return out.document({ dryRun: true, matched, runs });
  for (const run of runs) out.text(run);
  const shown = runs.length < matched ? `; the first ${runs.length} are listed` : "";
  cli.hint(options, `this would ${action} ${plural(matched, "run")}${shown}`);
}

interface Answer {
  readonly matched: number;
  readonly done: number;
  readonly failed: readonly { readonly runId: RunId; readonly code: string; readonly message: string }[];
}

async function doBulk(admin: AdminClient, action: BulkAction, filter: RunFilterBody, matched: number): Promise<Answer> {
  if (matched === 0) return { matched, done: 0, failed: [] };
  const { dryRun: _, runs: __, ...answer } = await admin.bulk(action, { filter, all: true });
  return answer;
}

const FINISHED = ["succeeded", "failed", "cancelled", "killed"] as const;
const PURGES_AT_ONCE = 20;

/** The API deletes runs one by one: what is found now is deleted, what ends meanwhile is not. */
async function findFinished(admin: AdminClient, filter: RunFilterBody): Promise<readonly RunId[]> {
  const status = FINISHED.filter((one) => filter.status?.includes(one) ?? true);
  const found: RunId[] = [];
  if (status.length > 0) for await (const run of admin.allRuns({ ...filter, status })) found.push(run.id);
  return found;
}

async function purgeAll(admin: AdminClient, runs: readonly RunId[]): Promise<Answer> {
  const failed: { readonly runId: RunId; readonly code: string; readonly message: string }[] = [];
  for (let at = 0; at < runs.length; at += PURGES_AT_ONCE) {
    await Promise.all(
      runs.slice(at, at + PURGES_AT_ONCE).map(async (runId) => {
        try {
          await admin.act(runId, "purge");
        } catch (error) {
          const { exit, code = "", message } = explain(error);
          if (exit === EXIT.unreachable || error instanceof InterruptedError) throw error;
          failed.push({ runId, code, message });
        }
      }),
    );
  }
  return { matched: runs.length, done: runs.length - failed.length, failed };
}
