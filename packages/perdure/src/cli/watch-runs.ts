// perdure runs --watch: a table that follows the event stream, on a terminal; a line per change elsewhere.
//
// Events say that something changed, not what the list now is: after some, the list is read again, at most four times a
// second. Every second it is painted again, for the ages.

import { BUILT_IN_PREFIX } from "@perdure/protocol";
import type { RunFilterBody, RunSummary } from "@perdure/protocol";
import type { AdminClient } from "./api/admin-client.ts";
import { InterruptedError } from "./errors.ts";
import type { Output } from "./output.ts";
import { runsTable } from "./runs-table.ts";
import { targetText } from "./target.ts";
import { plural, printable } from "./text.ts";
import { timeOfDay } from "./time-text.ts";
import { briefReason } from "./timeline.ts";

interface WatchOptions {
  readonly filter: RunFilterBody;
  readonly limit: number;
  readonly full: boolean;
}

const READ_EVERY_MS = 250;
const PAINT_EVERY_MS = 1_000;
const CLEAR = "\u001b[H\u001b[J";
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";

export async function watchRuns(admin: AdminClient, out: Output, options: WatchOptions): Promise<void> {
  if (out.live) await watchTable(admin, out, options);
  else await watchLines(admin, out, options.filter);
}

async function watchLines(admin: AdminClient, out: Output, filter: RunFilterBody): Promise<void> {
  const query = filter.service === undefined ? {} : { query: { service: filter.service } };
  for await (const event of admin.events(query)) {
    if (event.type !== "run" || !matches(event.run, filter)) continue;
    if (out.json) out.line(event);
    else out.text(runLine(event.run, event.at, out));
  }
}

function runLine(run: RunSummary, at: string, out: Output): string {
  const why = briefReason(run, out.now, 200);
  return `${timeOfDay(Date.parse(at))}  ${run.id}  ${printable(targetText(run))}  ${run.status}${why === "" ? "" : `  ${why}`}`;
}

/** As the API filters lists. */
function matches(run: RunSummary, filter: RunFilterBody): boolean {
  const { status, service, handler, key, parent, createdAfter, createdBefore, builtIn } = filter;
  if (status !== undefined && !status.includes(run.status)) return false;
  if (service !== undefined && run.service !== service) return false;
  if (handler !== undefined && run.handler !== handler) return false;
  if (key !== undefined && run.key !== key) return false;
  if (parent !== undefined && run.parent?.runId !== parent) return false;
  if (builtIn === false && run.service.startsWith(BUILT_IN_PREFIX)) return false;
  if (createdAfter !== undefined && run.createdAt <= createdAfter) return false;
  return createdBefore === undefined || run.createdAt < createdBefore;
}

async function watchTable(admin: AdminClient, out: Output, options: WatchOptions): Promise<void> {
  let runs: readonly RunSummary[] = [];
  let note = "connecting";
  const paint = (): void => {
    const title = out.paint("dim", `${plural(runs.length, "run")}, ${note}; Ctrl-C ends`);
    out.raw(
      `${CLEAR}${title}\n\n${runs.length === 0 ? out.paint("dim", "no runs") : runsTable(runs, out, options.full)}`,
    );
  };
  const read = async (): Promise<void> => {
    runs = (await admin.runs({ ...options.filter, limit: Math.min(options.limit, 1_000) })).runs;
  };
  await read(); // Whatever is wrong shows before the screen is taken.
  let dirty = false;
  const reading = setInterval(() => {
    if (!dirty) return;
    dirty = false;
    read().then(paint, () => {
      dirty = true; // The runtime is away: the event stream says so, and reads again when it is back.
    });
  }, READ_EVERY_MS);
  const painting = setInterval(paint, PAINT_EVERY_MS);
  out.raw(ENTER);
  paint();
  try {
    const stream = admin.events({
      ...(options.filter.service === undefined ? {} : { query: { service: options.filter.service } }),
      onOpen: () => {
        note = "live";
        dirty = true;
      },
      onLost: () => {
        note = "the runtime is away, trying again";
      },
    });
    for await (const event of stream) if (event.type !== "entry" && event.type !== "state") dirty = true;
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
  } finally {
    clearInterval(reading);
    clearInterval(painting);
    out.raw(LEAVE);
    if (runs.length > 0) out.raw(runsTable(runs, out, options.full));
  }
  throw new InterruptedError();
}
