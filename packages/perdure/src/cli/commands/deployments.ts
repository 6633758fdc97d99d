// perdure deployments: the bundles that are stored, and how many runs have which.

import type { Command } from "commander";
import { type DeploymentView, isFinished, type RunStatus } from "@perdure/protocol";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { shortHash } from "../migration-text.ts";
import type { Column } from "../table.ts";
import { formatBytes } from "../text.ts";
import { ago } from "../time-text.ts";

const COLUMNS: readonly Column[] = [
  { title: "BUNDLE" },
  { title: "ENTRY" },
  { title: "CREATED" },
  { title: "NEW RUNS OF", shrinksTo: 10 },
  { title: "UNFINISHED", align: "right" },
  { title: "RUNS", shrinksTo: 12 },
  { title: "BASE", align: "right" },
];

export function deploymentsCommand(cli: Cli): Command {
  return adminCommand("deployments", "list the bundles that are stored, and how many runs have which").action(
    async (options: CommonOptions) => {
      const { deployments } = await cli.admin(options).deployments();
      const out = cli.output(options);
      if (out.json) return out.document({ deployments });
      if (deployments.length === 0) return out.note('no bundles: nothing is served with memory: "snapshot"');
      out.raw(
        out.table(
          COLUMNS,
          deployments.map((deployment) => row(deployment, out.now)),
        ),
      );
    },
  );
}

function row({ hash, entry, createdAt, services, runs, bases }: DeploymentView, now: number): readonly string[] {
  const counts = Object.entries(runs) as readonly (readonly [RunStatus, number])[];
  const unfinished = counts.reduce((sum, [status, count]) => sum + (isFinished(status) ? 0 : count), 0);
  return [
    shortHash(hash),
    entry,
    createdAt === null ? "" : ago(Date.parse(createdAt), now),
    services.join(", "),
    String(unfinished),
    counts.map(([status, count]) => `${count} ${status}`).join(", "),
    bases.map(({ bytes }) => formatBytes(bytes)).join(", "),
  ];
}
