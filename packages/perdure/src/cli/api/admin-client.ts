// The admin API, as the commands use it. Shapes are those of packages/protocol/src/api.ts.

import type { BudgetStatus } from "@perdure/agents";
import type {
  ActionAnswer,
  AgentsAnswer,
  AgentSessionsPage,
  AgentSessionView,
  ApiEvent,
  ApprovalPage,
  AuditCheckAnswer,
  BudgetRaiseRequest,
  BulkAction,
  BulkAnswer,
  BulkMigrateAnswer,
  BulkMigrateRequest,
  BulkRequest,
  ControlChange,
  ControlsAnswer,
  ControlView,
  DeploymentsAnswer,
  ForkBody,
  HealthAnswer,
  ImageInspectionAnswer,
  JournalPage,
  MigrateRequest,
  MigrationReport,
  MomentsAnswer,
  RejectRequest,
  RewindAnswer,
  RunDetail,
  RunFilterBody,
  RunId,
  RunPage,
  RunSummary,
  ServiceManifest,
  ServicesAnswer,
  SettleRequest,
  SqlAnswer,
  StateEdit,
  StateKeysPage,
  StateView,
  VersionAnswer,
} from "@perdure/protocol";
import { eventStream, type EventStreamOptions } from "./event-stream.ts";
import { askJson, connectionError, open, refusalOf, type Connection } from "./http.ts";

export interface RunsQuery extends RunFilterBody {
  readonly order?: "newest" | "oldest";
  readonly limit: number;
  readonly cursor?: number;
}

export interface ApprovalsQuery {
  readonly status: "open" | "closed" | "all";
  readonly limit: number;
  readonly cursor?: number;
}

export type RunAction = BulkAction | "purge";

const JOURNAL_PAGE = 1_000;
/** All of a value, however long it is. */
export const PAYLOAD_MAX = 33_554_432;

export class AdminClient {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  runs(query: RunsQuery): Promise<RunPage> {
    const { status, ...rest } = query;
    return askJson(this.connection, "/runs", { query: { ...rest, status: status?.join(",") } });
  }

