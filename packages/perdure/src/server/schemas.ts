// JSON Schemas of the API, for OpenAPI and for checking requests. Answers are not serialised by them.

import { RUN_STATUSES } from "@perdure/protocol";

type Json = Record<string, unknown>;

const text: Json = { type: "string" };
const instant: Json = { type: "string", format: "date-time" };
const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: "null" }] });
const object = (properties: Record<string, Json>, required: readonly string[] = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
});
const list = (items: Json): Json => ({ type: "array", items });
export const ref = (name: string): Json => ({ $ref: `${name}#` });

export const API_ERROR_SCHEMA: Json = object(
  {
    error: object(
      {
        code: { type: "string", description: "Stable: P0021. Its page is docs/errors/P0021.md" },
        message: text,
        status: { type: "integer" },
        runId: text,
        path: { type: "string", description: "The place in the request or the input that is wrong" },
        metadata: { type: "object", additionalProperties: text },
      },
      ["code", "message", "status"],
    ),
  },
  ["error"],
);

const status: Json = { type: "string", enum: [...RUN_STATUSES] };
const count: Json = { type: "integer", minimum: 0 };
const payload: Json = {
  description: "The JSON value; {base64} for bytes; {omitted: bytes} where it is longer than asked for",
};

const failure: Json = object(
  {
    code: { type: "integer" },
    message: text,
    errorCode: text,
    stack: text,
    metadata: { type: "object", additionalProperties: text },
  },
  ["code", "message"],
);

const result: Json = object(
  { kind: { type: "string", enum: ["value", "void", "failure"] }, value: payload, failure: ref("Failure") },
  ["kind"],
);

const summary: Record<string, Json> = {
  id: text,
  seq: count,
  service: text,
  handler: text,
  key: orNull(text),
  mode: text,
  status: ref("RunStatus"),
  idempotencyKey: orNull(text),
  parent: orNull(object({ runId: text, command: count, awaited: { type: "boolean" } })),
  forkedFrom: orNull(object({ runId: text, entry: count })),
  deployment: orNull(text),
  createdAt: instant,
  changedAt: instant,
  scheduledAt: orNull(instant),
  finishedAt: orNull(instant),
  generation: count,
  retry: orNull(object({ tries: count, failure: ref("Failure"), at: orNull(instant) })),
  awaiting: orNull(list({ type: "object" })),
  pausedBy: orNull(ref("Failure")),
  cancelling: orNull(object({ waitingFor: list(text) })),
  failure: orNull(ref("Failure")),
};

const entry: Json = {
  ...object({
    kind: { type: "string", enum: ["command", "completion", "signal", "retry", "resumed"] },
    index: count,
    at: instant,
  }),
  description: "One entry of the journal; further properties depend on its kind",
};

const MIGRATION_REPORT: Json = object({
  runId: text,
  dryRun: { type: "boolean" },
  outcome: { type: "string", enum: ["migrated", "planned", "unchanged", "refused"] },
  point: orNull(text),
  from: orNull(text),
  to: orNull(text),
  reason: orNull(text),
});

const overlap: Json = { type: "string", enum: ["skip", "queue", "parallel", "cancel"] };
const catchUp: Json = { type: "string", enum: ["none", "latest", "all"] };
const writeMode: Json = { type: "string", enum: ["allow", "ask", "deny"] };

const messagePolicy: Json = { type: "string", enum: ["steer", "interrupt", "queue", "collect", "restart"] };

const sessionSummary: Record<string, Json> = {
  agent: text,
  session: text,
  state: { type: "string", enum: ["idle", "working", "waiting", "paused"] },
  turn: orNull(text),
  waits: list(ref("Wait")),
  queued: count,
  items: count,
  activeAt: orNull(instant),
  usage: ref("AgentUsage"),
};

const wait: Json = {
  ...object({
    kind: { type: "string", enum: ["timer", "run", "step", "promise", "awakeable", "signal", "time", "command"] },
  }),
  description: "One thing that the run waits for; further properties depend on its kind",
};

