// The ingress as an OpenAPI 3.1 document: the handlers that are served, with their schemas, and the fixed paths.

import type { HandlerManifest, ServiceManifest } from "@perdure/protocol";
import { API_ERROR_SCHEMA } from "./schemas.ts";

type Json = Record<string, unknown>;

/** Paths as the router knows them (`:id`), with what they do. A test holds them against the router. */
export function ingressOpenApi(services: readonly ServiceManifest[]): Json {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, Json> = { Error: API_ERROR_SCHEMA };
  for (const service of services) for (const handler of service.handlers) if (handler.internal !== true) addHandler(paths, schemas, service, handler);
  addFixed(paths);
  return {
    openapi: "3.1.0",
    info: { title: "Perdure ingress", version: "1", description: "Calls handlers, and reaches the runs that come of it. What is accepted is durable." },
    tags: [...services.map(({ name, description }) => ({ name, ...(description === undefined ? {} : { description }) })), { name: "perdure", description: "Runs and the server" }],
    paths,
    components: { schemas, securitySchemes: { token: { type: "http", scheme: "bearer", description: "Where the server was started with a token" } } },
  };
}

function addHandler(paths: Record<string, Json>, schemas: Record<string, Json>, service: ServiceManifest, handler: HandlerManifest): void {
  const isKeyed = service.kind !== "service";
  const path = isKeyed ? `/${service.name}/{key}/${handler.name}` : `/${service.name}/${handler.name}`;
  const name = `${service.name}.${handler.name}`;
  const input = component(schemas, `${name}.input`, handler.inputSchema);
  const output = component(schemas, `${name}.output`, handler.outputSchema);
  const common = { tags: [service.name], ...(handler.description === undefined ? {} : { description: handler.description }) };
  const parameters = [...(isKeyed ? [pathParameter("key")] : []), IDEMPOTENCY_KEY];
  const requestBody = { required: handler.inputSchema !== undefined, content: { "application/json": { schema: input } } };
  const call = { ...common, summary: `Call ${service.name}.${handler.name} and wait for its result`, parameters, responses: resultResponses(output) };
  paths[path] = {
    post: { ...call, operationId: `call.${name}`, requestBody },
    ...(handler.inputSchema === undefined ? { get: { ...call, operationId: `get.${name}` } } : {}),
  };
  paths[`${path}/send`] = {
    post: {
      ...common,
      operationId: `send.${name}`,
      summary: `Start ${service.name}.${handler.name} without waiting`,
      parameters: [...parameters, DELAY],
      requestBody,
      responses: { 202: json("Durable", SEND_ANSWER), ...ERRORS },
    },
  };
}

/** A schema as a component; references inside it point into the component then. */
function component(schemas: Record<string, Json>, name: string, schema: object | undefined): Json {
  if (schema === undefined) return {};
  schemas[name] = rebase(schema, `#/components/schemas/${name}`) as Json;
  return { $ref: `#/components/schemas/${name}` };
}

function rebase(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map((item) => rebase(item, root));
  if (typeof value !== "object" || value === null) return value;
  const copy: Json = {};
  for (const [name, item] of Object.entries(value)) {
    const isReference = name === "$ref" && typeof item === "string" && item.startsWith("#");
    copy[name] = isReference ? `${root}${item.slice(1)}` : rebase(item, root);
  }
  return copy;
}

const json = (description: string, schema: Json): Json => ({ description, content: { "application/json": { schema } } });
const pathParameter = (name: string, description?: string): Json => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string" },
  ...(description === undefined ? {} : { description }),
});

