// One entry with its payloads, which the timeline knows only the beginnings of. An entry never changes: it is read once.

import { queryOptions } from "@tanstack/react-query";
import type { EntryView, JournalPage, RunSummary } from "@perdure/protocol";
import { path, type ApiClient } from "../../api/client.ts";

export function wholeEntry(api: ApiClient, run: RunSummary, known: EntryView, maxPayload: number) {
  return queryOptions({
    // A restart writes others under the same indexes.
    queryKey: ["entry", run.id, run.generation, known.index, known.at, maxPayload],
    queryFn: async ({ signal }): Promise<EntryView> => {
      const query = { after: known.index - 1, limit: 1, maxPayload };
      const page = await api.get<JournalPage>(path`/runs/${run.id}/journal`, { query, signal });
      return page.entries[0] ?? known;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
