// Looking at runs: lists, one run with all that belongs to it, its journal.

import type { FastifyInstance } from "fastify";
import type { RunFilter } from "@perdure/engine";
import {
  streamOwner,
  type Entry,
  type JournalPage,
  type Run,
  type RunDetail,
  type RunId,
  type RunPage,
  type RunStreamsAnswer,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { parseFilter } from "./run-filter.ts";
import { runIdOf } from "./run-ids.ts";
import { JOURNAL_QUERY, RUNS_QUERY, RUN_QUERY, answers, params, ref } from "./schemas.ts";
import { entryView, runSummary, runView } from "./views.ts";
import { readJournalEnd, waitsOf } from "./waits.ts";

const CHILDREN_SHOWN = 100;

interface RunsQuery {
  readonly status?: readonly string[];
  readonly order: "newest" | "oldest";
  readonly limit: number;
  readonly cursor?: number;
}

interface Id {
  readonly id: string;
}

export function runRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const { reader } = runtime;
  const tags = ["runs"];
  app.get<{ Querystring: RunsQuery }>(
    "/runs",
    {
      schema: {
        tags,
        summary: "Runs, newest first unless asked otherwise",
        querystring: RUNS_QUERY,
        response: answers(ref("RunPage")),
      },
    },
    async ({ query }) => {
      const filter = {
        ...parseFilter(query),
        order: query.order,
        limit: query.limit,
        ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
      };
      return runPage(await reader.runs(filter), filter);
    },
  );
  app.get<{ Params: Id; Querystring: { journalLimit: number; maxPayload: number } }>(
    "/runs/:id",
    {
      schema: {
        tags,
        summary: "One run: what it is, what it waits for, its journal's first page, its children",
        params: params("id"),
        querystring: RUN_QUERY,
        response: answers(ref("RunDetail")),
      },
    },
    async ({ params: { id }, query }) => runDetail(runtime, runIdOf(id), query.journalLimit, query.maxPayload),
  );
  app.get<{ Params: Id }>(
    "/runs/:id/streams",
    {
      schema: {
        tags,
        summary: "The streams of a run's key, or of the run itself where it has none",
        params: params("id"),
        response: answers(ref("RunStreams")),
      },
    },
    async ({ params: { id } }): Promise<RunStreamsAnswer> => {
      const owner = streamOwner(await runtime.run(runIdOf(id)));
      return { owner, streams: await reader.streams(owner) };
    },
  );
  app.get<{ Params: Id; Querystring: { after: number; limit: number; maxPayload: number } }>(
    "/runs/:id/journal",
    {
      schema: {
        tags,
        summary: "A page of a run's journal",
        params: params("id"),
        querystring: JOURNAL_QUERY,
        response: answers(ref("JournalPage")),
      },
    },
    async ({ params: { id }, query: { after, limit, maxPayload } }) => {
      const run = await runtime.run(runIdOf(id));
      return journalPage(run.id, await reader.journal(run.id, after, limit), limit, maxPayload);
    },
  );
}

async function runDetail(
  runtime: ServedRuntime,
  id: RunId,
  journalLimit: number,
  maxPayload: number,
): Promise<RunDetail> {
  const { reader } = runtime;
  const run = await runtime.run(id);
  const live = runtime.live(id);
  const childFilter = { parent: id, order: "oldest", limit: CHILDREN_SHOWN } as const;
  const [end, first, children] = await Promise.all([
    readJournalEnd(reader, id),
    reader.journal(id, 0, journalLimit),
    reader.runs(childFilter),
  ]);
  return {
    run: runView(run, maxPayload),
    live: live.live,
    waits: await waitsOf(reader, run, live, end),
    entries: end.length,
    journal: journalPage(id, first, journalLimit, maxPayload),
    children: runPage(children, childFilter),
  };
}

function runPage(runs: readonly Run[], { limit }: Pick<RunFilter, "limit">): RunPage {
  const last = runs.length < limit ? undefined : runs.at(-1);
  return { runs: runs.map(runSummary), nextCursor: last?.seq ?? null };
}

function journalPage(run: RunId, entries: readonly Entry[], limit: number, maxPayload: number): JournalPage {
  const last = entries.length < limit ? undefined : entries.at(-1);
  return { entries: entries.map((entry) => entryView(run, entry, maxPayload)), nextAfter: last?.index ?? null };
}
