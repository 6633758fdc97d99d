// The admin surface: what a person (the command line, the cockpit) sees and does
// ==============================================================================
// Routes carry the schemas of their requests, which are checked, and of their answers, which are only documented: an
// answer is written by JSON.stringify, so that no schema can drop a field of it.

import swagger from "@fastify/swagger";
import type { FastifyInstance, FastifyReply, FastifySchema, FastifyServerOptions } from "fastify";
import { BadRequestError, ValidationError, type ServicesAnswer, type VersionAnswer } from "@perdure/protocol";
import { actionRoutes } from "./admin-actions.ts";
import { callRoutes } from "./admin-calls.ts";
import { agentRoutes } from "./admin-agents.ts";
import { migrationRoutes } from "./admin-migrations.ts";
import { momentRoutes } from "./admin-moments.ts";
import { runRoutes } from "./admin-runs.ts";
import { scheduleRoutes } from "./admin-schedules.ts";
import { stateRoutes } from "./admin-state.ts";
import { streamRoutes } from "./admin-streams.ts";
import { parseJson } from "./body.ts";
import { cockpitRoutes, isCockpitRequest } from "./cockpit.ts";
import { newTraffic, type AdminOptions, type ServedRuntime } from "./context.ts";
import { RequestError } from "./errors.ts";
import { EventStreams, type EventFilter } from "./events.ts";
import { health } from "./health.ts";
import { createApp, listenerOf } from "./listener.ts";
import { metricsText } from "./metrics.ts";
import { COMPONENTS, EVENTS_QUERY, answers, params, ref } from "./schemas.ts";
import { instantText } from "./views.ts";
import { runIdOf } from "./run-ids.ts";

const HEARTBEAT_MS = 15_000;
const SSE_QUEUE_MAX = 10_000;

export function createAdmin(runtime: ServedRuntime, options: AdminOptions = {}): FastifyInstance {
  const traffic = newTraffic("admin");
  const app = createApp(options, traffic, FASTIFY_OPTIONS, isCockpitRequest);
  const listener = listenerOf(app);
  const streams = new EventStreams(runtime, {
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    sseQueueMax: options.sseQueueMax ?? SSE_QUEUE_MAX,
  });
  listener.onDrain(() => streams.endAll());
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  for (const [$id, schema] of Object.entries(COMPONENTS)) app.addSchema({ $id, ...schema });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_, text, done) => parseBody(String(text), done));
  app.register(swagger, {
    openapi: OPENAPI,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, at) =>
        typeof json["$id"] === "string" ? json["$id"] : `schema-${at}`,
    },
  });
  app.register(async (routes) => {
    const version = options.version ?? "0.0.0";
    serverRoutes(routes, runtime, version);
    routes.get("/metrics", { schema: METRICS }, async (_, reply) => {
      const text = await metricsText(runtime, version, [traffic, ...(options.traffic ?? [])], streams.readers);
      return reply.type("text/plain; version=0.0.4; charset=utf-8").send(text);
    });
    eventRoute(routes, streams);
    runRoutes(routes, runtime);
    actionRoutes(routes, runtime);
    momentRoutes(routes, runtime);
    migrationRoutes(routes, runtime);
    stateRoutes(routes, runtime);
    callRoutes(routes, runtime, options);
    scheduleRoutes(routes, runtime);
    agentRoutes(routes, runtime, options);
    streamRoutes(routes, runtime, listener, options.heartbeatMs ?? HEARTBEAT_MS);
    cockpitRoutes(routes, options.cockpitFolder);
  });
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    listener.answers.send(request.raw, reply.raw, noSuchPath(app, request.raw.method ?? "", request.url));
  });
  return app;
}

const FASTIFY_OPTIONS: FastifyServerOptions = {
  // What a request says too much is an error of the asker's, not something to drop silently.
  ajv: { customOptions: { removeAdditional: false, coerceTypes: "array", useDefaults: true } },
  // Fastify writes a status and a code into what it gets, so ours travels as the cause.
  schemaErrorFormatter: (errors, part) => new Error("validation", { cause: validationError(errors[0], part) }),
};

const OPENAPI = {
  openapi: "3.1.0",
  info: {
    title: "Perdure admin",
    version: "1",
    description:
      "Runs, journals, state and events of one runtime. Instants are ISO 8601 in UTC, durations milliseconds.",
  },
  tags: [
    { name: "runs", description: "Look at runs, and act on them" },
    { name: "calls", description: "Starting runs" },
    { name: "state", description: "Keyed state, and SQL" },
    { name: "agents", description: "Sessions, approvals, budgets, the switch for writes, the audit log" },
    { name: "schedules", description: "What starts when" },
    { name: "server", description: "Health, metrics and events" },
  ],
  components: {
    securitySchemes: {
      token: { type: "http" as const, scheme: "bearer", description: "Where the server was started with a token" },
    },
  },
};

