// The overview: first what needs a person, then what is at work and what it waits for, then how it goes.

import type { ReactNode } from "react";
import { useMessages } from "../../i18n/use-messages.ts";
import { Failed } from "../../ui/states.tsx";
import { AttentionList } from "./attention-list.tsx";
import { EmptyRuntime } from "./empty-runtime.tsx";
import { Figures } from "./figures.tsx";
import { metric } from "./metrics.ts";
import { OpenRuns } from "./open-runs.tsx";
import { RateCharts } from "./rate-charts.tsx";
import { ServerFacts } from "./server-facts.tsx";
import { Spend } from "./spend.tsx";
import { useAttention, useMetrics, useSeededRates } from "./use-overview.ts";
import "./overview.css";

export function Overview(): ReactNode {
  const t = useMessages().overview;
  const metrics = useMetrics();
  const attention = useAttention();
  useSeededRates();
  if (metrics.error !== null && metrics.data === undefined)
    return (
      <div className="page">
        <Failed error={metrics.error} onRetry={() => void metrics.refetch()} />
      </div>
    );
  const isEmpty = metrics.data !== undefined && metric(metrics.data, "perdure_store_runs") === 0;
  return (
    <div className="page">
      <div className="page-head">
        <h1>{t.title}</h1>
      </div>
      {isEmpty ? (
        <EmptyRuntime />
      ) : (
        <>
          <Figures metrics={metrics.data} failed={attention.data?.failed.length} />
          <div className="overview">
            <div>
              <AttentionList attention={attention} />
              <RateCharts />
            </div>
            <div>
              <OpenRuns />
              <Spend />
            </div>
          </div>
        </>
      )}
      <ServerFacts metrics={metrics.data} />
    </div>
  );
}
