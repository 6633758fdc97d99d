// The options that choose runs, and what they mean to the API.

import { InvalidArgumentError, Option, type Command } from "commander";
import { RUN_STATUSES, type RunFilterBody, type RunStatus } from "@perdure/protocol";
import type { AdminClient } from "./api/admin-client.ts";
import { findRun } from "./run-lookup.ts";
import { parseSince } from "./time-text.ts";

export interface FilterOptions {
  readonly status?: readonly RunStatus[];
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly since?: string;
  readonly until?: string;
  readonly parent?: string;
}

export function addFilterOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "-s, --status <status>",
        `only runs in these statuses, separated by commas (${RUN_STATUSES.join(", ")})`,
      ).argParser(parseStatuses),
    )
    .option("--service <name>", "only runs of this service")
    .option("--handler <name>", "only runs of this handler")
    .option("--key <key>", "only runs of this key")
    .addOption(
      new Option("--since <time>", "only runs created since then: an age (15m, 2h, 7d) or a date").argParser(checkTime),
    )
    .addOption(new Option("--until <time>", "only runs created before then").argParser(checkTime))
    .option("--parent <run>", "only runs that this one called");
}

export async function filterOf(options: FilterOptions, admin: AdminClient, now: number): Promise<RunFilterBody> {
  const { status, service, handler, key, since, until, parent } = options;
  return {
    ...(status === undefined ? {} : { status }),
    ...(service === undefined ? {} : { service }),
    ...(handler === undefined ? {} : { handler }),
    ...(key === undefined ? {} : { key }),
    ...(since === undefined ? {} : { createdAfter: new Date(parseSince(since, now)).toISOString() }),
    ...(until === undefined ? {} : { createdBefore: new Date(parseSince(until, now)).toISOString() }),
    ...(parent === undefined ? {} : { parent: await findRun(admin, parent) }),
  };
}

function parseStatuses(text: string, before: readonly RunStatus[] | undefined): readonly RunStatus[] {
  const statuses = text.split(",").map((one) => {
    const status = RUN_STATUSES.find((known) => known === one.trim());
    if (status === undefined) throw new InvalidArgumentError(`There are ${RUN_STATUSES.join(", ")}.`);
    return status;
  });
  return [...(before ?? []), ...statuses];
}

/** Checked now, read later: ages count from when the command runs. */
function checkTime(text: string): string {
  parseSince(text, 0);
  return text;
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1) throw new InvalidArgumentError("Write a whole number from 1.");
  return count;
}
