// perdure runs: lists runs, a page at a time, or watches them.

import type { Command } from "commander";
import type { RunFilterBody, RunPage, RunSummary } from "@perdure/protocol";
import type { AdminClient } from "../api/admin-client.ts";
import type { Cli, CommonOptions } from "../cli.ts";
import { adminCommand } from "../cli.ts";
import { UsageError } from "../errors.ts";
import type { Output } from "../output.ts";
import { addFilterOptions, filterOf, parseCount, type FilterOptions } from "../run-filter.ts";
import { runsTable } from "../runs-table.ts";
import { watchRuns } from "../watch-runs.ts";

interface Options extends CommonOptions, FilterOptions {
  readonly limit: number;
  readonly cursor?: number;
  readonly oldest?: boolean;
  readonly all?: boolean;
  readonly builtIn?: boolean;
  readonly watch?: boolean;
  readonly full?: boolean;
}

export function runsCommand(cli: Cli): Command {
  return addFilterOptions(adminCommand("runs", "list runs, newest first"))
    .option("-n, --limit <count>", "how many at most (up to 1000)", parseCount, 20)
    .option("--cursor <number>", "the page after this one: a list ends by saying it", parseCount)
    .option("--oldest", "oldest first")
    .option("--all", "all of them, page after page; JSON lines under --json")
    .option("--built-in", "runs of the runtime's own services, too (approvals, budgets, …)")
    .option("-w, --watch", "go on showing them as they change; a line per change where that is no terminal")
    .option("--full", "whole ids on a terminal, too")
    .action(async (options: Options) => {
      const admin = cli.admin(options);
      const out = cli.output(options);
      const asked = await filterOf(options, admin, cli.io.now());
      // Who names a service or a parent wants what they have.
      const isNamed = options.builtIn === true || options.service !== undefined || options.parent !== undefined;
      const filter = isNamed ? asked : { ...asked, builtIn: false };
      if (options.watch === true) {
        if (options.all === true || options.cursor !== undefined)
          throw new UsageError("--watch shows the newest runs: it does not go with --all or --cursor");
        await watchRuns(admin, out, { filter, limit: options.limit, full: options.full === true });
      } else if (options.all === true) await listAll(admin, out, filter, options);
      else await listPage(cli, admin, out, filter, options);
    });
}

async function listPage(
  cli: Cli,
  admin: AdminClient,
  out: Output,
  filter: RunFilterBody,
  options: Options,
): Promise<void> {
  const page: RunPage = await admin.runs({
    ...filter,
    order: options.oldest === true ? "oldest" : "newest",
    limit: Math.min(options.limit, 1_000),
    ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
  });
  if (out.json) return out.document(page);
  if (page.runs.length === 0) return out.note("no runs");
  out.raw(runsTable(page.runs, out, options.full === true));
  if (page.nextCursor !== null) out.note(`more: the same with --cursor ${page.nextCursor}`);
  if (out.live) out.note(`one of them: ${cli.commandLine(options, "show", "<run>")}`);
}

async function listAll(admin: AdminClient, out: Output, filter: RunFilterBody, options: Options): Promise<void> {
  const order = options.oldest === true ? "oldest" : "newest";
  let page: RunSummary[] = [];
  let first = true;
  const flush = (): void => {
    const table = runsTable(page, out, options.full === true);
    // One header for all pages.
    out.raw(first ? table : table.slice(table.indexOf("\n") + 1));
    first = false;
    page = [];
  };
  for await (const run of admin.allRuns({ ...filter, order })) {
    if (out.json) out.line(run);
    else if (page.push(run) === 500) flush();
  }
  if (page.length > 0) flush();
}
