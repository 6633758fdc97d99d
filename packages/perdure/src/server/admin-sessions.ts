// Agents and their sessions: which there are, what one does, and what a person says to it.

import type { FastifyInstance } from "fastify";
import {
  type AgentForkRequest,
  type AgentMessageRequest,
  type AgentRewindRequest,
  type AgentsAnswer,
  type AgentSessionsAnswer,
  type AgentSessionsPage,
  type SendAnswer,
} from "@perdure/protocol";
import { agentSession, UNFINISHED, type AgentSession } from "./agent-runs.ts";
import type { ServedRuntime } from "./context.ts";
import { callHandler } from "./handler-call.ts";
import { checkIdempotencyKey } from "./ingress-calls.ts";
import {
  AGENT_SESSIONS_QUERY,
  answers,
  EMPTY_BODY,
  FORK_BODY,
  MESSAGE_BODY,
  params,
  ref,
  REWIND_BODY,
  SESSIONS_QUERY,
} from "./schemas.ts";
import { SessionUsage } from "./session-usage.ts";
import { SessionViews } from "./session-views.ts";

const tags = ["agents"];
const COUNTED_MAX = 1_000;
const READ_AT_ONCE = 16;

interface Named {
  readonly agent: string;
  readonly session: string;
}

export function sessionRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  const views = new SessionViews(runtime, new SessionUsage(runtime));
  listRoutes(app, runtime, views);
  app.get<{ Params: Named }>(
    "/agents/:agent/:session",
    {
      schema: {
        tags,
        summary: "One session: what it does, its budget, its sub-agents, its open approvals, what waits to be seen",
        params: params("agent", "session"),
        response: answers(ref("AgentSession")),
      },
    },
    async ({ params: { agent, session } }) => views.view(agentSession(runtime, agent, session)),
  );
  speakingRoutes(app, runtime);
  branchRoutes(app, runtime);
}

function listRoutes(app: FastifyInstance, runtime: ServedRuntime, views: SessionViews): void {
  const { reader, catalog } = runtime;
  app.get(
    "/agents",
    { schema: { tags, summary: "The agents that are served", response: answers(ref("Agents")) } },
    async (): Promise<AgentsAnswer> => {
      const agents = catalog.targets.manifests.filter(({ agent }) => agent === true);
      const summaries = agents.map(async ({ name, description = null }) => {
        const [keys, open] = await Promise.all([
          reader.stateKeys(name, null, COUNTED_MAX),
          reader.runs({ service: name, handler: "send", status: UNFINISHED, limit: COUNTED_MAX }),
        ]);
        return { name, description, sessions: keys.length, open: open.length };
      });
      return { agents: await Promise.all(summaries) };
    },
  );
  app.get<{ Params: { agent: string }; Querystring: { after?: string; limit: number } }>(
    "/agents/:agent",
    {
      schema: {
        tags,
        summary: "The names of an agent's sessions",
        params: params("agent"),
        querystring: AGENT_SESSIONS_QUERY,
        response: answers(ref("AgentSessions")),
      },
    },
    async ({ params: { agent }, query: { after, limit } }): Promise<AgentSessionsPage> => {
      agentSession(runtime, agent, "any");
      const sessions = await reader.stateKeys(agent, after ?? null, limit);
      return { sessions, nextAfter: sessions.length < limit ? null : (sessions.at(-1) ?? null) };
    },
  );
  app.get<{ Querystring: SessionsQuery }>(
    "/sessions",
    {
      schema: {
        tags,
        summary: "Sessions of all agents or of one, those at work first: what each does, and what it has used",
        querystring: SESSIONS_QUERY,
        response: answers(ref("AgentSessionList")),
      },
    },
    async ({ query: { agent, find = "", top, limit, offset } }): Promise<AgentSessionsAnswer> => {
      if (agent !== undefined) agentSession(runtime, agent, "any");
      const words = find.toLowerCase().split(/\s+/).filter(Boolean);
      const all = await rankedSessions(runtime);
      const isBelow = top ? belowOthers(all) : () => false;
      const found = all.filter(
        (owner) =>
          (agent === undefined || owner.service === agent) &&
          words.every((word) => `${owner.service}/${owner.key}`.toLowerCase().includes(word)) &&
          !isBelow(owner),
      );
      const shown = found.slice(offset, offset + limit);
      const sessions: AgentSessionsAnswer["sessions"][number][] = [];
      for (let at = 0; at < shown.length; at += READ_AT_ONCE)
        sessions.push(...(await Promise.all(shown.slice(at, at + READ_AT_ONCE).map((owner) => views.summary(owner)))));
      const next = offset + shown.length;
      return { sessions, nextOffset: next < found.length ? next : null };
    },
  );
}

