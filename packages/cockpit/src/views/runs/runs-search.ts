// The filters of the runs, as they stand in the address, as the API is asked, and as a run that just changed is judged.
//
// F1. `matcher` says of a run what the API would say: what is live and what is read agree.

import {
  parseDuration,
  parseRunId,
  RUN_STATUSES,
  type RunFilterBody,
  type RunStatus,
  type RunSummary,
} from "@perdure/protocol";
import type { Query } from "../../api/client.ts";
import { isNoise } from "../../live/own-services.ts";

/** All texts: the address. */
export interface RunsSearch {
  /** Statuses, separated by commas. */
  readonly status?: string;
  readonly service?: string;
  readonly handler?: string;
  readonly key?: string;
  readonly parent?: string;
  /** Created within this duration, or since this instant. */
  readonly since?: string;
  /** Created before this instant. */
  readonly until?: string;
  readonly order?: "oldest";
  /** Also what the runtime does for itself, and did well. */
  readonly own?: "shown";
}

const TEXTS = ["status", "service", "handler", "key", "parent", "since", "until"] as const;

/** What is not known, or is none, is left out: an address that was cut still shows something. */
export function readRunsSearch(raw: Readonly<Record<string, unknown>>): RunsSearch {
  const search: { -readonly [Name in keyof RunsSearch]: RunsSearch[Name] } = {};
  for (const name of TEXTS) {
    const value = raw[name];
    if (typeof value === "string" && value !== "") search[name] = value;
  }
  if (raw["order"] === "oldest") search.order = "oldest";
  if (raw["own"] === "shown") search.own = "shown";
  const statuses = statusesOf(search);
  if (statuses.length === 0) delete search.status;
  else search.status = statuses.join(",");
  return search;
}

export function statusesOf({ status = "" }: RunsSearch): readonly RunStatus[] {
  const asked = status.split(",").map((text) => text.trim());
  return RUN_STATUSES.filter((known) => asked.includes(known));
}

/** As the bulk routes take it. */
export function filterBody(search: RunsSearch, now: number): RunFilterBody {
  const { service, handler, key } = search;
  const statuses = statusesOf(search);
  const after = instantOf(search.since, now);
  const before = instantOf(search.until, now);
  const parent = parseRunId(search.parent ?? "");
  return {
    ...(statuses.length === 0 ? {} : { status: statuses }),
    ...(service === undefined ? {} : { service }),
    ...(handler === undefined ? {} : { handler }),
    ...(key === undefined ? {} : { key }),
    ...(parent === undefined ? {} : { parent }),
    ...(after === null ? {} : { createdAfter: new Date(after).toISOString() }),
    ...(before === null ? {} : { createdBefore: new Date(before).toISOString() }),
  };
}

export function runsQuery(search: RunsSearch, now: number, limit: number, cursor: number | null): Query {
  return {
    ...filterBody(search, now),
    order: search.order ?? "newest",
    limit,
    ...(cursor === null ? {} : { cursor }),
  };
}

/** F1. What a search says of runs; made once, and asked of thousands. */
export function matcher(search: RunsSearch, now: number): (run: RunSummary) => boolean {
  const { status, service, handler, key, parent, createdAfter, createdBefore } = filterBody(search, now);
  const after = createdAfter === undefined ? null : Date.parse(createdAfter);
  const before = createdBefore === undefined ? null : Date.parse(createdBefore);
  return (run) =>
    (status === undefined || status.includes(run.status)) &&
    (service === undefined || service === run.service) &&
    (handler === undefined || handler === run.handler) &&
    (key === undefined || key === run.key) &&
    (parent === undefined || parent === run.parent?.runId) &&
    (after === null || Date.parse(run.createdAt) >= after) &&
    (before === null || Date.parse(run.createdAt) < before);
}

/** What of the runs that are found is worth a look. The API knows nothing of it. */
export function showsRun(search: RunsSearch, run: RunSummary): boolean {
  return showsAll(search) || !isNoise(run);
}

/** Everything that is found: somebody asked for it, or for the runs of one service or of one caller. */
export function showsAll({ own, service, parent }: RunsSearch): boolean {
  return own === "shown" || service !== undefined || parent !== undefined;
}

/** An age, or a time; null where it is neither. */
function instantOf(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  try {
    return now - parseDuration(text);
  } catch {
    // Not a duration: a time, perhaps.
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

export function isEmptySearch(search: RunsSearch): boolean {
  return Object.keys(search).every((name) => name === "order" || name === "own");
}

// The search box
// --------------

/**
 * What somebody typed into the search box, as filters: `status:failed key:alice`, `mailer`, `mailer/send`,
 * `research/demo/run`. What stands there already stays where the text does not speak of it.
 */
export function searchOfText(text: string, before: RunsSearch): RunsSearch {
  const search: Record<string, string | undefined> = { ...before };
  for (const word of text.trim().split(/\s+/)) {
    const [, name, value] = /^(status|service|handler|key|parent|since|until):(.+)$/.exec(word) ?? [];
    if (name !== undefined && value !== undefined) search[name] = value;
    else if (parseRunId(word) !== undefined) search["parent"] = word;
    else Object.assign(search, targetOf(word));
  }
  return readRunsSearch(search);
}

function targetOf(word: string): Partial<RunsSearch> {
  const parts = word.split("/").filter((part) => part !== "");
  const [service, second] = parts;
  if (service === undefined) return {};
  if (second === undefined) return { service };
  const last = parts.at(-1) ?? second;
  // A key may hold slashes; the handler is what comes last.
  return parts.length === 2
    ? { service, handler: second }
    : { service, key: parts.slice(1, -1).join("/"), handler: last };
}
