// What a person sees of agents, and does about them: sessions and approvals, which have files of their own, budgets, the
// switch for writes, the audit log.

import type { FastifyInstance } from "fastify";
import {
  AUDIT,
  BUDGETS,
  ALL_SWITCHES,
  CONTROLS,
  exportAudit,
  SWITCHES,
  verifyChain,
  type AuditEntry,
  type AuditPage,
  type Switches,
  type WriteControl,
} from "@perdure/agents";
import type {
  AuditCheckAnswer,
  BudgetRaiseRequest,
  ControlChange,
  ControlsAnswer,
  ControlView,
  JsonValue,
} from "@perdure/protocol";
import { approvalRoutes } from "./admin-approvals.ts";
import { sessionRoutes } from "./admin-sessions.ts";
import type { AdminOptions, ServedRuntime } from "./context.ts";
import { callHandler } from "./handler-call.ts";
import { answers, AUDIT_QUERY, BUDGET_RAISE_BODY, CONTROL_BODY, params, ref } from "./schemas.ts";
import { instantText } from "./views.ts";

const tags = ["agents"];
const AUDIT_PAGE_ENTRIES = 500;

export function agentRoutes(app: FastifyInstance, runtime: ServedRuntime, options: AdminOptions): void {
  sessionRoutes(app, runtime);
  approvalRoutes(app, runtime, options);
  controlRoutes(app, runtime);
  budgetRoutes(app, runtime);
  auditRoute(app, runtime);
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