/** Shared schemas by name, with what each of them holds. */
export const COMPONENTS: Readonly<Record<string, Json>> = {
  Error: API_ERROR_SCHEMA,
  RunStatus: status,
  Failure: failure,
  Result: result,
  RunSummary: object(summary),
  Moment: object({ entry: count, hash: text, base: text, size: count, at: instant, name: orNull(text) }),
  MomentsAnswer: object({ moments: list(ref("Moment")) }),
  RewindAnswer: object({ runId: text, status: orNull(ref("RunStatus")), branch: text }),
  Run: object(
    {
      ...summary,
      input: payload,
      headers: orNull({ type: "object", additionalProperties: text }),
      migrated: object({ point: text, at: instant }),
      migrating: object({ to: orNull(text) }),
      result: orNull(ref("Result")),
    },
    [...Object.keys(summary), "input", "headers", "result"],
  ),
  Entry: entry,
  Wait: wait,
  RunPage: object({ runs: list(ref("RunSummary")), nextCursor: orNull(count) }),
  JournalPage: object({ entries: list(ref("Entry")), nextAfter: orNull(count) }),
  RunDetail: object({
    run: ref("Run"),
    live: { type: "boolean" },
    waits: list(ref("Wait")),
    entries: count,
    journal: ref("JournalPage"),
    children: ref("RunPage"),
  }),
  ActionAnswer: object({ runId: text, status: orNull(ref("RunStatus")) }),
  BulkAnswer: object({
    dryRun: { type: "boolean" },
    matched: count,
    done: count,
    failed: list(object({ runId: text, code: text, message: text })),
    runs: list(text),
  }),
  ImageInspection: object({
    runId: text,
    entry: count,
    name: orNull(text),
    at: instant,
    hash: text,
    bytes: count,
    engine: text,
    isOurEngine: { type: "boolean" },
    base: text,
    bundle: text,
    memoryBytes: count,
    changedBytes: count,
    pages: object({ pageBytes: count, total: count, changed: count, code: count, heap: count, free: count }),
    heap: orNull({ type: "object", description: "As the engine counts it; null where another one made the image" }),
    entriesAfter: count,
    waits: list(ref("Wait")),
  }),
  MigrationReport: MIGRATION_REPORT,
  BulkMigrateAnswer: object({
    dryRun: { type: "boolean" },
    matched: count,
    outcomes: object({ migrated: count, planned: count, unchanged: count, refused: count }),
    runs: list(MIGRATION_REPORT),
  }),
  Deployments: object({
    deployments: list(
      object({
        hash: text,
        entry: text,
        createdAt: orNull(text),
        services: list(text),
        bytes: count,
        bases: list(object({ hash: text, bytes: count })),
        runs: { type: "object", additionalProperties: count },
      }),
    ),
  }),
  Service: {
    ...object({
      name: text,
      kind: { type: "string", enum: ["service", "object", "workflow"] },
      handlers: list({ type: "object" }),
    }),
  },
  StateKeysPage: object({ keys: list(text), nextAfter: orNull(text) }),
  State: object({ service: text, key: text, state: { type: "object", additionalProperties: payload } }),
  RunStreams: object({
    owner: {
      ...object({ service: text, key: text, run: text }, []),
      description: "The key, or the run where it has none",
    },
    streams: list(object({ name: text, start: count, end: count })),
  }),
  SendAnswer: object({ runId: text, status: { type: "string", enum: ["accepted", "previouslyAccepted"] } }),
  Schedule: object({
    name: text,
    paused: { type: "boolean" },
    timing: {
      ...object({ kind: { type: "string", enum: ["cron", "every"] }, cron: text, timeZone: text, everyMs: count }, [
        "kind",
      ]),
    },
    target: object({ service: text, handler: text, key: orNull(text) }),
    keyPerStart: { type: "boolean", description: "Each start has a key of its own" },
    input: payload,
    overlap,
    catchUp,
    jitterMs: count,
    exported: { type: "boolean", description: "A module exports it: it is put again when the runtime starts" },
    next: list(object({ scheduledFor: instant, at: instant })),
    history: list(
      object({
        id: text,
        scheduledFor: instant,
        decidedAt: instant,
        runId: orNull(text),
        status: orNull(ref("RunStatus")),
        outcome: text,
      }),
    ),
  }),
  Schedules: object({ schedules: list(ref("Schedule")), nextAfter: orNull(text), served: { type: "boolean" } }),
  ScheduleTriggered: object({ runId: orNull(text), outcome: text }),
  SqlAnswer: object({ columns: list(text), rows: list({ type: "array", items: {} }), truncated: { type: "boolean" } }),
  Agents: object({
    agents: list(object({ name: text, description: orNull(text), sessions: count, open: count })),
  }),
  AgentSessions: object({ sessions: list(text), nextAfter: orNull(text) }),
  AgentUsage: object({
    inputTokens: count,
    outputTokens: count,
    calls: count,
    usd: { type: "number" },
    unpriced: count,
  }),
  AgentSessionSummary: object(sessionSummary),
  AgentSessionList: object({ sessions: list(ref("AgentSessionSummary")), nextOffset: orNull(count) }),
  AgentSession: object({
    ...sessionSummary,
    pending: list(object({ runId: text, text, policy: ref("MessagePolicy"), from: orNull(text), at: instant })),
    children: list(
      object({
        name: text,
        agent: text,
        session: text,
        runId: text,
        background: { type: "boolean" },
        status: orNull(ref("RunStatus")),
      }),
    ),
    approvals: list(ref("Approval")),
    budget: orNull(object({ id: text, status: ref("Budget") })),
  }),
  MessagePolicy: { ...messagePolicy, description: "What becomes of it while the agent is at work. Default steer" },
  Accepted: object({ runId: text, status: { type: "string", enum: ["accepted", "previouslyAccepted"] } }),
  StreamPage: object({
    items: list(object({ offset: count, at: instant, writer: orNull(text), item: {} })),
    start: count,
    end: count,
  }),
  Approval: object({
    id: text,
    state: { type: "string", enum: ["open", "approved", "rejected", "expired", "withdrawn"] },
    kind: { type: "string", enum: ["tool", "budget", "custom"] },
    title: text,
    agent: orNull(text),
    session: orNull(text),
    tool: orNull(text),
    input: payload,
    approvers: { ...orNull(list(text)), description: "null: anyone who holds the id" },
    askedAt: instant,
    ageMs: count,
    expiresAt: orNull(instant),
    runId: text,
    askedBy: { ...orNull(text), description: "The run that waits for the answer" },
    details: payload,
    decision: orNull(object({ by: text, at: instant, comment: text, input: payload }, ["at"])),
  }),
  ApprovalPage: object({ approvals: list(ref("Approval")), nextCursor: orNull(count) }),
  AuditCheck: object({ chain: text, ok: { type: "boolean" }, count, head: text, at: count, why: text }, [
    "chain",
    "ok",
  ]),
  Control: object({ key: text, writes: writeMode, by: text, reason: text, at: instant }, ["key", "writes"]),
  Controls: object({ controls: list(ref("Control")) }),
  Budget: { type: "object", description: "Limits, what is spent, reserved and waited for, the open question" },
  Health: object({ status: { type: "string", enum: ["ok", "starting", "draining"] } }),
  Version: object({ version: text, node: text, startedAt: instant, deployment: orNull(text) }),
};

