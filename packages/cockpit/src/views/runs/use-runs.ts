// The runs that a search finds: pages as far as one has scrolled, and what happens meanwhile.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";
import type { RunPage } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useDeletedRuns, useLive, useLiveVersion } from "../../live/use-live.ts";
import { mergeRows, type Merged } from "./merge-rows.ts";
import { matcher, runsQuery, showsRun, type RunsSearch } from "./runs-search.ts";

const PAGE = 200;
/** With many rows a merge costs some milliseconds: not each frame. */
const MERGE_EVERY_MS = 200;

export interface LoadedRuns extends Merged {
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

export function useRuns(search: RunsSearch, newestShown: number | null): LoadedRuns {
  const api = useApi();
  const { store } = useLive();
  const epoch = useSyncExternalStore(store.subscribe, store.epoch);
  const query = useInfiniteQuery({
    // Where events were missed, everything begins anew, at the first page.
    queryKey: ["runs", "pages", search, epoch],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<RunPage>("/runs", { query: runsQuery(search, Date.now(), PAGE, pageParam), signal }),
    getNextPageParam: (page) => page.nextCursor,
    staleTime: Number.POSITIVE_INFINITY, // The events keep it fresh.
    gcTime: 60_000,
    structuralSharing: false,
    // What was there stays until it is read anew; what another search found does not.
    placeholderData: (before, query) => (query?.queryKey[2] === search ? before : undefined),
  });
  const read = useMemo(
    () => query.data?.pages.flatMap(({ runs }) => runs.filter((run) => showsRun(search, run))) ?? [],
    [query.data, search],
  );
  const readIds = useMemo(() => new Set(read.map(({ id }) => id)), [read]);
  const deleted = useDeletedRuns();
  const version = useLiveVersion(MERGE_EVERY_MS);
  const { hasNextPage, isPending } = query;
  const merged = useMemo(() => {
    const isMatch = matcher(search, Date.now());
    void version; // The store is asked again when it has grown.
    return mergeRows({
      read,
      readIds,
      hasMore: hasNextPage,
      told: isPending ? [] : store.recent(),
      deleted,
      matches: (run) => isMatch(run) && showsRun(search, run),
      order: search.order ?? "newest",
      newestShown,
    });
  }, [read, readIds, hasNextPage, isPending, store, version, deleted, search, newestShown]);
  return {
    ...merged,
    isLoading: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    error: query.error,
    hasMore: hasNextPage,
    loadMore: () => {
      if (hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    retry: () => void query.refetch(),
  };
}
