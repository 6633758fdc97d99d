// What the overview asks of the server, and when it asks again.

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type {
  ApiEvent,
  ApprovalPage,
  ApprovalSummary,
  JsonValue,
  RunPage,
  RunSummary,
  ServicesAnswer,
  StateKeysPage,
  StateView,
} from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useLive, useLiveEvents } from "../../live/use-live.ts";
import { KEPT_SECONDS } from "../../live/rates.ts";
import { parseMetrics, type Metrics } from "./metrics.ts";

const METRICS_MS = 5_000;
/** After something that may need a person: soon, and not for each of a thousand. */
const ATTENTION_MS = 800;
const DAY_MS = 86_400_000;
const APPROVALS_SERVICE = "perdure.approvals";
const PAUSED_MAX = 100;
export const FAILED_MAX = 20;

export function useMetrics(): UseQueryResult<Metrics> {
  const api = useApi();
  return useQuery({
    queryKey: ["metrics"],
    queryFn: async ({ signal }) => parseMetrics(await api.text("/metrics", { signal })),
    refetchInterval: METRICS_MS,
  });
}

export interface Attention {
  readonly paused: readonly RunSummary[];
  readonly failed: readonly RunSummary[];
  readonly approvals: readonly ApprovalSummary[];
}

export function useAttention(): UseQueryResult<Attention> {
  const api = useApi();
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const queryKey = ["overview", "attention"];
  useLiveEvents((events) => {
    if (!events.some(mayNeedAttention)) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey });
    }, ATTENTION_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      const failedQuery = { status: "failed", createdAfter: since, limit: FAILED_MAX };
      const [paused, failed, approvals] = await Promise.all([
        api.get<RunPage>("/runs", { query: { status: "paused", limit: PAUSED_MAX }, signal }),
        api.get<RunPage>("/runs", { query: failedQuery, signal }),
        api.get<ApprovalPage>("/approvals", { query: { status: "open", limit: 100 }, signal }),
      ]);
      return { paused: paused.runs, failed: failed.runs, approvals: approvals.approvals };
    },
  });
}

/** A run that came to one of these, or left one. */
function mayNeedAttention(event: ApiEvent): boolean {
  if (event.type === "deleted" || event.type === "reset") return true;
  if (event.type !== "run") return false;
  const { status, service } = event.run;
  return status === "paused" || status === "failed" || status === "running" || service === APPROVALS_SERVICE;
}

/** The charts begin with what happened before the page was opened. */
export function useSeededRates(): void {
  const api = useApi();
  const { store } = useLive();
  useQuery({
    queryKey: ["overview", "seed"],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const createdAfter = new Date(now - KEPT_SECONDS * 1_000).toISOString();
      const page = await api.get<RunPage>("/runs", { query: { createdAfter, limit: 1_000 }, signal });
      store.seedRates(page.runs);
      return page.runs.length;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}

// Budgets
// -------

export interface BudgetRow {
  readonly id: string;
  readonly tokens: { readonly spent: number; readonly limit: number | null };
  readonly usd: { readonly spent: number; readonly limit: number | null };
  readonly isAsking: boolean;
}

const BUDGETS_SERVICE = "perdure.budgets";
const BUDGETS_MAX = 100;
const BUDGETS_MS = 10_000;
const NANO = 1e9;

/** From their state: asking a budget itself would be a run each time. */
export function useBudgets(): UseQueryResult<readonly BudgetRow[]> {
  const api = useApi();
  return useQuery({
    queryKey: ["overview", "budgets"],
    refetchInterval: BUDGETS_MS,
    queryFn: async ({ signal }) => {
      const keys = await budgetKeys(api, signal);
      const states = keys.map((key) => api.get<StateView>(path`/state/${BUDGETS_SERVICE}/${key}`, { signal }));
      return (await Promise.all(states)).flatMap(({ key, state }) => budgetRow(key, state["book"]) ?? []);
    },
  });
}

async function budgetKeys(api: ReturnType<typeof useApi>, signal: AbortSignal): Promise<readonly string[]> {
  const { services } = await api.get<ServicesAnswer>("/services", { signal });
  if (!services.some(({ name }) => name === BUDGETS_SERVICE)) return []; // No agent with a budget is served.
  return (await api.get<StateKeysPage>(path`/state/${BUDGETS_SERVICE}`, { query: { limit: BUDGETS_MAX }, signal }))
    .keys;
}

/** Null: it is no book that we can read. */
export function budgetRow(id: string, book: JsonValue | undefined): BudgetRow | null {
  const spent = record(record(book)?.["spent"]);
  const limits = record(record(book)?.["limits"]);
  if (spent === null || limits === null) return null;
  const raised = record(record(book)?.["raised"]);
  const dimension = (name: string, unit: number): BudgetRow["tokens"] => {
    const limit = limits[name];
    const more = raised?.[name];
    return {
      spent: numberOf(spent[name]) / unit,
      limit: typeof limit === "number" ? (limit + numberOf(more)) / unit : null,
    };
  };
  return {
    id,
    tokens: dimension("tokens", 1),
    usd: dimension("nanoUsd", NANO),
    isAsking: record(record(book)?.["question"]) !== null,
  };
}

function record(value: JsonValue | undefined): { readonly [name: string]: JsonValue } | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return value as { readonly [name: string]: JsonValue };
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