const METRICS: FastifySchema = {
  tags: ["server"],
  summary: "Figures in Prometheus' text form",
  response: answers({ description: "Text, version 0.0.4", content: { "text/plain": { schema: { type: "string" } } } }),
};

function serverRoutes(app: FastifyInstance, runtime: ServedRuntime, version: string): void {
  const answer = (name: string): Record<string, unknown> => answers(ref(name));
  app.get(
    "/health",
    {
      schema: {
        tags: ["server"],
        summary: "Are questions taken? 503 while starting or draining",
        response: answer("Health"),
      },
    },
    (_, reply: FastifyReply) => {
      reply.hijack();
      health(runtime, reply.raw);
    },
  );
  app.get(
    "/version",
    { schema: { tags: ["server"], summary: "What runs here", response: answer("Version") } },
    async () => {
      const deployment = runtime.catalog.version;
      return {
        version,
        node: process.version,
        startedAt: instantText(runtime.startedAt),
        deployment,
      } satisfies VersionAnswer;
    },
  );
  const list = {
    type: "object",
    properties: { services: { type: "array", items: ref("Service") } },
    required: ["services"],
  };
  app.get(
    "/services",
    { schema: { tags: ["server"], summary: "What is served, with schemas and policies", response: answers(list) } },
    async () => {
      return { services: runtime.catalog.targets.manifests } satisfies ServicesAnswer;
    },
  );
  app.get<{ Params: { service: string } }>(
    "/services/:service",
    { schema: { tags: ["server"], summary: "One service", params: params("service"), response: answer("Service") } },
    async ({ params: { service } }) => {
      const found = runtime.catalog.service(service);
      if (found === undefined) throw runtime.catalog.unknown({ service, handler: "" });
      return found;
    },
  );
  app.get(
    "/openapi.json",
    { schema: { tags: ["server"], summary: "This document", response: answers({ type: "object" }) } },
    async () => app.swagger(),
  );
}

function eventRoute(app: FastifyInstance, streams: EventStreams): void {
  const response = answers({
    description: "Events; packages/protocol/src/api.ts types them (ApiEvent)",
    content: { "text/event-stream": { schema: { type: "string" } } },
  });
  const summary = "Everything that changes, as server-sent events; resumable by Last-Event-ID";
  app.get<{ Querystring: { after?: string; run?: string; service?: string } }>(
    "/events",
    { schema: { tags: ["server"], summary, querystring: EVENTS_QUERY, response } },
    (request, reply) => {
      const { after, run, service } = request.query;
      const filter: EventFilter = {
        ...(run === undefined ? {} : { run: runIdOf(run) }),
        ...(service === undefined ? {} : { service }),
      };
      const header = request.headers["last-event-id"];
      reply.hijack();
      // A browser that comes back sends the header, and the address that it first asked: the header is newer.
      streams.open(reply.raw, header === undefined ? after : String(header), filter);
    },
  );
}

function parseBody(text: string, done: (error: Error | null, body?: unknown) => void): void {
  try {
    done(null, text === "" ? undefined : parseJson(text));
  } catch (error) {
    // The body of an admin request is no handler's input.
    done(
      error instanceof ValidationError
        ? new BadRequestError(error.message, error.metadata === undefined ? {} : { metadata: error.metadata })
        : (error as Error),
    );
  }
}

interface SchemaIssue {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function validationError(issue: SchemaIssue | undefined, part: string): BadRequestError {
  const steps = (issue?.instancePath ?? "").split("/").slice(1);
  const missing = issue?.params["missingProperty"] ?? issue?.params["additionalProperty"];
  if (typeof missing === "string") steps.push(missing);
  const path = `$${steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join("")}`;
  const where = part === "querystring" ? "query" : part;
  const problem = problemOf(issue);
  return new BadRequestError(`${where}${path === "$" ? "" : ` ${path.slice(2)}`}: ${problem}`, {
    metadata: { path, part: where },
  });
}

function problemOf(issue: SchemaIssue | undefined): string {
  if (issue === undefined) return "does not fit";
  switch (issue.keyword) {
    case "additionalProperties":
      return "nothing is known by this name";
    case "required":
      return "is missing";
    case "enum":
      return `must be one of ${(issue.params["allowedValues"] as readonly unknown[]).join(", ")}`;
    default:
      return issue.message ?? "does not fit";
  }
}

const METHODS = ["GET", "POST", "PATCH"] as const;

function noSuchPath(app: FastifyInstance, method: string, url: string): Error {
  const path = url.split("?", 1)[0] ?? "";
  const known = METHODS.filter((other) => other !== method && app.findRoute({ method: other, url: path }) !== null);
  if (known.length > 0)
    return new RequestError(405, `${method} ${path} does not exist, ${known.join(" and ")} does`, {
      allow: known.join(", "),
    });
  return new RequestError(404, `${method} ${path} leads nowhere: everything there is stands in /openapi.json`);
}
