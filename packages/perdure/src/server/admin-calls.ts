// Calling handlers from the admin surface: what the cockpit's forms and scripts of operators send
// ===============================================================================================
// A call is only ever sent here: it answers as soon as the run is durable, and how the run goes is seen as that of any
// other. Inputs are held to the same schemas as on the ingress, and what is internal stays so.

import type { FastifyInstance } from "fastify";
import { parseDuration, type SendAnswer, type Target } from "@perdure/protocol";
import type { SubmitRequest } from "@perdure/host";
import { decodeBody } from "./body.ts";
import type { AdminOptions, ServedRuntime } from "./context.ts";
import { checkIdempotencyKey, checkTarget } from "./ingress-calls.ts";
import { CALL_QUERY, answers, params, ref } from "./schemas.ts";

interface Params {
  readonly service: string;
  readonly key?: string;
  readonly handler: string;
}

export function callRoutes(app: FastifyInstance, runtime: ServedRuntime, { validateInput }: AdminOptions): void {
  app.register(async (scope) => {
    // The input stays the bytes that were sent: parsed and written anew, a number of twenty digits would be another.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_, bytes, done) => done(null, bytes));
    for (const names of [
      ["service", "handler"],
      ["service", "key", "handler"],
    ]) {
      scope.post<{ Params: Params; Querystring: { delay?: string }; Body: Buffer | undefined }>(
        `/calls/${names.map((name) => `:${name}`).join("/")}`,
        {
          schema: {
            tags: ["calls"],
            summary: names.length === 2 ? "Start a run of a service's handler" : "Start a run on a key",
            params: params(...names),
            querystring: CALL_QUERY,
            headers: IDEMPOTENCY_HEADER,
            body: { description: "The input, as the ingress takes it" },
            response: answers(ref("SendAnswer")),
          },
        },
        async ({ params: { service, key, handler }, query: { delay }, headers, body }): Promise<SendAnswer> => {
          const target: Target = key === undefined ? { service, handler } : { service, key, handler };
          checkTarget(runtime, target);
          const { payload, value } = decodeBody(headers["content-type"], body ?? NOTHING);
          const refused = (await validateInput?.(target, value)) ?? null;
          if (refused !== null) throw refused;
          const idempotencyKey = headers["idempotency-key"];
          const request: SubmitRequest = {
            target,
            input: payload,
            ...(delay === undefined ? {} : { startAt: Date.now() + parseDuration(delay) }),
            ...(idempotencyKey === undefined ? {} : { idempotencyKey: checkIdempotencyKey(String(idempotencyKey)) }),
          };
          const { run, existing } = await runtime.submit(request);
          return { runId: run, status: existing ? "previouslyAccepted" : "accepted" };
        },
      );
    }
  });
}

const NOTHING: Buffer = Buffer.alloc(0);

const IDEMPOTENCY_HEADER = {
  type: "object",
  properties: { "idempotency-key": { type: "string", description: "The same key gives the same run" } },
};
