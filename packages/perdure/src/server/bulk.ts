// One action on every run that a filter matches.
//
// Runs that appear while it works are left alone: it looks only at those up to the newest one of its start. Each run is
// acted on for itself, so one that has meanwhile ended is a line in `failed`, not the end of the whole.

import type { RunFilter } from "@perdure/engine";
import {
  BadRequestError,
  failureFrom,
  type BulkAction,
  type BulkAnswer,
  type BulkRequest,
  type Run,
  type RunId,
  type RunStatus,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { parseFilter } from "./run-filter.ts";

/** Statuses in which an action means something. */
const APPLIES: Readonly<Record<BulkAction, readonly RunStatus[]>> = {
  cancel: ["scheduled", "queued", "running", "suspended", "retrying", "paused"],
  kill: ["scheduled", "queued", "running", "suspended", "retrying", "paused"],
  pause: ["running", "suspended", "retrying"],
  resume: ["paused", "retrying"],
};
const PAGE = 500;
const LISTED_MAX = 1_000;

/** @throws BadRequestError where the filter is empty and nobody said that this is meant. */
export async function bulk(runtime: ServedRuntime, action: BulkAction, request: BulkRequest): Promise<BulkAnswer> {
  const dryRun = request.dryRun === true;
  const tally = {
    matched: 0,
    done: 0,
    failed: [] as { runId: RunId; code: string; message: string }[],
    runs: [] as RunId[],
  };
  for await (const page of matching(runtime, action, APPLIES[action], request)) {
    tally.matched += page.length;
    for (const { id } of page) if (tally.runs.length < LISTED_MAX) tally.runs.push(id);
    if (dryRun) continue;
    const outcomes = await Promise.allSettled(page.map(({ id }) => runtime[action](id)));
    outcomes.forEach((outcome, at) => {
      if (outcome.status === "fulfilled") tally.done += 1;
      else if (tally.failed.length < LISTED_MAX) tally.failed.push(failed(page[at], outcome.reason));
    });
  }
  return { dryRun, ...tally };
}

/** Page by page. @throws BadRequestError where the filter is empty and nobody said that this is meant. */
export async function* matching(
  runtime: ServedRuntime,
  verb: string,
  applies: readonly RunStatus[],
  request: Pick<BulkRequest, "filter" | "all" | "dryRun">,
): AsyncGenerator<readonly Run[]> {
  const filter = parseFilter(request.filter);
  if (Object.keys(filter).length === 0 && request.all !== true && request.dryRun !== true)
    throw new BadRequestError(`an empty filter means every run: to ${verb} them all, say "all": true`);
  const status = applies.filter((one) => filter.status?.includes(one) ?? true);
  const [newest] = await runtime.reader.runs({ limit: 1 });
  if (newest !== undefined && status.length > 0) yield* pages(runtime, { ...filter, status }, newest.seq);
}

async function* pages(
  runtime: ServedRuntime,
  filter: Omit<RunFilter, "limit">,
  lastSeq: number,
): AsyncGenerator<readonly Run[]> {
  let cursor = 0;
  for (;;) {
    const page = await runtime.reader.runs({ ...filter, order: "oldest", cursor, limit: PAGE });
    const known = page.filter(({ seq }) => seq <= lastSeq);
    if (known.length > 0) yield known;
    if (page.length < PAGE || known.length < page.length) return;
    cursor = page.at(-1)?.seq ?? cursor;
  }
}

function failed(run: Run | undefined, reason: unknown): BulkAnswer["failed"][number] {
  const { errorCode, message } = failureFrom(reason);
  return { runId: run?.id as RunId, code: errorCode ?? "P0000", message };
}