const limit = (max: number, standard: number): Json => ({
  type: "integer",
  minimum: 1,
  maximum: max,
  default: standard,
});

const MAX_PAYLOAD: Json = {
  type: "integer",
  minimum: 0,
  maximum: 33_554_432,
  default: 65_536,
  description: "Payloads of more bytes than this are only measured",
};

const filters: Record<string, Json> = {
  service: text,
  handler: text,
  key: text,
  createdAfter: { type: "string", description: "ISO 8601" },
  createdBefore: { type: "string", description: "ISO 8601" },
  parent: { type: "string", description: "Run id" },
  builtIn: { type: "boolean", description: "false leaves out runs of the runtime's own services" },
};

const closed = (properties: Record<string, Json>, required: readonly string[] = []): Json => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

export const RUNS_QUERY: Json = closed({
  status: { type: "array", items: text, description: "Repeated, or separated by commas" },
  ...filters,
  order: { type: "string", enum: ["newest", "oldest"], default: "newest" },
  limit: limit(1_000, 100),
  cursor: { type: "integer", minimum: 0, description: "nextCursor of the page before" },
});
export const RUN_QUERY: Json = closed({ journalLimit: limit(1_000, 200), maxPayload: MAX_PAYLOAD });
export const JOURNAL_QUERY: Json = closed({
  after: { type: "integer", minimum: 0, default: 0 },
  limit: limit(1_000, 200),
  maxPayload: MAX_PAYLOAD,
});
export const STATE_KEYS_QUERY: Json = closed({ after: text, limit: limit(1_000, 100) });
export const STATE_QUERY: Json = closed({ maxPayload: MAX_PAYLOAD });
export const EVENTS_QUERY: Json = closed({
  after: {
    type: "string",
    description: "The id of the last event that was seen; the header Last-Event-ID says the same",
  },
  run: { type: "string", description: "Only what concerns this run" },
  service: { type: "string", description: "Only what concerns this service" },
});

