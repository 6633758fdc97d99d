// perdure schedules: what starts when, and what became of it.

import { Command } from "commander";
import { adminCommand, ingressCommand, type Cli, type CommonOptions } from "../cli.ts";

export function schedulesCommand(cli: Cli): Command {
  return new Command("schedules")
    .description("list schedules; show, pause, resume, trigger or remove one")
    .addCommand(listCommand(cli), { isDefault: true })
    .addCommand(
      named("show", "what it starts, its next times, what became of the last ones", async (name, options) =>
        (await actions()).showSchedule(cli, options, name),
      ),
    )
    .addCommand(
      named("pause", "hold it until it is resumed", async (name, options) =>
        (await actions()).holdSchedule(cli, options, name, "pause"),
      ),
    )
    .addCommand(
      named("resume", "let it go on; what it missed is made up for as its catchUp says", async (name, options) =>
        (await actions()).holdSchedule(cli, options, name, "resume"),
      ),
    )
    .addCommand(
      named("trigger", "start it now, also while it is paused", async (name, options) =>
        (await actions()).triggerSchedule(cli, options, name),
      ),
    )
    .addCommand(
      named("remove", "end it; what it started goes on, what waits is withdrawn", async (name, options) =>
        (await actions()).removeSchedule(cli, options, name),
      ),
    );
}

/** Loaded only here: the other commands do without. */
const actions = (): Promise<typeof import("../schedule-actions.ts")> => import("../schedule-actions.ts");

function listCommand(cli: Cli): Command {
  return adminCommand("list", "list them (what `perdure schedules` does alone)").action(
    async (options: CommonOptions) => (await actions()).listSchedules(cli, options),
  );
}

function named(
  name: string,
  description: string,
  act: (schedule: string, options: CommonOptions) => Promise<void>,
): Command {
  return ingressCommand(name, description).argument("<name>", "the schedule").action(act);
}
