// The ingress as an OpenAPI 3.1 document: the handlers that are served, with their schemas, and the fixed paths.

import type { HandlerManifest, ServiceManifest } from "@perdure/protocol";
import { addAgentPaths } from "./openapi-agents.ts";
import { ERROR, ERRORS, json, pathParameter, type Json } from "./openapi-parts.ts";
import { API_ERROR_SCHEMA } from "./schemas.ts";

/** Paths as the router knows them (`:id`), with what they do. A test holds them against the router. */
export function ingressOpenApi(services: readonly ServiceManifest[]): Json {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, Json> = { Error: API_ERROR_SCHEMA };
  for (const service of services)
    for (const handler of service.handlers) if (handler.internal !== true) addHandler(paths, schemas, service, handler);
  addFixed(paths);
  return {
    openapi: "3.1.0",
    info: {
      title: "Perdure ingress",
      version: "1",
      description: "Calls handlers, and reaches the runs that come of it. What is accepted is durable.",
    },
    tags: [
      ...services.map(({ name, description }) => ({ name, ...(description === undefined ? {} : { description }) })),
      { name: "perdure", description: "Runs and the server" },
    ],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Where the server was started with a token" },
      },
    },
  };
}

function addHandler(
  paths: Record<string, Json>,
  schemas: Record<string, Json>,
  service: ServiceManifest,
  handler: HandlerManifest,
): void {
  const isKeyed = service.kind !== "service";
  const path = isKeyed ? `/${service.name}/{key}/${handler.name}` : `/${service.name}/${handler.name}`;
  const name = `${service.name}.${handler.name}`;
  const input = component(schemas, `${name}.input`, handler.inputSchema);
  const output = component(schemas, `${name}.output`, handler.outputSchema);
  const common = {
    tags: [service.name],
    ...(handler.description === undefined ? {} : { description: handler.description }),
  };
  const parameters = [...(isKeyed ? [pathParameter("key")] : []), IDEMPOTENCY_KEY];
  const requestBody = {
    required: handler.inputSchema !== undefined,
    content: { "application/json": { schema: input } },
  };
  const call = {
    ...common,
    summary: `Call ${service.name}.${handler.name} and wait for its result`,
    parameters,
    responses: resultResponses(output),
  };
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

const IDEMPOTENCY_KEY: Json = {
  name: "idempotency-key",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: "The same key, for the same handler and key, is the same run",
};
const DELAY: Json = {
  name: "delay",
  in: "query",
  required: false,
  schema: { type: "string" },
  description: "Start later: 10s, 1h30m, 7d, PT15M",
};
const SEND_ANSWER: Json = {
  type: "object",
  required: ["runId", "status"],
  properties: { runId: { type: "string" }, status: { enum: ["accepted", "previouslyAccepted"] } },
};
const ACTION_ANSWER: Json = {
  type: "object",
  required: ["runId", "status"],
  properties: { runId: { type: "string" }, status: { type: ["string", "null"] } },
};

function resultResponses(output: Json): Json {
  const headers = { "x-perdure-run": { description: "The run's id", schema: { type: "string" } } };
  return {
    200: {
      description: "The handler's result",
      headers,
      content: { "application/json": { schema: output }, "application/octet-stream": {} },
    },
    204: { description: "The handler returned nothing", headers },
    ...ERRORS,
  };
}

const TAGS = ["perdure"];

function addFixed(paths: Record<string, Json>): void {
  const byService = ["service", "handler", "idempotencyKey"];
  const byKey = ["service", "key", "handler", "idempotencyKey"];
  addResults(paths, "runs", "Run", "a run", ["id"]);
  addResults(paths, "runs", "Service", "a service's run by its idempotency key", byService);
  addResults(paths, "runs", "Object", "an object's run by its idempotency key", byKey);
  addResults(paths, "workflows", "Workflow", "a workflow's main run", ["name", "key"]);
  const awakeable = "/perdure/awakeables/{id}";
  addMessage(paths, `${awakeable}/resolve`, "resolveAwakeable", "Answer an awakeable; no body is a void answer", {});
  addMessage(paths, `${awakeable}/reject`, "rejectAwakeable", "Let an awakeable fail", REJECTION);
  addMessage(paths, "/perdure/runs/{id}/signals/{name}", "signal", "Send a signal to a run", {});
  addMessage(paths, "/perdure/runs/{id}/cancel", "cancel", "Ask a run to cancel itself, its children first", undefined);
  const fixed = (path: string, operationId: string, summary: string, responses: Json): void => {
    paths[path] = { get: { tags: TAGS, operationId, summary, responses } };
  };
  addAgentPaths(paths);
  fixed("/health", "health", "Are requests taken?", { 200: json("Yes", HEALTH), 503: json("Not now", HEALTH) });
  fixed("/openapi.json", "openapi", "This document", { 200: json("OpenAPI 3.1", { type: "object" }) });
  fixed("/", "welcome", "What to try", { 200: { description: "Text", content: { "text/plain": {} } } });
}

function addResults(
  paths: Record<string, Json>,
  root: string,
  id: string,
  what: string,
  names: readonly string[],
): void {
  const url = `/perdure/${root}/${names.map((name) => `{${name}}`).join("/")}`;
  const parameters = names.map((name) => pathParameter(name));
  const responses = resultResponses({});
  const notReady = { 470: json("The run has not ended yet", ERROR) };
  const attach = { operationId: `attach${id}`, summary: `Wait for the result of ${what}`, responses };
  const output = {
    operationId: `output${id}`,
    summary: `The result of ${what}, if it has ended`,
    responses: { ...responses, ...notReady },
  };
  paths[`${url}/attach`] = { get: { tags: TAGS, parameters, ...attach } };
  paths[`${url}/output`] = { get: { tags: TAGS, parameters, ...output } };
}

/** @param schema of the body; undefined: there is none. */
function addMessage(
  paths: Record<string, Json>,
  url: string,
  operationId: string,
  summary: string,
  schema: Json | undefined,
): void {
  const content = { "application/json": { schema }, "application/octet-stream": {} };
  const parameters = [...url.matchAll(/\{(\w+)\}/g)].map((match) => pathParameter(match[1] ?? ""));
  const body = schema === undefined ? {} : { requestBody: { required: false, content } };
  const responses = { 200: json("Done", ACTION_ANSWER), ...ERRORS };
  paths[url] = { post: { tags: TAGS, operationId, summary, parameters, ...body, responses } };
}

const REJECTION: Json = {
  type: "object",
  properties: {
    message: { type: "string" },
    code: { type: "integer", minimum: 400, maximum: 599 },
    metadata: { type: "object", additionalProperties: { type: "string" } },
  },
};
const HEALTH: Json = {
  type: "object",
  required: ["status"],
  properties: { status: { enum: ["ok", "starting", "draining"] } },
};
