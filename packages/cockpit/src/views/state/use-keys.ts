// The keys of a service, page by page, and which of them were heard of since.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { SqlAnswer, StateKeysPage } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useLiveEvents } from "../../live/use-live.ts";
import { keySearchQuery, keysOf } from "./key-search.ts";

const PAGE = 500;

export interface LoadedKeys {
  readonly keys: readonly string[];
  /** Keys that have got a state since, and are not among them. */
  readonly newOnes: number;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly refresh: () => void;
}

export function useKeys(service: string, find: string): LoadedKeys {
  const api = useApi();
  const query = useInfiniteQuery({
    queryKey: ["state-keys", service, find],
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam, signal }): Promise<StateKeysPage> => {
      if (find === "")
        return api.get(path`/state/${service}`, { query: { after: pageParam ?? undefined, limit: PAGE }, signal });
      const answer = await api.post<SqlAnswer>("/sql", {
        query: keySearchQuery({ service, find, after: pageParam, limit: PAGE }),
      });
      const keys = keysOf(answer);
      return { keys, nextAfter: keys.length < PAGE ? null : (keys.at(-1) ?? null) };
    },
    getNextPageParam: ({ nextAfter }) => nextAfter,
    staleTime: 30_000,
  });
  const keys = useMemo(() => query.data?.pages.flatMap((page) => page.keys) ?? [], [query.data]);
  const known = useMemo(() => new Set(keys), [keys]);
  const told = useToldKeys(service, find);
  const last = keys.at(-1) ?? "";
  const newOnes = [...told].filter((key) => !known.has(key) && !(query.hasNextPage && key > last)).length;
  return {
    keys,
    newOnes: query.isPending ? 0 : newOnes,
    isLoading: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
    refresh: () => void query.refetch(),
  };
}

const TOLD_MAX = 10_000;

function useToldKeys(service: string, find: string): ReadonlySet<string> {
  const [told, setTold] = useState<{ readonly of: string; readonly keys: ReadonlySet<string> }>({
    of: service,
    keys: new Set(),
  });
  useLiveEvents((events) => {
    // A key whose whole state was cleared is none any more.
    const heard = events.flatMap((event) =>
      event.type === "state" && event.service === service && event.name !== null ? [event.key] : [],
    );
    if (heard.length === 0) return;
    const before = told.of === service ? told.keys : new Set<string>();
    if (heard.every((key) => before.has(key)) || before.size > TOLD_MAX) return;
    setTold({ of: service, keys: new Set([...before, ...heard]) });
  });
  return useMemo(() => {
    const wanted = find.toLowerCase();
    const keys = told.of === service ? [...told.keys] : [];
    return new Set(keys.filter((key) => key.toLowerCase().includes(wanted)));
  }, [told, service, find]);
}
