// What a person sees of agents, and does about them: sessions, open approvals, budgets, the switch for writes, the audit log.

import type { FastifyInstance } from "fastify";
import {
  APPROVALS,
  approversAt,
  AUDIT,
  BUDGETS,
  ALL_SWITCHES,
  CONTROLS,
  exportAudit,
  questionOf,
  SWITCHES,
  TRANSCRIPT,
  verifyChain,
  type ApprovalDecision,
  type ApprovalRequest,
  type AuditEntry,
  type AuditPage,
  type Session,
  type Switches,
  type WriteControl,
} from "@perdure/agents";
import {
  isFinished,
  type AgentSessionsPage,
  type AgentSessionView,
  type AgentsAnswer,
  type ApprovalPage,
  type ApprovalSummary,
  type AuditCheckAnswer,
  type BudgetRaiseRequest,
  type ControlChange,
  type ControlsAnswer,
  type ControlView,
  type Instant,
  type JsonValue,
  type Run,
} from "@perdure/protocol";
import { agentSession, readSession, turnOf, UNFINISHED, type AgentSession } from "./agent-runs.ts";
import type { ServedRuntime } from "./context.ts";
import { callHandler } from "./handler-call.ts";
import {
  AGENT_SESSIONS_QUERY,
  answers,
  APPROVALS_QUERY,
  AUDIT_QUERY,
  BUDGET_RAISE_BODY,
  CONTROL_BODY,
  params,
  ref,
} from "./schemas.ts";
import { instantText, payloadView } from "./views.ts";

const tags = ["agents"];
const COUNTED_MAX = 1_000;
const APPROVAL_BYTES_MAX = 65_536;
const AUDIT_PAGE_ENTRIES = 500;

export function agentRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  sessionRoutes(app, runtime);
  approvalRoutes(app, runtime);
  controlRoutes(app, runtime);
  budgetRoutes(app, runtime);
  auditRoute(app, runtime);
}

// Agents and their sessions
// -------------------------

function sessionRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
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
        summary: "The sessions of an agent",
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
  app.get<{ Params: { agent: string; session: string } }>(
    "/agents/:agent/:session",
    {
      schema: {
        tags,
        summary: "One session: what it does, its budget, its sub-agents, its open approvals",
        params: params("agent", "session"),
        response: answers(ref("AgentSession")),
      },
    },
    async ({ params: { agent, session } }) => sessionView(runtime, agentSession(runtime, agent, session)),
  );
}

async function sessionView(runtime: ServedRuntime, owner: AgentSession): Promise<AgentSessionView> {
  const { reader } = runtime;
  const [session, turn, queued, transcript, open] = await Promise.all([
    readSession(runtime, owner),
    turnOf(runtime, owner),
    reader.runs({ ...owner, handler: "send", status: ["queued"], limit: COUNTED_MAX }),
    runtime.readStream({ owner, name: TRANSCRIPT }, Number.MAX_SAFE_INTEGER, 1),
    openApprovals(runtime, Date.now(), COUNTED_MAX),
  ]);
  const [children, budget] = await Promise.all([childrenOf(runtime, session), budgetOf(runtime, owner)]);
  return {
    agent: owner.service,
    session: owner.key,
    state: stateOf(turn),
    turn: turn?.id ?? null,
    queued: queued.length,
    items: transcript.end,
    children,
    approvals: open.filter(({ agent, session: key }) => agent === owner.service && key === owner.key),
    budget,
  };
}

function stateOf(turn: Run | undefined): AgentSessionView["state"] {
  if (turn === undefined) return "idle";
  if (turn.status === "paused") return "paused";
  return turn.status === "running" ? "working" : "waiting";
}

async function childrenOf(runtime: ServedRuntime, session: Session | undefined): Promise<AgentSessionView["children"]> {
  const children = (session?.children ?? []).map(async ({ name, agent, key, run, background }) => {
    const found = await runtime.reader.run(run);
    return { name, agent, session: key, runId: run, background, status: found?.status ?? null };
  });
  return Promise.all(children);
}

