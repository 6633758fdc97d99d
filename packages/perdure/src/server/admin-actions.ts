// Acting on runs, one at a time or many by a filter; answering awakeables; sending signals.

import type { FastifyInstance } from "fastify";
import {
  BadRequestError,
  VOID,
  failureResult,
  valueResult,
  type ActionAnswer,
  type BulkAction,
  type BulkRequest,
  type RejectRequest,
  type Result,
  type RunId,
  type RunStatus,
} from "@perdure/protocol";
import { decodeBody, type Body } from "./body.ts";
import { bulk } from "./bulk.ts";
import type { ServedRuntime } from "./context.ts";
import { rejection } from "./rejection.ts";
import { runIdOf, signalName } from "./run-ids.ts";
import { BULK_BODY, EMPTY_BODY, RESTART_BODY, SETTLE_BODY, answers, params, ref } from "./schemas.ts";

const ACTIONS: Readonly<Record<BulkAction | "purge", string>> = {
  cancel: "Ask a run to cancel itself, its children first",
  kill: "End a run and its children at once, without compensation",
  pause: "Hold a run until it is resumed",
  resume: "Let a paused run go on with fresh retry counters; a retrying or suspended one looks again now",
  purge: "Delete a finished run with its journal",
};

interface Id {
  readonly id: string;
}

export function actionRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const tags = ["runs"];
  const response = answers(ref("ActionAnswer"));
  for (const action of ["cancel", "kill", "pause", "resume", "purge"] as const) {
    const schema = { tags, summary: ACTIONS[action], params: params("id"), body: EMPTY_BODY, response };
    app.post<{ Params: Id }>(`/runs/:id/${action}`, { schema }, async ({ params: { id } }) =>
      acted(runIdOf(id), (run) => runtime[action](run)),
    );
  }
  app.post<{ Params: Id; Body: { from?: number } | undefined }>(
    "/runs/:id/restart",
    {
      schema: {
        tags,
        summary: "Cut the journal before an entry and go on from there",
        params: params("id"),
        body: RESTART_BODY,
        response,
      },
    },
    async ({ params: { id }, body }) => acted(runIdOf(id), (run) => runtime.restart(run, body?.from ?? 1)),
  );
  app.post<{ Params: Id & { command: number }; Body: Settlement }>(
    "/runs/:id/effects/:command/settle",
    {
      schema: {
        tags,
        summary: "Say what became of an effect whose outcome is unknown",
        params: params("id", "command"),
        body: SETTLE_BODY,
        response,
      },
    },
    async ({ params: { id, command }, body }) => {
      const result = settlement(body);
      return acted(runIdOf(id), (run) => runtime.settleEffect(run, command, result));
    },
  );
  for (const action of ["cancel", "kill", "pause", "resume"] as const) {
    const schema = {
      tags,
      summary: `${action} every run that a filter matches`,
      body: BULK_BODY,
      response: answers(ref("BulkAnswer")),
    };
    app.post<{ Body: BulkRequest }>(`/runs/${action}`, { schema }, async ({ body }) => bulk(runtime, action, body));
  }
  app.register(async (routes) => messageRoutes(routes, runtime));
}

async function acted(run: RunId, act: (run: RunId) => Promise<RunStatus | null>): Promise<ActionAnswer> {
  return { runId: run, status: await act(run) };
}

interface Settlement {
  readonly happened?: boolean;
  readonly value?: unknown;
  readonly failure?: { readonly message: string; readonly code?: number };
}

/** Undefined: it did not happen. @throws BadRequestError */
function settlement({ happened, value, failure }: Settlement): Result | undefined {
  if ((happened === undefined) === (failure === undefined))
    throw new BadRequestError(
      'say either {"happened": true, "value": …}, {"happened": false}, or {"failure": {"message": …}}',
    );
  if (failure !== undefined) return failureResult({ code: failure.code ?? 500, message: failure.message });
  if (happened === true) return value === undefined ? VOID : valueResult(JSON.stringify(value));
  if (value !== undefined) throw new BadRequestError("what did not happen has no value");
  return undefined;
}

/** Their bodies are payloads, which are passed on as they came: JSON text unchanged, anything else as bytes. */
function messageRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer" },
    async (request: { headers: Record<string, unknown> }, bytes: Buffer) =>
      decodeBody(request.headers["content-type"] as string | undefined, bytes),
  );
  const response = answers(ref("ActionAnswer"));
  const payload = (body: Body | undefined): Result => valueResult(body?.payload ?? undefined);
  app.post<{ Params: Id & { name: string }; Body: Body | undefined }>(
    "/runs/:id/signals/:name",
    {
      schema: {
        tags: ["runs"],
        summary: "Send a signal to a run; the body is what it carries",
        params: params("id", "name"),
        response,
      },
    },
    async ({ params: { id, name }, body }) =>
      acted(runIdOf(id), (run) => runtime.signal(run, signalName(name), payload(body))),
  );
  app.post<{ Params: Id; Body: Body | undefined }>(
    "/awakeables/:id/resolve",
    {
      schema: {
        tags: ["runs"],
        summary: "Answer an awakeable; the body is the answer",
        params: params("id"),
        response,
      },
    },
    async ({ params: { id }, body }): Promise<ActionAnswer> => ({
      runId: await runtime.completeAwakeable(id, payload(body)),
      status: null,
    }),
  );
  app.post<{ Params: Id; Body: Body | undefined }>(
    "/awakeables/:id/reject",
    {
      schema: {
        tags: ["runs"],
        summary: 'Let an awakeable fail: {"message": "why", "code": 400}',
        params: params("id"),
        response,
      },
    },
    async ({ params: { id }, body }): Promise<ActionAnswer> => {
      const reason =
        body?.payload instanceof Uint8Array ? { message: Buffer.from(body.payload).toString("utf8") } : body?.value;
      return {
        runId: await runtime.completeAwakeable(id, rejection(reason as RejectRequest | undefined)),
        status: null,
      };
    },
  );
}
