// The agents that are served and their sessions, read anew soon after something happened to one of them.

import {
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  keepPreviousData,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { AgentsAnswer, AgentSessionsAnswer, AgentSessionSummary, AgentSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useLiveEvents } from "../../live/use-live.ts";
import type { AgentsSearch } from "./agents-search.ts";

const PAGE = 60;
const REFRESH_MS = 800;

export function useAgents(): UseQueryResult<readonly AgentSummary[]> {
  const api = useApi();
  return useQuery({
    queryKey: ["agents", "served"],
    queryFn: async ({ signal }) => (await api.get<AgentsAnswer>("/agents", { signal })).agents,
  });
}

export interface FoundSessions {
  readonly sessions: readonly AgentSessionSummary[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

export function useSessions({ agent, find, sub }: AgentsSearch): FoundSessions {
  const api = useApi();
  useRefresh();
  const query = useInfiniteQuery({
    queryKey: ["agents", "sessions", agent ?? "", find ?? "", sub ?? ""],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const filter = { agent, find, top: sub !== "shown", limit: PAGE, offset: pageParam };
      return api.get<AgentSessionsAnswer>("/sessions", { query: filter, signal });
    },
    getNextPageParam: (page) => page.nextOffset,
    placeholderData: keepPreviousData,
  });
  return {
    sessions: query.data?.pages.flatMap((page) => page.sessions) ?? [],
    isLoading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  };
}

function useRefresh(): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const names = new Set((useAgents().data ?? []).map(({ name }) => name));
  useLiveEvents((events) => {
    const concerns = events.some(
      ({ type, ...event }) => type === "run" && "run" in event && names.has(event.run.service),
    );
    if (!concerns) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey: ["agents"] });
    }, REFRESH_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