async function budgetOf(runtime: ServedRuntime, { service, key }: AgentSession): Promise<AgentSessionView["budget"]> {
  const id = `${service}/${key}`;
  const opened = await runtime.reader.state({ service: BUDGETS, key: id });
  if (opened.size === 0) return null;
  return { id, status: await callHandler<JsonValue>(runtime, { service: BUDGETS, key: id, handler: "status" }) };
}

// Approvals
// ---------

function approvalRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.get<{ Querystring: { status: "open" | "closed" | "all"; limit: number; cursor?: number } }>(
    "/approvals",
    {
      schema: {
        tags,
        summary: "Questions to people, newest first; the ids are secrets: whoever holds one may answer",
        querystring: APPROVALS_QUERY,
        response: answers(ref("ApprovalPage")),
      },
    },
    async ({ query: { status, limit, cursor } }): Promise<ApprovalPage> => {
      const wanted = status === "all" ? {} : { status: status === "open" ? UNFINISHED : FINISHED };
      const page = cursor === undefined ? {} : { cursor };
      const runs = await runtime.reader.runs({ service: APPROVALS, handler: "run", ...wanted, ...page, limit });
      const last = runs.length < limit ? undefined : runs.at(-1);
      return { approvals: summaries(runs, Date.now()), nextCursor: last?.seq ?? null };
    },
  );
}

const FINISHED = ["succeeded", "failed", "cancelled", "killed"] as const;

async function openApprovals(runtime: ServedRuntime, now: Instant, limit: number): Promise<readonly ApprovalSummary[]> {
  return summaries(await runtime.reader.runs({ service: APPROVALS, handler: "run", status: UNFINISHED, limit }), now);
}

function summaries(runs: readonly Run[], now: Instant): readonly ApprovalSummary[] {
  return runs.flatMap((run) => (typeof run.input === "string" ? [approvalSummary(run, run.input, now)] : []));
}

/** From the run of the question alone: nothing is started for a look. It was asked when its run was made, give or take. */
function approvalSummary(run: Run, input: string, now: Instant): ApprovalSummary {
  const request = JSON.parse(input) as ApprovalRequest;
  const question = questionOf(request, run.id, run.createdAt);
  const isOpen = !isFinished(run.status);
  const approvers = isOpen ? approversAt(question, now) : [];
  return {
    id: run.key ?? "",
    state: isOpen ? "open" : endOf(run),
    kind: request.kind,
    title: request.title,
    agent: request.agent ?? null,
    session: request.session ?? null,
    tool: request.tool ?? null,
    input: request.input === undefined ? null : payloadView(JSON.stringify(request.input), APPROVAL_BYTES_MAX),
    approvers: approvers ?? null,
    askedAt: instantText(run.createdAt),
    ageMs: now - run.createdAt,
    expiresAt: question.expiresAt === undefined ? null : instantText(question.expiresAt),
  };
}

function endOf({ result }: Run): ApprovalSummary["state"] {
  if (result?.kind !== "value") return "withdrawn"; // Cancelled, killed, or refused to ask.
  return (JSON.parse(String(result.value)) as ApprovalDecision).decision;
}

// The switch for writes
// ---------------------

function controlRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.get(
    "/controls",
    { schema: { tags, summary: "The switch for agents' writes: who said what", response: answers(ref("Controls")) } },
    async (): Promise<ControlsAnswer> => {
      const switches = Object.entries(await storedSwitches(runtime));
      return { controls: switches.map(([key, control]) => controlView(key, control)) };
    },
  );
  app.post<{ Body: ControlChange }>(
    "/controls",
    {
      schema: {
        tags,
        summary: "Allows, asks for or denies the writes of all agents, one agent, or one session; gives what holds now",
        body: CONTROL_BODY,
        response: answers(ref("Control")),
      },
    },
    async ({ body: { key, ...change } }): Promise<ControlView> => {
      const set = { service: CONTROLS, key: ALL_SWITCHES, handler: "set" };
      await callHandler<WriteControl>(runtime, set, { target: key, ...change });
      const control = (await storedSwitches(runtime))[key];
      return controlView(key, control ?? { writes: "allow" }); // A session's that was set back is gone.
    },
  );
}

