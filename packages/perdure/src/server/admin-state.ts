// Keyed state, to read and to edit; and read-only SQL over everything.

import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import {
  BadRequestError,
  ConflictError,
  type Payload,
  type SqlAnswer,
  type StateEdit,
  type StateKeysPage,
  type StateView,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { SQL_BODY, STATE_BODY, STATE_KEYS_QUERY, STATE_QUERY, answers, params, ref } from "./schemas.ts";
import { cellView, payloadView } from "./views.ts";

interface Key {
  readonly service: string;
  readonly key: string;
}

export function stateRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const tags = ["state"];
  app.get<{ Params: { service: string }; Querystring: { after?: string; limit: number } }>(
    "/state/:service",
    {
      schema: {
        tags,
        summary: "Keys of a service that have state",
        params: params("service"),
        querystring: STATE_KEYS_QUERY,
        response: answers(ref("StateKeysPage")),
      },
    },
    async ({ params: { service }, query: { after, limit } }): Promise<StateKeysPage> => {
      const keys = await runtime.reader.stateKeys(service, after ?? null, limit);
      if (keys.length === 0) checkKeyed(runtime, service);
      return { keys, nextAfter: keys.length < limit ? null : (keys.at(-1) ?? null) };
    },
  );
  app.get<{ Params: Key; Querystring: { maxPayload: number } }>(
    "/state/:service/:key",
    {
      schema: {
        tags,
        summary: "The state of one key",
        params: params("service", "key"),
        querystring: STATE_QUERY,
        response: answers(ref("State")),
      },
    },
    async ({ params: { service, key }, query: { maxPayload } }) => stateView(runtime, { service, key }, maxPayload),
  );
  app.patch<{ Params: Key; Body: StateEdit }>(
    "/state/:service/:key",
    {
      schema: {
        tags,
        summary: "Edit the state of one key, in one commit",
        params: params("service", "key"),
        body: STATE_BODY,
        response: answers(ref("State")),
      },
    },
    async ({ params: { service, key }, body }) => {
      checkKeyed(runtime, service);
      const changes = changesOf(body);
      const expected = await expectedOf(runtime, { service, key }, body);
      await runtime.editState(service, key, changes, { expected, force: body.force ?? false });
      return stateView(runtime, { service, key }, Number.POSITIVE_INFINITY);
    },
  );
  app.post<{ Body: { query: string; limit: number } }>(
    "/sql",
    {
      schema: {
        tags,
        summary: "One reading statement; the store's tables are what it shows",
        body: SQL_BODY,
        response: answers(ref("SqlAnswer")),
      },
    },
    async ({ body: { query, limit } }): Promise<SqlAnswer> => {
      const { columns, rows, truncated } = await runtime.reader.sql(query, limit);
      return { columns, rows: rows.map((row) => row.map(cellView)), truncated };
    },
  );
}

/** @throws UnknownTargetError, BadRequestError. State of services that are gone can be read, if there is any. */
function checkKeyed(runtime: ServedRuntime, name: string): void {
  const service = runtime.catalog.service(name);
  if (service === undefined) throw runtime.catalog.unknown({ service: name, handler: "" });
  if (service.kind === "service")
    throw new BadRequestError(`${name} is a service: only objects and workflows have keys and state`);
}

async function stateView(runtime: ServedRuntime, name: Key, maxPayload: number): Promise<StateView> {
  const state = await runtime.reader.state(name);
  if (state.size === 0) checkKeyed(runtime, name.service);
  return {
    ...name,
    state: Object.fromEntries([...state].map(([key, value]) => [key, payloadView(value, maxPayload)])),
  };
}

function changesOf({ set = {}, clear = [] }: StateEdit): ReadonlyMap<string, Payload | null> {
  const changes = new Map<string, Payload | null>(clear.map((name) => [name, null]));
  for (const [name, value] of Object.entries(set)) {
    if (changes.has(name)) throw new BadRequestError(`"${name}" is both set and cleared`);
    changes.set(name, JSON.stringify(value));
  }
  if (changes.size === 0) throw new BadRequestError('nothing to change: say {"set": {…}} or {"clear": […]}');
  return changes;
}

/**
 * What is stored of what the asker expects, as the engine compares it once more when it commits: JSON has more than one
 * way to write a value. @throws ConflictError where it says something else already.
 */
async function expectedOf(
  runtime: ServedRuntime,
  { service, key }: Key,
  { expect = {} }: StateEdit,
): Promise<ReadonlyMap<string, Payload | null>> {
  const { values = {}, absent = [] } = expect;
  const expected = new Map<string, Payload | null>(absent.map((name) => [name, null]));
  const names = Object.entries(values);
  if (names.length === 0) return expected;
  const stored = await runtime.reader.state({ service, key });
  for (const [name, value] of names) {
    const payload = stored.get(name);
    if (payload === undefined || !isDeepStrictEqual(payloadView(payload, Number.POSITIVE_INFINITY), value))
      throw new ConflictError(
        `"${name}" of ${service}/${key} is not what the edit expects: it was ${payload === undefined ? "removed" : "changed"} meanwhile; read it again`,
      );
    expected.set(name, payload);
  }
  return expected;
}
