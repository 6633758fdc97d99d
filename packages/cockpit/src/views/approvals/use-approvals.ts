// Those that are over, page after page; and the newest of the audit log.

import { useInfiniteQuery, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import type { ApprovalPage, ApprovalSummary, InstantText, JsonValue, StreamPageAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useLiveEvents } from "../../live/use-live.ts";

const PAGE = 100;

export interface ClosedApprovals {
  readonly approvals: readonly ApprovalSummary[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

export function useClosedApprovals(isWanted: boolean): ClosedApprovals {
  const api = useApi();
  const query = useInfiniteQuery({
    queryKey: ["approvals", "closed"],
    enabled: isWanted,
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return api.get<ApprovalPage>("/approvals", { query: { status: "closed", limit: PAGE, ...cursor }, signal });
    },
    getNextPageParam: (page) => page.nextCursor,
  });
  return {
    approvals: query.data?.pages.flatMap((page) => page.approvals) ?? [],
    isLoading: isWanted && query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  };
}

/** As it stands in the log; see `perdure audit`. */
export interface AuditRow {
  readonly seq: number;
  readonly at: InstantText;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly details?: JsonValue;
}

const AUDIT_STREAM = "/streams/perdure.audit/main/audit";
const AUDIT_SERVICE = "perdure.audit";
const TAIL = 200;

export function useAuditTail(): UseQueryResult<readonly AuditRow[]> {
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ["audit", "tail"];
  useLiveEvents((events) => {
    if (events.some((event) => event.type === "run" && event.run.service === AUDIT_SERVICE))
      void queries.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const end = await api.get<StreamPageAnswer>(AUDIT_STREAM, { query: { follow: false, from: "end" }, signal });
      const from = Math.max(end.start, end.end - TAIL);
      const page = await api.get<StreamPageAnswer>(AUDIT_STREAM, {
        query: { follow: false, from, limit: TAIL },
        signal,
      });
      return page.items.map(({ item, at }) => ({ ...(item as unknown as AuditRow), at })).toReversed();
    },
  });
}