interface SessionsQuery {
  readonly agent?: string;
  readonly find?: string;
  readonly top: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** A sub-agent's session has its parent's key, a slash, and a name of its own. */
function belowOthers(sessions: readonly AgentSession[]): (session: AgentSession) => boolean {
  const keys = new Set(sessions.map(({ key }) => key));
  return ({ key }) => {
    for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1))
      if (keys.has(key.slice(0, at))) return true;
    return false;
  };
}

/** Those with open messages, newest first; then those whose messages are still kept; then the others by name. */
async function rankedSessions({ reader, catalog }: ServedRuntime): Promise<readonly AgentSession[]> {
  const agents = catalog.targets.manifests.filter(({ agent }) => agent === true);
  const ranked = agents.map(async ({ name: service }) => {
    const sends = { service, handler: "send", limit: COUNTED_MAX } as const;
    const [open, kept, keys] = await Promise.all([
      reader.runs({ ...sends, status: UNFINISHED }),
      reader.runs(sends),
      reader.stateKeys(service, null, COUNTED_MAX),
    ]);
    const ranks = new Map<string, number>();
    const rank = (key: string | null, value: number): void => {
      if (key !== null && !ranks.has(key)) ranks.set(key, value);
    };
    for (const { key, createdAt } of open) rank(key, createdAt + AT_WORK);
    for (const { key, createdAt } of kept) rank(key, createdAt);
    for (const key of keys) rank(key, 0);
    return [...ranks].map(([key, value]) => ({ service, key, value }));
  });
  return (await Promise.all(ranked)).flat().toSorted((a, b) => b.value - a.value || (a.key < b.key ? -1 : 1));
}

/** Later than any instant. */
const AT_WORK = 2 ** 50;

// What a person says
// ------------------

function speakingRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.post<{ Params: Named; Body: AgentMessageRequest }>(
    "/agents/:agent/:session/messages",
    {
      schema: {
        tags,
        summary: "Says something to an agent; the header idempotency-key makes it repeatable. The run is its receipt",
        params: params("agent", "session"),
        body: MESSAGE_BODY,
        response: answers({ type: "null" }, { 202: ref("Accepted") }),
      },
    },
    async ({ params: { agent, session }, body, headers }, reply): Promise<SendAnswer> => {
      const owner = agentSession(runtime, agent, session);
      const key = headers["idempotency-key"];
      reply.code(202);
      return sent(runtime, { ...owner, handler: "send" }, body, key === undefined ? undefined : String(key));
    },
  );
  app.post<{ Params: Named }>(
    "/agents/:agent/:session/stop",
    {
      schema: {
        tags,
        summary: "Ends the turn, keeping what was said",
        params: params("agent", "session"),
        body: EMPTY_BODY,
        response: answers({ type: "object", properties: { stopped: { type: "boolean" } }, required: ["stopped"] }),
      },
    },
    async ({ params: { agent, session } }) =>
      callHandler<{ readonly stopped: boolean }>(runtime, {
        ...agentSession(runtime, agent, session),
        handler: "stop",
      }),
  );
}

async function sent(
  runtime: ServedRuntime,
  target: AgentSession & { readonly handler: string },
  input: unknown,
  idempotencyKey?: string,
): Promise<SendAnswer> {
  const { run, existing } = await runtime.submit({
    target,
    input: JSON.stringify(input),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey: checkIdempotencyKey(idempotencyKey) }),
  });
  return { runId: run, status: existing ? "previouslyAccepted" : "accepted" };
}

function branchRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.post<{ Params: Named; Body: AgentRewindRequest }>(
    "/agents/:agent/:session/rewind",
    {
      schema: {
        tags,
        summary: "Calls off what was said from an offset of the transcript on. It waits for the turn that works",
        params: params("agent", "session"),
        body: REWIND_BODY,
        response: answers({ type: "null" }, { 202: ref("Accepted") }),
      },
    },
    async ({ params: { agent, session }, body }, reply): Promise<SendAnswer> => {
      reply.code(202);
      return sent(runtime, { ...agentSession(runtime, agent, session), handler: "rewind" }, body);
    },
  );
  app.post<{ Params: Named; Body: AgentForkRequest }>(
    "/agents/:agent/:session/fork",
    {
      schema: {
        tags,
        summary: "Begins another session with what was said here, or with its beginning",
        params: params("agent", "session"),
        body: FORK_BODY,
        response: answers({ type: "object", properties: { items: { type: "integer" } }, required: ["items"] }),
      },
    },
    async ({ params: { agent, session }, body }) =>
      callHandler<{ readonly items: number }>(
        runtime,
        { ...agentSession(runtime, agent, session), handler: "fork" },
        body,
      ),
  );
}
