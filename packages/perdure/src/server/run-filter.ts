// Filters of runs, from a query or a body.

import type { RunFilter } from "@perdure/engine";
import { BadRequestError, RUN_STATUSES, parseRunId, type Instant, type RunStatus } from "@perdure/protocol";

interface AskedFilter {
  readonly status?: readonly string[];
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly parent?: string;
  readonly builtIn?: boolean;
}

type Filter = Omit<RunFilter, "limit" | "cursor" | "order">;

/** @throws BadRequestError */
export function parseFilter(asked: AskedFilter): Filter {
  const filter: { -readonly [K in keyof Filter]: Filter[K] } = {};
  if (asked.status !== undefined) filter.status = asked.status.flatMap((text) => text.split(",")).map(parseStatus);
  if (asked.service !== undefined) filter.service = asked.service;
  if (asked.handler !== undefined) filter.handler = asked.handler;
  if (asked.key !== undefined) filter.key = asked.key;
  if (asked.createdAfter !== undefined) filter.createdAfter = parseInstant("createdAfter", asked.createdAfter);
  if (asked.createdBefore !== undefined) filter.createdBefore = parseInstant("createdBefore", asked.createdBefore);
  if (asked.builtIn !== undefined) filter.builtIn = asked.builtIn;
  if (asked.parent !== undefined) {
    const parent = parseRunId(asked.parent);
    if (parent === undefined)
      throw new BadRequestError(`parent: "${asked.parent}" is not a run id`, { metadata: { path: "$.parent" } });
    filter.parent = parent;
  }
  return filter;
}

function parseStatus(text: string): RunStatus {
  const status = RUN_STATUSES.find((known) => known === text.trim());
  if (status === undefined)
    throw new BadRequestError(`"${text}" is not a status: there are ${RUN_STATUSES.join(", ")}`, {
      metadata: { path: "$.status" },
    });
  return status;
}

function parseInstant(name: string, text: string): Instant {
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new BadRequestError(`${name}: "${text}" is not a time: write ISO 8601, as in 2026-01-31T12:00:00Z`, {
      metadata: { path: `$.${name}` },
    });
  return at;
}
