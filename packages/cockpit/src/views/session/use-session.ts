// What the page of a session asks of the server: its view, its streams, its messages' runs; each read anew when something
// happened to it.

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { AgentSessionView, ApiEvent, ControlView, ControlsAnswer, RunPage, RunSummary } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useLive, useLiveEvents, useReturn } from "../../live/use-live.ts";
import { SessionStore, type SessionSnapshot } from "./session-store.ts";

export interface SessionName {
  readonly agent: string;
  readonly session: string;
}

const REFRESH_MS = 300;
const MESSAGES_MAX = 200;

export function useSessionView({ agent, session }: SessionName): UseQueryResult<AgentSessionView> {
  const api = useApi();
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const queryKey = ["session", agent, session, "view"];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<AgentSessionView>(path`/agents/${agent}/${session}`, { signal }),
  });
  const { turn } = query.data ?? {};
  useLiveEvents((events) => {
    if (!events.some((event) => concerns(event, { agent, session }, turn ?? null))) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey });
    }, REFRESH_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return query;
}

const BUDGETS_SERVICE = "perdure.budgets";

function concerns(event: ApiEvent, { agent, session }: SessionName, turn: string | null): boolean {
  if (event.type === "reset") return true;
  // Each look at a budget is a run that changes nothing: its state tells of what does.
  if (event.type === "state") return event.service === BUDGETS_SERVICE && event.key === `${agent}/${session}`;
  if (event.type === "entry" || event.type === "promoted") return event.runId === turn;
  if (event.type !== "run") return false;
  const { run } = event;
  return (run.service === agent && run.key === session && run.handler !== "watch") || run.parent?.runId === turn;
}

/** All switches for writes that there are. */
export function useControls(): UseQueryResult<readonly ControlView[]> {
  const api = useApi();
  const queries = useQueryClient();
  useLiveEvents((events) => {
    if (events.some((event) => event.type === "state" && event.service === "perdure.controls"))
      void queries.invalidateQueries({ queryKey: ["controls"] });
  });
  return useQuery({
    queryKey: ["controls"],
    queryFn: async ({ signal }) => (await api.get<ControlsAnswer>("/controls", { signal })).controls,
  });
}

/** The runs of its newest messages, by id, as far as they are kept. */
export function useMessageRuns({ agent, session }: SessionName): ReadonlyMap<string, RunSummary> {
  const api = useApi();
  const { store } = useLive();
  const { data } = useQuery({
    queryKey: ["session", agent, session, "runs"],
    queryFn: ({ signal }) => {
      const query = { service: agent, key: session, handler: "send", limit: MESSAGES_MAX };
      return api.get<RunPage>("/runs", { query, signal });
    },
  });
  const [told, setTold] = useState<ReadonlyMap<string, RunSummary>>(new Map());
  useLiveEvents((events) => {
    const runs = events.flatMap((event) => (event.type === "run" ? [event.run] : []));
    const mine = runs.filter(({ service, key, handler }) => service === agent && key === session && handler === "send");
    if (mine.length > 0) setTold((before) => new Map([...before, ...mine.map((run) => [run.id, run] as const)]));
  });
  return useMemo(() => {
    const read = (data?.runs ?? []).map((run) => [run.id, store.run(run.id) ?? run] as const);
    return new Map([...read, ...told]);
  }, [data, told, store]);
}

export interface FollowedSession {
  readonly snapshot: SessionSnapshot;
  readonly loadEarlier: () => Promise<void>;
  readonly retry: () => void;
}

/** @param reach an offset that has to be among those that are read. */
export function useSessionStore({ agent, session }: SessionName, reach: number | undefined): FollowedSession {
  const api = useApi();
  const [tries, setTries] = useState(0);
  const first = useRef(reach);
  const store = useMemo(() => {
    void tries;
    return new SessionStore(api, agent, session, {
      schedule: beforeNextFrame,
      ...(first.current === undefined ? {} : { reach: first.current }),
    });
  }, [api, agent, session, tries]);
  useEffect(() => {
    void store.start();
    return () => store.stop();
  }, [store]);
  useReturn(() => store.retryNow());
  const snapshot = useSyncExternalStore(store.snapshot.subscribe, store.snapshot.get);
  return { snapshot, loadEarlier: () => store.loadEarlier(), retry: () => setTries(tries + 1) };
}

/** A hidden page draws no frames. */
const HIDDEN_FLUSH_MS = 250;

function beforeNextFrame(flush: () => void): void {
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    flush();
  };
  requestAnimationFrame(once);
  setTimeout(once, HIDDEN_FLUSH_MS);
}
