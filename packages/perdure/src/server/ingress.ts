// The ingress: how the outside calls handlers
// ===========================================
// What is accepted here is durable, and goes on whether or not anybody still waits for the answer. Calls and sends stand in
// ingress-calls.ts; here is what is asked about runs, awakeables and the server itself.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  NotReadyError,
  UnknownTargetError,
  valueResult,
  type ActionAnswer,
  type RejectRequest,
  type Result,
  type RunId,
  type Target,
} from "@perdure/protocol";
import { sendJson, sendResult } from "./answers.ts";
import { decodeBody, readBodyAsync } from "./body.ts";
import { newTraffic, type IngressOptions, type ServedRuntime } from "./context.ts";
import { RequestError } from "./errors.ts";
import { followRoutes } from "./ingress-agents.ts";
import { CallRoutes, checkIdempotencyKey, checkTarget } from "./ingress-calls.ts";
import { ingressOpenApi } from "./ingress-openapi.ts";
import { createApp, listenerOf } from "./listener.ts";
import { rejection } from "./rejection.ts";
import { runIdOf, signalName } from "./run-ids.ts";
import { health } from "./health.ts";
import { welcome } from "./welcome.ts";

export type Params = Readonly<Record<string, string>>;
type Ask = (request: FastifyRequest, reply: FastifyReply, params: Params) => Promise<void>;

export function createIngress(runtime: ServedRuntime, options: IngressOptions = {}): FastifyInstance {
  const app = createApp(options, newTraffic("ingress"));
  const { answers } = listenerOf(app);
  // Bodies are read by the routes themselves (body.ts): Fastify is told that POST has none.
  app.addHttpMethod("POST", { hasBody: false, overrideExisting: true });
  const calls = new CallRoutes(runtime, answers, options);
  for (const method of ["GET", "POST"] as const) {
    app.route({ method, url: "/:a/:b", handler: calls.two });
    app.route({ method, url: "/:a/:b/:c", handler: calls.three });
    app.route({ method, url: "/:a/:b/:c/send", handler: calls.four });
  }
  const on = (method: "GET" | "POST", url: string, ask: Ask): void => {
    app.route({
      method,
      url,
      handler: (request, reply) => {
        reply.hijack();
        ask(request, reply, request.params as Params).catch((error: unknown) =>
          answers.send(request.raw, reply.raw, error),
        );
      },
    });
  };
  resultRoutes(on, runtime, app);
  messageRoutes(on, runtime);
  followRoutes(on, runtime, app, options);
  on("GET", "/health", async (_, reply) => health(runtime, reply.raw));
  on("GET", "/openapi.json", async (_, reply) =>
    sendJson(reply.raw, 200, ingressOpenApi(runtime.catalog.targets.manifests)),
  );
  on("GET", "/", async (_, reply) => welcome(reply.raw, runtime.catalog.targets.manifests, options.adminUrl?.()));
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    answers.send(request.raw, reply.raw, noSuchPath(runtime, request.raw.method ?? "", request.url));
  });
  return app;
}

export type On = (method: "GET" | "POST", url: string, ask: Ask) => void;