  /** All that match, page after page. */
  async *allRuns(query: Omit<RunsQuery, "limit" | "cursor">): AsyncGenerator<RunSummary> {
    let cursor: number | undefined;
    for (;;) {
      const page = await this.runs({ ...query, limit: 500, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.runs;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  }

  run(id: RunId, options: { readonly journalLimit?: number; readonly maxPayload?: number } = {}): Promise<RunDetail> {
    return askJson(this.connection, `/runs/${id}`, { query: { ...options } });
  }

  /** Entries after `after`, to the end. */
  async *journal(id: RunId, after: number, maxPayload?: number): AsyncGenerator<JournalPage["entries"][number]> {
    let from: number | null = after;
    while (from !== null) {
      const query: Record<string, number | undefined> = { after: from, limit: JOURNAL_PAGE, maxPayload };
      const page: JournalPage = await askJson(this.connection, `/runs/${id}/journal`, { query });
      yield* page.entries;
      from = page.nextAfter;
    }
  }

  act(id: RunId, action: RunAction): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/${action}`, { method: "POST", body: {} });
  }

  bulk(action: BulkAction, request: BulkRequest): Promise<BulkAnswer> {
    return askJson(this.connection, `/runs/${action}`, { method: "POST", body: request });
  }

  restart(id: RunId, from: number): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/restart`, { method: "POST", body: { from } });
  }

  fork(id: RunId, body: ForkBody): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/fork`, { method: "POST", body });
  }

  rewind(id: RunId, at: number): Promise<RewindAnswer> {
    return askJson(this.connection, `/runs/${id}/rewind`, { method: "POST", body: { at } });
  }

  moments(id: RunId): Promise<MomentsAnswer> {
    return askJson(this.connection, `/runs/${id}/moments`);
  }

  nameMoment(id: RunId, entry: number, name: string | null): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/moments/${entry}`, { method: "PATCH", body: { name } });
  }

  migrate(id: RunId, request: MigrateRequest): Promise<MigrationReport> {
    return askJson(this.connection, `/runs/${id}/migrate`, { method: "POST", body: request });
  }

  bulkMigrate(request: BulkMigrateRequest): Promise<BulkMigrateAnswer> {
    return askJson(this.connection, "/runs/migrate", { method: "POST", body: request });
  }

  deployments(): Promise<DeploymentsAnswer> {
    return askJson(this.connection, "/deployments");
  }

  inspectImage(id: RunId, entry: number): Promise<ImageInspectionAnswer> {
    return askJson(this.connection, `/runs/${id}/images/${entry}/inspect`);
  }

  settle(id: RunId, command: number, outcome: SettleRequest): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/effects/${command}/settle`, { method: "POST", body: outcome });
  }

  /** @param payload JSON text, passed on unchanged. */
  signal(id: RunId, name: string, payload: string | undefined): Promise<ActionAnswer> {
    return askJson(this.connection, `/runs/${id}/signals/${encodeURIComponent(name)}`, {
      method: "POST",
      body: payload,
    });
  }

  /** @param payload JSON text, passed on unchanged. */
  resolve(awakeable: string, payload: string | undefined): Promise<ActionAnswer> {
    return askJson(this.connection, `/awakeables/${encodeURIComponent(awakeable)}/resolve`, {
      method: "POST",
      body: payload,
    });
  }

  reject(awakeable: string, reason: RejectRequest): Promise<ActionAnswer> {
    return askJson(this.connection, `/awakeables/${encodeURIComponent(awakeable)}/reject`, {
      method: "POST",
      body: reason,
    });
  }

  async services(): Promise<readonly ServiceManifest[]> {
    return (await askJson<ServicesAnswer>(this.connection, "/services")).services;
  }

  stateKeys(service: string, limit: number, after: string | undefined): Promise<StateKeysPage> {
    return askJson(this.connection, `/state/${encodeURIComponent(service)}`, { query: { limit, after } });
  }

  state(service: string, key: string, maxPayload?: number): Promise<StateView> {
    return askJson(this.connection, statePath(service, key), { query: { maxPayload } });
  }

  editState(service: string, key: string, edit: StateEdit): Promise<StateView> {
    return askJson(this.connection, statePath(service, key), { method: "PATCH", body: edit });
  }

  agents(): Promise<AgentsAnswer> {
    return askJson(this.connection, "/agents");
  }

  sessions(agent: string, limit: number, after: string | undefined): Promise<AgentSessionsPage> {
    return askJson(this.connection, `/agents/${encodeURIComponent(agent)}`, { query: { limit, after } });
  }

  session(agent: string, session: string): Promise<AgentSessionView> {
    return askJson(this.connection, `/agents/${encodeURIComponent(agent)}/${encodeURIComponent(session)}`);
  }

  approvals(query: ApprovalsQuery): Promise<ApprovalPage> {
    return askJson(this.connection, "/approvals", { query: { ...query } });
  }

  budget(id: string): Promise<BudgetStatus> {
    return askJson(this.connection, `/budgets/${encodeURIComponent(id)}`);
  }

  raiseBudget(id: string, raise: BudgetRaiseRequest): Promise<BudgetStatus> {
    return askJson(this.connection, `/budgets/${encodeURIComponent(id)}/raise`, { method: "POST", body: raise });
  }

  controls(): Promise<ControlsAnswer> {
    return askJson(this.connection, "/controls");
  }

  changeControl(change: ControlChange): Promise<ControlView> {
    return askJson(this.connection, "/controls", { method: "POST", body: change });
  }

  /** Lines of the audit log, as they are stored: oldest first. */
  async *auditLines(chain: string, from: number): AsyncGenerator<string> {
    const response = await open(this.connection, "/audit", { query: { chain, from } });
    if (response.statusCode !== 200) throw await refusalOf(response, this.connection, "/audit");
    let rest = "";
    try {
      for await (const chunk of response.setEncoding("utf8")) {
        const lines = (rest + (chunk as string)).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    } catch (error) {
      throw connectionError(error as Error, this.connection);
    }
  }

  verifyAudit(chain: string): Promise<AuditCheckAnswer> {
    return askJson(this.connection, "/audit", { query: { chain, verify: true } });
  }

  sql(query: string, limit: number): Promise<SqlAnswer> {
    return askJson(this.connection, "/sql", { method: "POST", body: { query, limit } });
  }

  version(): Promise<VersionAnswer> {
    return askJson(this.connection, "/version");
  }

  /** Also while it starts or drains, which is answered with 503. */
  async health(): Promise<HealthAnswer["status"] | undefined> {
    const response = await open(this.connection, "/health");
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
    try {
      return (JSON.parse(text) as HealthAnswer).status;
    } catch {
      return undefined; // Something else answers there.
    }
  }

  /** Everything that changes, from now until it is interrupted or `signal` fires. */
  async *events(options: EventStreamOptions & { readonly signal?: AbortSignal } = {}): AsyncGenerator<ApiEvent> {
    const { signal } = options;
    const connection =
      signal === undefined
        ? this.connection
        : { ...this.connection, signal: AbortSignal.any([this.connection.signal, signal]) };
    for await (const event of eventStream(connection, "/events", options)) {
      yield { type: event.event, ...(JSON.parse(event.data) as object) } as ApiEvent;
    }
  }
}

function statePath(service: string, key: string): string {
  return `/state/${encodeURIComponent(service)}/${encodeURIComponent(key)}`;
}
