// Moments of runs: those that have an image, forks, rewinds.

import type { FastifyInstance } from "fastify";
import {
  type ActionAnswer,
  type ForkBody,
  type ImageInspectionAnswer,
  type MomentsAnswer,
  type Payload,
  type RewindAnswer,
  type RunId,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { runIdOf } from "./run-ids.ts";
import { answers, RUN_FORK_BODY, MOMENT_BODY, params, ref, RUN_REWIND_BODY } from "./schemas.ts";
import { instantText, momentView } from "./views.ts";
import { readJournalEnd, waitsOf } from "./waits.ts";

interface Id {
  readonly id: string;
}

export function momentRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const tags = ["runs"];
  app.post<{ Params: Id; Body: ForkBody | null | undefined }>(
    "/runs/:id/fork",
    {
      schema: {
        tags,
        summary: "Start a run that shares the first entries of this one and goes on from there on its own",
        params: params("id"),
        body: RUN_FORK_BODY,
        response: answers(ref("ActionAnswer")),
      },
    },
    async ({ params: { id }, body }): Promise<ActionAnswer> => {
      const { run, status } = await runtime.fork(runIdOf(id), requestOf(body ?? {}));
      return { runId: run, status };
    },
  );
  app.post<{ Params: Id; Body: { at: number } }>(
    "/runs/:id/rewind",
    {
      schema: {
        tags,
        summary: "Put a run back to where it was after an entry; what it is now is kept as a branch",
        params: params("id"),
        body: RUN_REWIND_BODY,
        response: answers(ref("RewindAnswer")),
      },
    },
    async ({ params: { id }, body }): Promise<RewindAnswer> => {
      const run = runIdOf(id);
      return { runId: run, ...(await runtime.rewind(run, body.at)) };
    },
  );
  app.get<{ Params: Id }>(
    "/runs/:id/moments",
    {
      schema: {
        tags,
        summary: "The entries at which a run has an image",
        params: params("id"),
        response: answers(ref("MomentsAnswer")),
      },
    },
    async ({ params: { id } }): Promise<MomentsAnswer> => ({
      moments: (await runtime.moments(runIdOf(id))).map(momentView),
    }),
  );
  inspectRoute(app, runtime);
  app.patch<{ Params: Id & { entry: number }; Body: { name: string | null } }>(
    "/runs/:id/moments/:entry",
    {
      schema: {
        tags,
        summary: "Give a moment a name, so that it is kept as long as its run; null takes the name away",
        params: params("id", "entry"),
        body: MOMENT_BODY,
        response: answers(ref("ActionAnswer")),
      },
    },
    async ({ params: { id, entry }, body: { name } }): Promise<ActionAnswer> => {
      const run = runIdOf(id);
      return { runId: run, status: await runtime.nameMoment(run, entry, name) };
    },
  );
}

function requestOf({ at, key, input, note }: ForkBody): Parameters<ServedRuntime["fork"]>[1] {
  const text = (value: unknown): Payload => JSON.stringify(value);
  return {
    ...(at === undefined ? {} : { at }),
    ...(key === undefined ? {} : { key }),
    ...(input === undefined ? {} : { input: text(input) }),
    ...(note === undefined ? {} : { note: text(note) }),
  };
}

function inspectRoute(app: FastifyInstance, runtime: ServedRuntime): void {
  app.get<{ Params: Id & { entry: number } }>(
    "/runs/:id/images/:entry/inspect",
    {
      schema: {
        tags: ["runs"],
        summary: "What is in an image: sizes, changed pages, what lives in the heap, what stands after it",
        params: params("id", "entry"),
        response: answers(ref("ImageInspection")),
      },
    },
    async ({ params: { id, entry } }) => inspected(runtime, runIdOf(id), entry),
  );
}

async function inspected(runtime: ServedRuntime, id: RunId, entry: number): Promise<ImageInspectionAnswer> {
  const { info, image } = await runtime.inspectImage(id, entry);
  const end = await readJournalEnd(runtime.reader, id);
  const run = await runtime.run(id);
  return {
    runId: id,
    entry,
    name: info.name,
    at: instantText(info.at),
    ...image,
    entriesAfter: end.length - entry,
    waits: await waitsOf(runtime.reader, run, runtime.live(id), end),
  };
}
