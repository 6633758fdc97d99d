// What became of a call: its run, followed to the end.

import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore, type ReactNode } from "react";
import type { RunDetail, RunId } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useNow } from "../../live/clock.ts";
import { useLive } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";
import { ResultPayload } from "../../ui/payload.tsx";
import { reasonOf } from "../../ui/reason.ts";
import { RunLink } from "../../ui/run-link.tsx";
import { Failed } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Took } from "../../ui/time.tsx";
import { visibleText } from "../../ui/visible-text.ts";

export interface CallResultProps {
  readonly runId: RunId;
  readonly existing: boolean;
  readonly how: "call" | "send";
}

export function CallResult({ runId, existing, how }: CallResultProps): ReactNode {
  const t = useMessages();
  const api = useApi();
  const { store } = useLive();
  const told = useSyncExternalStore(store.subscribe, () => store.run(runId));
  const { data, error, refetch } = useQuery({
    // With every change of its status it is read anew.
    queryKey: ["run", runId, "called", told?.changedAt ?? null, told?.status ?? null],
    queryFn: ({ signal }) => api.get<RunDetail>(path`/runs/${runId}`, { query: { journalLimit: 1 }, signal }),
    placeholderData: (before) => before,
  });
  const now = useNow();
  const format = useFormat();
  const run = data?.run;
  const reason = run === undefined ? "" : reasonOf(run, now, t, format);
  return (
    <Panel title={how === "call" ? t.services.call.result : t.services.call.sent}>
      <div className="body call-result" aria-live="polite">
        <p className="call-run">
          {run === undefined ? null : <StatusBadge status={told?.status ?? run.status} />}
          <RunLink id={runId} />
          {run === undefined ? null : (
            <span className="dim">
              <Took from={run.createdAt} to={run.finishedAt} />
            </span>
          )}
          {existing ? <span className="tag">{t.services.call.existing}</span> : null}
        </p>
        {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
        {run === undefined || run.result !== null || reason === "" ? null : (
          <p className="dim">{visibleText(reason)}</p>
        )}
        {run === undefined || run.result === null ? null : <ResultPayload result={run.result} />}
      </div>
    </Panel>
  );
}
