// perdure moments: the entries at which a run has an image, and the names of those that are kept.

import { Command } from "commander";
import { adminCommand, type Cli, type CommonOptions } from "../cli.ts";
import { findEntry } from "../moment-lookup.ts";
import { printAnswer } from "../print-answer.ts";
import { findRun } from "../run-lookup.ts";
import { formatBytes } from "../text.ts";
import { clockTime } from "../time-text.ts";

export function momentsCommand(cli: Cli): Command {
  return new Command("moments")
    .description("list the moments of a run: entries with an image; give one a name")
    .addCommand(listCommand(cli), { isDefault: true })
    .addCommand(nameCommand(cli));
}

function listCommand(cli: Cli): Command {
  return adminCommand("list", "list them (what `perdure moments <run>` does)")
    .argument("<run>", "its id, or the beginning or end of it")
    .action(async (text: string, options: CommonOptions) => {
      const admin = cli.admin(options);
      const answer = await admin.moments(await findRun(admin, text));
      const out = cli.output(options);
      if (out.json) return out.document(answer);
      if (answer.moments.length === 0)
        return out.note("no moments: the run has no image, it is resumed from its journal");
      out.raw(
        out.table(
          [
            { title: "ENTRY", align: "right" },
            { title: "TAKEN" },
            { title: "SIZE", align: "right" },
            { title: "NAME" },
          ],
          answer.moments.map(({ entry, at, size, name }) => [
            String(entry),
            clockTime(Date.parse(at)),
            formatBytes(size),
            name ?? "",
          ]),
        ),
      );
    });
}

function nameCommand(cli: Cli): Command {
  return adminCommand("name", "give a moment a name, so that it is kept as long as its run")
    .argument("<run>", "its id, or the beginning or end of it")
    .argument("<entry>", "the entry of the moment, or the name that it has")
    .argument("[name]", "its name; absent: it has none any more")
    .action(async (text: string, entry: string, name: string | undefined, options: CommonOptions) => {
      const admin = cli.admin(options);
      const run = await findRun(admin, text);
      printAnswer(cli, options, await admin.nameMoment(run, await findEntry(admin, run, entry), name ?? null));
    });
}