export const AGENT_SESSIONS_QUERY: Json = closed({ after: text, limit: limit(1_000, 100) });
export const APPROVALS_QUERY: Json = closed({
  status: { type: "string", enum: ["open", "closed", "all"], default: "open" },
  limit: limit(1_000, 100),
  cursor: { type: "integer", minimum: 0, description: "nextCursor of the page before" },
});
export const SESSIONS_QUERY: Json = closed({
  agent: { type: "string", description: "Only this agent's" },
  find: { type: "string", description: "Words that agent/session has" },
  top: { type: "boolean", default: false, description: "Leaves out those below other sessions: of sub-agents" },
  limit: limit(500, 100),
  offset: { type: "integer", minimum: 0, default: 0, description: "nextOffset of the page before" },
});
export const MESSAGE_BODY: Json = closed(
  {
    text: { type: "string", minLength: 1 },
    policy: messagePolicy,
    from: { type: "string", minLength: 1, description: "Who says it; absent: the user" },
  },
  ["text"],
);
export const REWIND_BODY: Json = closed({ to: count }, ["to"]);
export const FORK_BODY: Json = closed({ to: { type: "string", minLength: 1 }, at: count }, ["to"]);
export const ANSWER_BODY: Json = closed(
  {
    decision: { type: "string", enum: ["approved", "rejected"] },
    by: { type: "string", minLength: 1 },
    comment: text,
    input: { description: "What to do instead of what was asked" },
  },
  ["decision", "by"],
);
/** Checked by the route itself, as on the ingress. */
export const STREAM_QUERY: Json = closed({
  from: { type: "string", description: "An offset, or `end`: only what comes. Default 0" },
  limit: { type: "string", description: "Items of the page, at most 1000. Default 100" },
  follow: { type: "string", enum: ["true", "false"], description: "false: one page, as JSON" },
});
export const AUDIT_QUERY: Json = closed({
  chain: { type: "string", default: "main" },
  from: { type: "integer", minimum: 0, default: 0, description: "The first entry" },
  verify: { type: "boolean", default: false, description: "Checks the whole chain instead" },
});
export const CONTROL_BODY: Json = closed(
  {
    key: { type: "string", minLength: 1, description: "`*`, an agent's name, or agent/session" },
    writes: writeMode,
    by: { type: "string", minLength: 1 },
    reason: text,
  },
  ["key", "writes", "by"],
);
export const BUDGET_RAISE_BODY: Json = closed({
  tokens: count,
  usd: { type: "number", minimum: 0 },
  wall: { anyOf: [text, { type: "number", minimum: 0 }], description: "10m, 2h, or milliseconds" },
  calls: count,
  models: { ...list(text), description: "Models that may be called although their price is not known" },
  by: text,
  comment: text,
});

