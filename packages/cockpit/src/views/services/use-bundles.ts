// The bundles that runs in isolates have: each keeps the one that it began with.

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { DeploymentsAnswer, DeploymentView } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useLiveVersion } from "../../live/use-live.ts";

/** Runs are counted for it: not with every event. */
const COUNT_EVERY_MS = 10_000;

/** Newest first. */
export function useBundles(): UseQueryResult<readonly DeploymentView[]> {
  const api = useApi();
  const version = useLiveVersion(COUNT_EVERY_MS);
  return useQuery({
    queryKey: ["bundles", version],
    queryFn: async ({ signal }) => (await api.get<DeploymentsAnswer>("/deployments", { signal })).deployments,
    placeholderData: (before) => before,
  });
}
