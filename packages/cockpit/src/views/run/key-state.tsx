import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { RunSummary, StateView } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { useLiveEvents } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";
import { Payload } from "../../ui/payload.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";

/** The state of the key that a run is of, as it is now. */
export function KeyState({ run: { service, key } }: { readonly run: Pick<RunSummary, "service" | "key"> }): ReactNode {
  const t = useMessages().run.state;
  if (key === null) return <Empty title={t.none} />;
  return <State service={service} name={key} />;
}

function State({ service, name }: { readonly service: string; readonly name: string }): ReactNode {
  const t = useMessages().run.state;
  const api = useApi();
  const queries = useQueryClient();
  const queryKey = ["state", service, name];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<StateView>(path`/state/${service}/${name}`, { signal }),
  });
  useLiveEvents((events) => {
    if (events.some((event) => event.type === "state" && event.service === service && event.key === name))
      void queries.invalidateQueries({ queryKey });
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const values = Object.entries(data.state);
  if (values.length === 0) return <Empty title={t.empty} />;
  return (
    <div className="run-data">
      {values.map(([key, value]) => (
        <Panel key={key} title={visibleLine(key)}>
          <div className="body">
            <Payload value={value} />
          </div>
        </Panel>
      ))}
    </div>
  );
}
