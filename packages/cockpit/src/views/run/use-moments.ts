// The moments of a run, as they are taken and named.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiEvent, MomentsAnswer, MomentView, RunId, RunSummary } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useLiveEvents } from "../../live/use-live.ts";
import { isBundle } from "../../runs/is-bundle.ts";

const NONE: readonly MomentView[] = [];

/** Oldest first; none where runs of this kind have no images. */
export function useMoments(run: RunSummary): readonly MomentView[] {
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ["moments", run.id];
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await api.get<MomentsAnswer>(path`/runs/${run.id}/moments`, { signal })).moments,
    enabled: isBundle(run.deployment),
    placeholderData: (before) => before,
  });
  useLiveEvents((events) => {
    if (events.some((event) => concerns(event, run.id))) void queries.invalidateQueries({ queryKey });
  });
  return data ?? NONE;
}

/** A cut takes the moments after it along; the end of a run, all but the newest and the named. */
function concerns(event: ApiEvent, id: RunId): boolean {
  if (event.type === "moment" || event.type === "truncated") return event.runId === id;
  return event.type === "run" && event.run.id === id;
}