async function storedSwitches(runtime: ServedRuntime): Promise<Switches> {
  const stored = (await runtime.reader.state({ service: CONTROLS, key: ALL_SWITCHES })).get(SWITCHES);
  return typeof stored === "string" ? (JSON.parse(stored) as Switches) : {};
}

function controlView(key: string, { at, ...said }: WriteControl): ControlView {
  return { key, ...said, ...(at === undefined ? {} : { at: instantText(at) }) };
}

// Budgets
// -------

function budgetRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.get<{ Params: { id: string } }>(
    "/budgets/:id",
    {
      schema: {
        tags,
        summary: "How a budget stands; an agent's is agent/session, with the slash as %2F",
        params: params("id"),
        response: answers(ref("Budget")),
      },
    },
    async ({ params: { id } }) => callHandler<JsonValue>(runtime, { service: BUDGETS, key: id, handler: "status" }),
  );
  app.post<{ Params: { id: string }; Body: BudgetRaiseRequest }>(
    "/budgets/:id/raise",
    {
      schema: {
        tags,
        summary: "Adds to a budget's limits; calls that wait for room go on",
        params: params("id"),
        body: BUDGET_RAISE_BODY,
        response: answers(ref("Budget")),
      },
    },
    async ({ params: { id }, body }) =>
      callHandler<JsonValue>(runtime, { service: BUDGETS, key: id, handler: "raise" }, body),
  );
}

// The audit log
// -------------

function auditRoute(app: FastifyInstance, runtime: ServedRuntime): void {
  const response = answers({
    description: "An entry a line, oldest first; with ?verify=true one object (AuditCheckAnswer)",
    content: {
      "application/x-ndjson": { schema: { type: "string" } },
      "application/json": { schema: ref("AuditCheck") },
    },
  });
  app.get<{ Querystring: { chain: string; from: number; verify: boolean } }>(
    "/audit",
    {
      schema: {
        tags,
        summary: "The audit log as JSON lines, or whether it is what was recorded",
        querystring: AUDIT_QUERY,
        response,
      },
    },
    async ({ query: { chain, from, verify } }, reply) => {
      const read = (range: { readonly from?: number; readonly limit?: number }): Promise<AuditPage> =>
        callHandler(runtime, { service: AUDIT, key: chain, handler: "read" }, range);
      if (verify) return checkAudit(chain, read);
      await read({ limit: 1 }); // What cannot be read is an error, and no half answer.
      const lines = exportAudit(read, { from, pageEntries: AUDIT_PAGE_ENTRIES });
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "application/x-ndjson" });
      try {
        for await (const line of lines) {
          if (reply.raw.destroyed) return reply;
          if (!reply.raw.write(line)) await new Promise<void>((resolve) => resolveWithRoom(reply.raw, resolve));
        }
        reply.raw.end();
      } catch {
        reply.raw.destroy(); // Half of it is out: the connection's end says that it is not whole.
      }
      return reply;
    },
  );
}

function resolveWithRoom(
  res: { once(event: "drain" | "close", callback: () => void): unknown },
  resolve: () => void,
): void {
  res.once("drain", resolve);
  res.once("close", resolve);
}

/** Page by page: a long log is not held in memory. */
async function checkAudit(
  chain: string,
  read: (range: { readonly from?: number; readonly limit?: number }) => Promise<AuditPage>,
): Promise<AuditCheckAnswer> {
  let after = { count: 0, hash: "0".repeat(64) };
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page: AuditPage = await read({ from: next, limit: AUDIT_PAGE_ENTRIES });
    const entries: readonly AuditEntry[] = page.entries;
    // The head is stored beside the entries: at the last page it says that none was cut off.
    const check = verifyChain(entries, page.next === undefined ? { after, head: page.head } : { after });
    if (!check.ok) return { chain, ...check };
    after = { count: check.count, hash: check.head };
    next = page.next;
  }
  return { chain, ok: true, count: after.count, head: after.hash };
}