const ERROR: Json = { $ref: "#/components/schemas/Error" };
const ERRORS: Json = { "4XX": json("The request is refused, or the run failed", ERROR), "5XX": json("The run failed, or the server cannot answer now", ERROR) };
const IDEMPOTENCY_KEY: Json = {
  name: "idempotency-key",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: "The same key, for the same handler and key, is the same run",
};
const DELAY: Json = { name: "delay", in: "query", required: false, schema: { type: "string" }, description: "Start later: 10s, 1h30m, 7d, PT15M" };
const SEND_ANSWER: Json = {
  type: "object",
  required: ["runId", "status"],
  properties: { runId: { type: "string" }, status: { enum: ["accepted", "previouslyAccepted"] } },
};
const ACTION_ANSWER: Json = { type: "object", required: ["runId", "status"], properties: { runId: { type: "string" }, status: { type: ["string", "null"] } } };

function resultResponses(output: Json): Json {
  const headers = { "x-perdure-run": { description: "The run's id", schema: { type: "string" } } };
  return {
    200: { description: "The handler's result", headers, content: { "application/json": { schema: output }, "application/octet-stream": {} } },
    204: { description: "The handler returned nothing", headers },
    ...ERRORS,
  };
}

function addFixed(paths: Record<string, Json>): void {
  const tags = ["perdure"];
  const results = (url: string, id: string, what: string, names: readonly string[]): void => {
    const parameters = names.map((name) => pathParameter(name));
    const responses = resultResponses({});
    const notReady = { 470: json("The run has not ended yet", ERROR) };
    paths[`${url}/attach`] = { get: { tags, operationId: `attach${id}`, summary: `Wait for the result of ${what}`, parameters, responses } };
    paths[`${url}/output`] = {
      get: { tags, operationId: `output${id}`, summary: `The result of ${what}, if it has ended`, parameters, responses: { ...responses, ...notReady } },
    };
  };
  results("/perdure/runs/{id}", "Run", "a run", ["id"]);
  results("/perdure/runs/{service}/{handler}/{idempotencyKey}", "Service", "a service's run by its idempotency key", ["service", "handler", "idempotencyKey"]);
  results("/perdure/runs/{service}/{key}/{handler}/{idempotencyKey}", "Object", "an object's run by its idempotency key", [
    "service",
    "key",
    "handler",
    "idempotencyKey",
  ]);
  results("/perdure/workflows/{name}/{key}", "Workflow", "a workflow's main run", ["name", "key"]);
  const act = (url: string, operationId: string, summary: string, names: readonly string[], schema?: Json): void => {
    const requestBody = { required: false, content: { "application/json": { schema: schema ?? {} }, "application/octet-stream": {} } };
    const parameters = names.map((name) => pathParameter(name));
    const responses = { 200: json("Done", ACTION_ANSWER), ...ERRORS };
    paths[url] = { post: { tags, operationId, summary, parameters, ...(operationId === "cancel" ? {} : { requestBody }), responses } };
  };
  act("/perdure/awakeables/{id}/resolve", "resolveAwakeable", "Answer an awakeable; no body is a void answer", ["id"]);
  act("/perdure/awakeables/{id}/reject", "rejectAwakeable", "Let an awakeable fail", ["id"], REJECTION);
  act("/perdure/runs/{id}/signals/{name}", "signal", "Send a signal to a run", ["id", "name"]);
  act("/perdure/runs/{id}/cancel", "cancel", "Ask a run to cancel itself, its children first", ["id"]);
  paths["/health"] = { get: { tags, operationId: "health", summary: "Are requests taken?", responses: { 200: json("Yes", HEALTH), 503: json("Not now", HEALTH) } } };
  paths["/openapi.json"] = { get: { tags, operationId: "openapi", summary: "This document", responses: { 200: json("OpenAPI 3.1", { type: "object" }) } } };
  paths["/"] = { get: { tags, operationId: "welcome", summary: "What to try", responses: { 200: { description: "Text", content: { "text/plain": {} } } } } };
}

const REJECTION: Json = {
  type: "object",
  properties: { message: { type: "string" }, code: { type: "integer", minimum: 400, maximum: 599 }, metadata: { type: "object", additionalProperties: { type: "string" } } },
};
const HEALTH: Json = { type: "object", required: ["status"], properties: { status: { enum: ["ok", "starting", "draining"] } } };
