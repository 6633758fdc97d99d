import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { RunDetail, RunView } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { Panel } from "../../ui/panel.tsx";
import { Payload, ResultPayload } from "../../ui/payload.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";

/** The largest that the API gives. */
const ALL_BYTES = 33_554_432;

/** What a run was given, and what it gave back. */
export function RunData({ run: known }: { readonly run: RunView }): ReactNode {
  const t = useMessages().run.data;
  const api = useApi();
  const [isWhole, setWhole] = useState(false);
  const whole = useQuery({
    queryKey: ["run", known.id, "whole", known.status],
    queryFn: ({ signal }) =>
      api.get<RunDetail>(path`/runs/${known.id}`, { query: { journalLimit: 1, maxPayload: ALL_BYTES }, signal }),
    enabled: isWhole,
  });
  const run = whole.data?.run ?? known;
  const load = (): void => setWhole(true);
  return (
    <div className="run-data">
      <Panel title={t.input}>
        <div className="body">
          {run.input === null ? <p className="dim">{t.noInput}</p> : <Payload value={run.input} onLoad={load} />}
        </div>
      </Panel>
      <Panel title={t.result}>
        <div className="body">
          {run.result === null ? (
            <p className="dim">{t.notYet}</p>
          ) : (
            <ResultPayload result={run.result} onLoad={load} />
          )}
        </div>
      </Panel>
      {run.headers === null || Object.keys(run.headers).length === 0 ? null : (
        <Panel title={t.headers}>
          <div className="body">
            <JsonTree value={run.headers} />
          </div>
        </Panel>
      )}
    </div>
  );
}
