import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { VersionAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Took } from "../../ui/time.tsx";
import { metric, type Metrics } from "./metrics.ts";

/** The process that all of this runs in, on one line. */
export function ServerFacts({ metrics }: { readonly metrics: Metrics | undefined }): ReactNode {
  const t = useMessages().overview.server;
  const format = useFormat();
  const api = useApi();
  const { data } = useQuery({
    queryKey: ["version"],
    queryFn: ({ signal }) => api.get<VersionAnswer>("/version", { signal }),
    staleTime: 60_000,
  });
  if (data === undefined || metrics === undefined) return null;
  const memory = metric(metrics, "perdure_process_resident_memory_bytes") ?? 0;
  const busy = metric(metrics, "perdure_process_event_loop_utilization") ?? 0;
  const readers = metric(metrics, "perdure_event_streams") ?? 0;
  return (
    <footer className="server-facts dim" aria-label={t.title}>
      <span>
        {t.version} {data.version}
      </span>
      <span>
        {t.node} {data.node}
      </span>
      <span>
        {t.since} <Took from={data.startedAt} to={null} />
      </span>
      <span>
        {t.memory} {format.bytes(memory)}
      </span>
      <span>
        {t.loop} {format.percent(busy)}
      </span>
      <span>
        {t.readers} {format.number(readers)}
      </span>
    </footer>
  );
}
