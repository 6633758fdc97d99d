// perdure tail: follows everything that changes, or one run until it ends.

import type { Command } from "commander";
import {
  isFinished,
  type ApiEvent,
  type RunId,
  type RunStatus,
  type RunSummary,
  type RunView,
} from "@perdure/protocol";
import type { AdminClient } from "../api/admin-client.ts";
import type { Cli, CommonOptions } from "../cli.ts";
import { adminCommand } from "../cli.ts";
import { entryText } from "../describe-entry.ts";
import { EXIT } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { findRun, shortId } from "../run-lookup.ts";
import { paintStatus } from "../style.ts";
import { targetText } from "../target.ts";
import { printable } from "../text.ts";
import { timeOfDay } from "../time-text.ts";
import { briefReason } from "../timeline.ts";

interface Options extends CommonOptions {
  readonly service?: string;
}

const VALUE_WIDTH = 120;

export function tailCommand(cli: Cli): Command {
  return adminCommand("tail", "follow what happens, as it happens; of one run, until it has ended")
    .argument("[run]", "its id, or the beginning or end of it")
    .option("--service <name>", "only what concerns this service")
    .action(async (run: string | undefined, options: Options) => {
      const admin = cli.admin(options);
      const id = run === undefined ? undefined : await findRun(admin, run);
      const succeeded = await follow(admin, cli.output(options), id, options.service);
      cli.exitCode = succeeded ? EXIT.ok : EXIT.failed;
    });
}

/** Of one run: whether it succeeded. Of everything: goes on until it is interrupted. */
async function follow(
  admin: AdminClient,
  out: Output,
  id: RunId | undefined,
  service: string | undefined,
): Promise<boolean> {
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const query = { ...(id === undefined ? {} : { run: id }), ...(service === undefined ? {} : { service }) };
  const onLost = (): void => out.note("the connection broke; trying again");
  const events = admin.events({ query, signal: stop.signal, onOpen: opened.resolve, onLost });
  let next = events.next();
  try {
    if (id !== undefined) {
      // The stream first, then how it stands: what happens in between is in the stream.
      await Promise.race([opened.promise, next]);
      const status = await printStanding(admin, out, id);
      if (isFinished(status)) return status === "succeeded";
    }
    for (;;) {
      const { value: event, done } = await next;
      if (done === true) return true;
      next = events.next();
      print(event, out);
      if (event.type === "run" && event.run.id === id && isFinished(event.run.status))
        return event.run.status === "succeeded";
      if (event.type === "deleted" && event.runId === id) return false;
      if (event.type === "reset" && id !== undefined) {
        // Its end may be among what was missed.
        const status = await printStanding(admin, out, id);
        if (isFinished(status)) return status === "succeeded";
      }
    }
  } finally {
    stop.abort();
    await next.catch(() => undefined); // It ends by being interrupted.
  }
}

/** How the run stands now, as if that had just happened. */
async function printStanding(admin: AdminClient, out: Output, id: RunId): Promise<RunStatus> {
  const run = summaryOf((await admin.run(id, { journalLimit: 1, maxPayload: 0 })).run);
  print({ type: "run", at: run.changedAt, created: false, run }, out);
  return run.status;
}

function summaryOf(run: RunView): RunSummary {
  const { input: _, headers: __, result: ___, ...summary } = run;
  return summary;
}

function print(event: ApiEvent, out: Output): void {
  if (out.json) out.line(event);
  else {
    const at = "at" in event ? timeOfDay(Date.parse(event.at)) : " ".repeat(12);
    out.text(`${out.paint("dim", at)}  ${eventText(event, out)}`);
  }
}

function eventText(event: ApiEvent, out: Output): string {
  const { paint } = out;
  const run = (id: string): string => paint("bold", out.live ? shortId(id) : id);
  switch (event.type) {
    case "run": {
      const why = briefReason(event.run, out.now, VALUE_WIDTH);
      const status = paintStatus(paint, event.run.status);
      return `${run(event.run.id)}  ${printable(targetText(event.run))}  ${event.created ? "created, " : ""}${status}${why === "" ? "" : `  ${paint("dim", why)}`}`;
    }
    case "entry":
      return `${run(event.runId)}  ${event.entry.index}  ${event.entry.kind === "command" ? `#${event.entry.id} ` : ""}${entryText(event.entry, { paint, width: VALUE_WIDTH })}`;
    case "promoted":
      return `${run(event.runId)}  has its key's turn`;
    case "deleted":
      return `${run(event.runId)}  is deleted`;
    case "truncated":
      return `${run(event.runId)}  goes on from entry ${event.from}`;
    case "moment":
      return `${run(event.runId)}  ${event.entry}  ${event.name === null ? "image" : `moment ${printable(JSON.stringify(event.name))}`}`;
    case "state":
      return `${printable(`${event.service}/${event.key}`)}  state ${event.name === null ? "cleared" : `${printable(JSON.stringify(event.name))} changed`}`;
    case "promise":
      return `${printable(`${event.service}/${event.key}`)}  promise ${printable(JSON.stringify(event.name))} settled`;
    case "reset":
      return paint("yellow", "events were missed: what happened meanwhile is not shown");
    case "overflow":
      return paint("yellow", printable(event.message));
  }
}
