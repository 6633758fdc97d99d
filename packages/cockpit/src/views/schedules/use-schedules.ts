// The schedules, read anew when one of them has done something.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { SchedulesPage, ScheduleSummary } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useLiveEvents } from "../../live/use-live.ts";

const SCHEDULES = "perdure.schedules";
const QUERY_KEY = ["schedules"];

export interface LoadedSchedules {
  readonly schedules: readonly ScheduleSummary[];
  /** Something here has schedules, so that others can be made. */
  readonly isServed: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly refresh: () => Promise<unknown>;
}

export function useSchedules(): LoadedSchedules {
  const api = useApi();
  const queries = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: QUERY_KEY,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<SchedulesPage>("/schedules", { query: { after: pageParam ?? undefined }, signal }),
    getNextPageParam: ({ nextAfter }) => nextAfter,
  });
  const schedules = query.data?.pages.flatMap((page) => page.schedules) ?? [];
  const started = new Set(schedules.flatMap(({ history }) => history.map(({ runId }) => runId)));
  useLiveEvents((events) => {
    const isAbout = events.some(
      (event) =>
        (event.type === "state" && event.service === SCHEDULES) ||
        // What became of a start stands in its run.
        (event.type === "run" && started.has(event.run.id)),
    );
    if (isAbout) void queries.invalidateQueries({ queryKey: QUERY_KEY });
  });
  return {
    schedules,
    isServed: query.data?.pages[0]?.served ?? true,
    isLoading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => queries.invalidateQueries({ queryKey: QUERY_KEY }),
  };
}
