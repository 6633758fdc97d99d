// Streams, as the admin listener shows them: those of internal services too, since whoever asks here may see everything.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { StreamRef } from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import type { Listener } from "./listener.ts";
import { runIdOf } from "./run-ids.ts";
import { answers, params, ref, STREAM_QUERY } from "./schemas.ts";
import { SseConnections } from "./sse.ts";
import { StreamRoutes, type StreamQuery } from "./streams.ts";

const response = answers({
  description: "Items as server-sent events, resumable by Last-Event-ID; or a page",
  content: {
    "text/event-stream": { schema: { type: "string" } },
    "application/json": { schema: ref("StreamPage") },
  },
});
const tags = ["server"];

export function streamRoutes(app: FastifyInstance, runtime: ServedRuntime, listener: Listener, beatMs: number): void {
  const connections = new SseConnections();
  listener.onDrain(() => connections.drain());
  const streams = new StreamRoutes(runtime, connections, beatMs, { seesInternal: true });
  const answer = (request: FastifyRequest, reply: FastifyReply, stream: StreamRef): void => {
    reply.hijack();
    streams
      .answer(request, reply.raw, stream)
      .catch((error: unknown) => listener.answers.send(request.raw, reply.raw, error));
  };
  app.get<{ Params: { service: string; key: string; name: string }; Querystring: StreamQuery }>(
    "/streams/:service/:key/:name",
    {
      schema: {
        tags,
        summary: "A stream of a key, to follow or to read",
        params: params("service", "key", "name"),
        querystring: STREAM_QUERY,
        response,
      },
    },
    (request, reply) => {
      const { service, key, name } = request.params;
      answer(request, reply, { owner: { service, key }, name });
    },
  );
  app.get<{ Params: { id: string; name: string }; Querystring: StreamQuery }>(
    "/runs/:id/streams/:name",
    {
      schema: {
        tags,
        summary: "A stream of a run, to follow or to read",
        params: params("id", "name"),
        querystring: STREAM_QUERY,
        response,
      },
    },
    (request, reply) =>
      answer(request, reply, { owner: { run: runIdOf(request.params.id) }, name: request.params.name }),
  );
}
