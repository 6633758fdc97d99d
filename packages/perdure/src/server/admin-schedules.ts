// What a person sees of schedules, and does about them
// ====================================================
// They are read from their state, which starts no runs; what changes them is a run of the object that keeps them.

import type { FastifyInstance } from "fastify";
import {
  SCHEDULES,
  specProblem,
  upcomingTimes,
  type ScheduleRecord,
  type ScheduleStart,
  type ScheduleState,
} from "@perdure/agents";
import {
  BadRequestError,
  UnknownTargetError,
  type JsonValue,
  type Payload,
  type RunStatus,
  type SchedulePut,
  type SchedulesPage,
  type ScheduleStartView,
  type ScheduleSummary,
  type ScheduleTriggered,
} from "@perdure/protocol";
import type { ServedRuntime } from "./context.ts";
import { callHandler } from "./handler-call.ts";
import { EMPTY_BODY, SCHEDULE_BODY, SCHEDULES_QUERY, answers, params, ref } from "./schemas.ts";
import { instantText } from "./views.ts";

const tags = ["schedules"];
const ACTIONS = {
  pause: "Hold it until it is resumed",
  resume: "Let it go on; what it missed is made up for as its catchUp says",
  remove: "End it; what it started goes on, what waits is withdrawn",
} as const;

interface Name {
  readonly name: string;
}

export function scheduleRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  readRoutes(app, runtime);
  app.post<{ Params: Name; Body: SchedulePut }>(
    "/schedules/:name",
    {
      schema: {
        tags,
        summary: "Create a schedule, or change the one of that name",
        params: params("name"),
        body: SCHEDULE_BODY,
        response: answers(ref("Schedule")),
      },
    },
    async ({ params: { name }, body }) => {
      checkServed(runtime);
      checkStarts(runtime, body);
      const problem = specProblem(body);
      if (problem !== undefined) throw new BadRequestError(problem);
      await callHandler<ScheduleState>(runtime, of(name, "put"), body);
      return read(runtime, name);
    },
  );
  for (const action of ["pause", "resume", "remove"] as const) {
    const schema = {
      tags,
      summary: ACTIONS[action],
      params: params("name"),
      body: EMPTY_BODY,
      response: answers({ type: "object" }),
    };
    app.post<{ Params: Name }>(`/schedules/:name/${action}`, { schema }, async ({ params: { name } }) => {
      checkServed(runtime);
      await callHandler(runtime, of(name, action));
      return {};
    });
  }
  app.post<{ Params: Name }>(
    "/schedules/:name/trigger",
    {
      schema: {
        tags,
        summary: "Start it now, also while it is paused",
        params: params("name"),
        body: EMPTY_BODY,
        response: answers(ref("ScheduleTriggered")),
      },
    },
    async ({ params: { name } }): Promise<ScheduleTriggered> => {
      checkServed(runtime);
      const { run, outcome } = await callHandler<ScheduleStart>(runtime, of(name, "trigger"));
      return { runId: run, outcome };
    },
  );
}

function readRoutes(app: FastifyInstance, runtime: ServedRuntime): void {
  app.get<{ Querystring: { after?: string; limit: number } }>(
    "/schedules",
    {
      schema: {
        tags,
        summary: "What starts when, and what became of it",
        querystring: SCHEDULES_QUERY,
        response: answers(ref("Schedules")),
      },
    },
    async ({ query: { after, limit } }): Promise<SchedulesPage> => {
      const keys = await runtime.reader.stateKeys(SCHEDULES, after ?? null, limit);
      const schedules = await Promise.all(keys.map((name) => find(runtime, name)));
      return {
        schedules: schedules.filter((schedule) => schedule !== null),
        nextAfter: keys.length < limit ? null : (keys.at(-1) ?? null),
        served: runtime.catalog.service(SCHEDULES) !== undefined,
      };
    },
  );
  app.get<{ Params: Name }>(
    "/schedules/:name",
    { schema: { tags, summary: "One schedule", params: params("name"), response: answers(ref("Schedule")) } },
    async ({ params: { name } }) => read(runtime, name),
  );
}

const of = (key: string, handler: string): { service: string; key: string; handler: string } => ({
  service: SCHEDULES,
  key,
  handler,
});

/** @throws UnknownTargetError */
async function read(runtime: ServedRuntime, name: string): Promise<ScheduleSummary> {
  const found = await find(runtime, name);
  if (found === null)
    throw new UnknownTargetError(`there is no schedule "${name}": GET /schedules lists those that are`);
  return found;
}

/** Null: there is none of that name. */
async function find(runtime: ServedRuntime, name: string): Promise<ScheduleSummary | null> {
  const state = await runtime.reader.state({ service: SCHEDULES, key: name });
  const record = parsed<ScheduleRecord>(state.get("schedule"));
  if (record === undefined) return null;
  const { spec, paused } = record;
  const { service, handler, key = null, keyPerStart = false } = spec.target;
  const history = parsed<readonly ScheduleStart[]>(state.get("history")) ?? [];
  const next = paused ? [] : upcomingTimes(name, record);
  return {
    name,
    paused,
    timing: spec.timing,
    target: { service, handler, key },
    keyPerStart,
    input: (spec.input ?? null) as JsonValue,
    overlap: spec.overlap,
    catchUp: spec.catchUp,
    jitterMs: spec.jitterMs,
    exported: spec.exported,
    next: next.map(({ scheduledFor, at }) => ({ scheduledFor: instantText(scheduledFor), at: instantText(at) })),
    history: await Promise.all(history.map((start) => startView(runtime, start))),
  };
}

async function startView(
  runtime: ServedRuntime,
  { id, scheduledFor, at, run, outcome }: ScheduleStart,
): Promise<ScheduleStartView> {
  const status: RunStatus | null = run === null ? null : ((await runtime.reader.run(run))?.status ?? null);
  return { id, scheduledFor: instantText(scheduledFor), decidedAt: instantText(at), runId: run, status, outcome };
}

function parsed<T>(payload: Payload | undefined): T | undefined {
  return payload === undefined ? undefined : (JSON.parse(String(payload)) as T);
}

/** @throws UnknownTargetError where nothing here keeps schedules. */
function checkServed(runtime: ServedRuntime): void {
  if (runtime.catalog.service(SCHEDULES) === undefined)
    throw new UnknownTargetError(
      "nothing that is served has a schedule: export schedule(…) from a file that is served",
    );
}

/** How a target says on which key it starts. */
const KEY_RULES = {
  perStart: "is a workflow, which runs once per key: say keyPerStart, and no key",
  key: "needs a key on which it is started",
  none: "is a service and has no keys",
} as const;

/** A schedule of what does not exist would fail at each of its times. @throws UnknownTargetError, BadRequestError */
function checkStarts({ catalog }: ServedRuntime, { target }: SchedulePut): void {
  const { service, handler, key, keyPerStart = false } = target;
  const found = catalog.service(service);
  const mode = found?.handlers.find(({ name }) => name === handler)?.mode;
  if (found === undefined || mode === undefined) throw catalog.unknown({ service, handler });
  const needs = mode === "workflow" ? "perStart" : found.kind === "service" ? "none" : "key";
  const has = keyPerStart ? "perStart" : key === undefined ? "none" : "key";
  if (needs !== has || (keyPerStart && key !== undefined))
    throw new BadRequestError(`${service}/${handler} ${KEY_RULES[needs]}`);
}