/** The result of a run that exists: `attach` waits for it, `output` does not. */
function resultRoutes(on: On, runtime: ServedRuntime, app: FastifyInstance): void {
  const { answers } = listenerOf(app);
  const both = (url: string, find: (params: Params) => RunId): void => {
    on("GET", `${url}/attach`, async (request, reply, params) => {
      const run = find(params);
      sendResult(
        request.raw,
        reply.raw,
        await runtime.attach(run, (withdraw) => reply.raw.on("close", withdraw)),
        run,
        answers,
      );
    });
    on("GET", `${url}/output`, async (request, reply, params) => {
      const run = find(params);
      const result = await runtime.output(run);
      if (result === null)
        answers.send(
          request.raw,
          reply.raw,
          new NotReadyError("the run has not ended yet: ask again later, or attach to it"),
          run,
        );
      else sendResult(request.raw, reply.raw, result, run, answers);
    });
  };
  const byIdempotencyKey = (target: Target, key: string | undefined): RunId => {
    checkTarget(runtime, target);
    return runtime.runIdFor({ target, idempotencyKey: checkIdempotencyKey(key ?? "") }).run;
  };
  both("/perdure/runs/:id", ({ id }) => runIdOf(id));
  both("/perdure/runs/:service/:handler/:idempotencyKey", ({ service = "", handler = "", idempotencyKey }) =>
    byIdempotencyKey({ service, handler }, idempotencyKey),
  );
  both(
    "/perdure/runs/:service/:key/:handler/:idempotencyKey",
    ({ service = "", key = "", handler = "", idempotencyKey }) =>
      byIdempotencyKey({ service, key, handler }, idempotencyKey),
  );
  both("/perdure/workflows/:name/:key", ({ name = "", key = "" }) => workflowRun(runtime, name, key));
}

function workflowRun(runtime: ServedRuntime, name: string, key: string): RunId {
  const service = runtime.catalog.service(name);
  const main = service?.handlers.find((handler) => handler.mode === "workflow");
  if (service === undefined) throw runtime.catalog.unknown({ service: name, handler: "run", key });
  if (main === undefined)
    throw new UnknownTargetError(`"${name}" is a ${service.kind}, not a workflow: ask for /perdure/runs/{id}/attach`);
  return runtime.runIdFor({ target: { service: name, key, handler: main.name } }).run;
}

/** What reaches a run from outside. */
function messageRoutes(on: On, runtime: ServedRuntime): void {
  on("POST", "/perdure/awakeables/:id/resolve", async (request, reply, params) => {
    const run = await runtime.completeAwakeable(params["id"] ?? "", await payloadOf(request));
    sendJson(reply.raw, 200, { runId: run, status: null } satisfies ActionAnswer, run);
  });
  on("POST", "/perdure/awakeables/:id/reject", async (request, reply, params) => {
    const { value, payload } = decodeBody(request.headers["content-type"], await readBodyAsync(request.raw));
    const reason = payload instanceof Uint8Array ? { message: Buffer.from(payload).toString("utf8") } : value;
    const run = await runtime.completeAwakeable(params["id"] ?? "", rejection(reason as RejectRequest | undefined));
    sendJson(reply.raw, 200, { runId: run, status: null } satisfies ActionAnswer, run);
  });
  on("POST", "/perdure/runs/:id/signals/:name", async (request, reply, params) => {
    const run = runIdOf(params["id"]);
    const status = await runtime.signal(run, signalName(params["name"]), await payloadOf(request));
    sendJson(reply.raw, 200, { runId: run, status } satisfies ActionAnswer, run);
  });
  on("POST", "/perdure/runs/:id/cancel", async (_, reply, params) => {
    const run = runIdOf(params["id"]);
    sendJson(reply.raw, 200, { runId: run, status: await runtime.cancel(run) } satisfies ActionAnswer, run);
  });
}

async function payloadOf(request: FastifyRequest): Promise<Result> {
  const { payload } = decodeBody(request.headers["content-type"], await readBodyAsync(request.raw));
  return valueResult(payload ?? undefined);
}

function noSuchPath(runtime: ServedRuntime, method: string, url: string): Error {
  const path = url.split("?", 1)[0] ?? "";
  const segments = path.split("/").slice(1);
  const first = segments[0] ?? "";
  const isCall = segments.length >= 2 && segments.length <= 4 && runtime.catalog.service(first) !== undefined;
  if (isCall && method !== "GET" && method !== "POST")
    return new RequestError(405, `${method} is not for handlers: POST calls them`, { allow: "GET, POST" });
  if (isCall && method === "GET") return new RequestError(405, `${path} is sent to by POST`, { allow: "POST" });
  const how =
    "handlers are called as POST /{service}/{handler} or POST /{object}/{key}/{handler}; everything there is stands in /openapi.json";
  return new UnknownTargetError(`${method} ${path} leads nowhere; ${how}`);
}