export const EMPTY_BODY: Json = orNull(closed({}));
export const RESTART_BODY: Json = orNull(
  closed({
    from: {
      type: "integer",
      minimum: 1,
      description: "The first entry that is dropped; absent or 1: all, it starts anew",
    },
  }),
);
const ENTRY: Json = { type: "integer", minimum: 0 };
export const RUN_FORK_BODY: Json = orNull(
  closed({
    at: { ...ENTRY, description: "The last entry that is shared; absent: all there are; 0: nothing but the input" },
    key: { type: "string", minLength: 1, description: "Of the fork of an exclusive handler; absent: one is made" },
    input: { description: "Another input, where nothing is shared" },
    note: { description: "Given to the fork as the signal perdure.fork" },
  }),
);
export const RUN_REWIND_BODY: Json = closed({ at: { ...ENTRY, description: "The last entry that stays" } }, ["at"]);
export const MOMENT_BODY: Json = closed(
  {
    name: {
      ...orNull({ type: "string", minLength: 1, maxLength: 100, pattern: "\\D" }),
      description: "Not a number alone; null takes it away",
    },
  },
  ["name"],
);
export const BULK_BODY: Json = closed(
  {
    filter: closed({ status: { type: "array", items: status }, ...filters }),
    dryRun: { type: "boolean", default: false },
    all: { type: "boolean", default: false, description: "An empty filter means every run: that has to be said" },
  },
  ["filter"],
);
const MIGRATION: Record<string, Json> = {
  to: { type: "string", description: 'A bundle, by the beginning of its hash; absent or "latest": that of new runs' },
  dryRun: { type: "boolean", description: "Change nothing: say what would happen" },
  whenSafe: { type: "boolean", description: "One that is at no safe point: when it comes to one" },
};
export const MIGRATE_BODY: Json = orNull(closed(MIGRATION));
export const BULK_MIGRATE_BODY: Json = closed(
  {
    filter: closed({ status: { type: "array", items: status }, ...filters }),
    all: { type: "boolean", default: false, description: "An empty filter means every run: that has to be said" },
    ...MIGRATION,
  },
  ["filter"],
);
export const SETTLE_BODY: Json = closed({
  happened: { type: "boolean", description: "true: it did, `value` is its result; false: it did not, run it again" },
  value: { description: "The result; absent: void" },
  failure: closed({ message: text, code: { type: "integer", minimum: 400, maximum: 599 } }, ["message"]),
});
export const STATE_BODY: Json = closed({
  set: { type: "object", additionalProperties: {}, description: "Values, written as JSON" },
  clear: list(text),
  expect: {
    ...closed({ values: { type: "object", additionalProperties: {} }, absent: list(text) }),
    description: "What has to be there still; 409 where it is not",
  },
  force: { type: "boolean", default: false, description: "Also while a run has the key's turn" },
});
export const SCHEDULES_QUERY: Json = closed({ after: text, limit: limit(500, 100) });
const duration: Json = { anyOf: [{ type: "number", minimum: 0 }, text], description: "15m, 2h, or milliseconds" };
export const SCHEDULE_BODY: Json = closed(
  {
    cron: { type: "string", description: "Five fields, or six with seconds first" },
    timeZone: { type: "string", description: "Of cron: an IANA name; UTC where absent" },
    every: duration,
    target: closed({ service: text, handler: text, key: text, keyPerStart: { type: "boolean" } }, [
      "service",
      "handler",
    ]),
    input: payload,
    overlap,
    catchUp,
    jitter: duration,
    paused: { type: "boolean" },
  },
  ["target"],
);
export const CALL_QUERY: Json = closed({ delay: { type: "string", description: "10s, 5m, 2h, 7d, or ISO 8601" } });
export const SQL_BODY: Json = closed({ query: { type: "string", minLength: 1 }, limit: limit(10_000, 1_000) }, [
  "query",
]);

/** Parts of paths that are numbers. */
const NUMBERED: ReadonlySet<string> = new Set(["command", "entry"]);

export function params(...names: readonly string[]): Json {
  return object(
    Object.fromEntries(names.map((name) => [name, NUMBERED.has(name) ? { type: "integer", minimum: 1 } : text])),
  );
}

/** Responses as OpenAPI shows them. */
export function answers(success: Json, extra: Record<number, Json> = {}): Record<string, Json> {
  const error = (description: string): Json => ({ description, ...ref("Error") });
  return {
    200: success,
    ...extra,
    "4xx": error("The request is refused"),
    "5xx": error("The server cannot answer now"),
  };
}
