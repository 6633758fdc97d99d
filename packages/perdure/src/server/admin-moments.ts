// Moments of runs: those that have an image, forks, rewinds.

import type { FastifyInstance } from "fastify";
import {
  type ActionAnswer,
  type ForkBody,
  type MomentsAnswer,
  type Payload,
  type RewindAnswer,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { runIdOf } from "./run-ids.ts";
import { answers, RUN_FORK_BODY, MOMENT_BODY, params, ref, RUN_REWIND_BODY } from "./schemas.ts";
import { momentView } from "./views.ts";

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
