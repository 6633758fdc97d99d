// The ingress's routes for streams, agents and approvals.

import type { FastifyInstance } from "fastify";
import { BadRequestError } from "@perdure/protocol";
import { agentSession, type AgentSession } from "./agent-runs.ts";
import { sendJson, sendResult } from "./answers.ts";
import { ApprovalRoutes } from "./approvals.ts";
import { decodeBody, readBodyAsync } from "./body.ts";
import { Chat } from "./chat.ts";
import type { IngressOptions, ServedRuntime } from "./context.ts";
import type { On, Params } from "./ingress.ts";
import { checkKey } from "./ingress-calls.ts";
import { listenerOf } from "./listener.ts";
import { runIdOf } from "./run-ids.ts";
import { SseConnections } from "./sse.ts";
import { StreamRoutes } from "./streams.ts";

const HEARTBEAT_MS = 15_000;
const LAST_MAX = 100_000;

export function followRoutes(on: On, runtime: ServedRuntime, app: FastifyInstance, options: IngressOptions): void {
  const connections = new SseConnections();
  listenerOf(app).onDrain(() => connections.drain());
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  const streams = new StreamRoutes(runtime, connections, heartbeatMs);
  on("GET", "/perdure/streams/:service/:key/:name", async (request, reply, { service = "", key = "", name = "" }) => {
    checkKey(key, "streams are addressed as /perdure/streams/{service}/{key}/{name}");
    await streams.answer(request, reply.raw, { owner: { service, key }, name });
  });
  on("GET", "/perdure/runs/:id/streams/:name", async (request, reply, { id, name = "" }) =>
    streams.answer(request, reply.raw, { owner: { run: runIdOf(id) }, name }),
  );
  chatRoutes(on, runtime, app, new Chat(runtime, connections, heartbeatMs));
  const approvals = new ApprovalRoutes(runtime, options.validateInput);
  on("GET", "/perdure/approvals/:id", async (request, reply, { id = "" }) =>
    approvals.show(request.raw, reply.raw, id),
  );
  on("POST", "/perdure/approvals/:id", async (request, reply, { id = "" }) =>
    approvals.answer(request.raw, reply.raw, id),
  );
}

function chatRoutes(on: On, runtime: ServedRuntime, app: FastifyInstance, chat: Chat): void {
  const sessionOf = ({ agent, session }: Params): AgentSession => agentSession(runtime, agent, session);
  const at = "/perdure/agents/:agent/:session";
  on("POST", `${at}/chat`, async (request, reply, params) => {
    const owner = sessionOf(params);
    const { value } = decodeBody(request.headers["content-type"], await readBodyAsync(request.raw));
    await chat.send(reply.raw, owner, value);
  });
  on("GET", `${at}/chat`, async (_, reply, params) => chat.resume(reply.raw, sessionOf(params)));
  on("GET", `${at}/chat/:chat/stream`, async (_, reply, params) => chat.resume(reply.raw, sessionOf(params)));
  on("POST", `${at}/stop`, async (request, reply, params) => {
    const target = { ...sessionOf(params), handler: "stop" };
    const { run, result } = await runtime.call({ target, input: null }, (withdraw) => reply.raw.on("close", withdraw));
    sendResult(request.raw, reply.raw, result, run, listenerOf(app).answers);
  });
  on("GET", `${at}/messages`, async (request, reply, params) =>
    sendJson(reply.raw, 200, await chat.messages(sessionOf(params), lastOf(request.query as { last?: string }))),
  );
  on("GET", `${at}/messages/:run`, async (request, reply, params) => {
    const { wait } = request.query as { wait?: string };
    const run = runIdOf(params["run"]);
    sendJson(reply.raw, 200, await chat.receipt(reply.raw, sessionOf(params), run, wait), run);
  });
}

function lastOf({ last }: { readonly last?: string }): number | undefined {
  if (last === undefined) return undefined;
  const items = Number(last);
  if (Number.isInteger(items) && items > 0 && items <= LAST_MAX) return items;
  throw new BadRequestError(`last is "${last}" and must be a whole number from 1 to ${LAST_MAX}`);
}
