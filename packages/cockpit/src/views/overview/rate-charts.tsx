// How it goes: what starts and ends, and how long it takes, over the last minutes.

import { lazy, Suspense, useMemo, type ReactNode } from "react";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useNow } from "../../live/clock.ts";
import { KEPT_SECONDS, type RateSeries } from "../../live/rates.ts";
import { useLive } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";

const Chart = lazy(() => import("../../ui/chart.tsx").then(({ Chart: component }) => ({ default: component })));

const BUCKET_SECONDS = 5;

export function RateCharts(): ReactNode {
  const t = useMessages().overview.charts;
  const { store } = useLive();
  const at = Math.floor(useNow() / 1_000 / BUCKET_SECONDS);
  const series = useMemo(
    () => store.rates.series(at * BUCKET_SECONDS * 1_000, KEPT_SECONDS - BUCKET_SECONDS, BUCKET_SECONDS),
    [store, at],
  );
  return (
    <Panel title={t.title}>
      <Suspense fallback={<div className="chart" />}>
        <Rate series={series} />
        <Latency series={series} />
      </Suspense>
    </Panel>
  );
}

function Rate({ series }: { readonly series: RateSeries }): ReactNode {
  const t = useMessages().overview.charts;
  const format = useFormat();
  const lines = useMemo(
    () => [
      { label: t.started, values: series.started, color: "--blue-bar", fill: true },
      { label: t.succeeded, values: series.succeeded, color: "--green-bar" },
      { label: t.failed, values: series.failed, color: "--red-bar" },
    ],
    [t, series],
  );
  const total = (values: readonly number[]): string =>
    format.number(Math.round(values.reduce((sum, value) => sum + value * BUCKET_SECONDS, 0)));
  return (
    <figure className="rate">
      <figcaption>
        {t.rate} <Legend lines={lines} />
      </figcaption>
      <Chart
        label={`${t.rate}: ${t.summary(total(series.started), total(series.failed))}`}
        times={series.times}
        lines={lines}
        format={(value) => format.compact(value)}
        formatTime={(ms) => format.time(ms)}
      />
    </figure>
  );
}

function Latency({ series }: { readonly series: RateSeries }): ReactNode {
  const t = useMessages().overview.charts;
  const format = useFormat();
  const lines = useMemo(
    () => [
      { label: t.median, values: series.p50, color: "--violet-bar" },
      { label: t.slow, values: series.p95, color: "--amber-bar" },
    ],
    [t, series],
  );
  return (
    <figure className="rate">
      <figcaption>
        {t.latency} <Legend lines={lines} />
      </figcaption>
      <Chart
        label={t.latency}
        times={series.times}
        lines={lines}
        format={(value) => format.duration(value)}
        formatTime={(ms) => format.time(ms)}
      />
    </figure>
  );
}

interface LegendProps {
  readonly lines: readonly { readonly label: string; readonly color: string }[];
}

function Legend({ lines }: LegendProps): ReactNode {
  return (
    <span className="legend">
      {lines.map(({ label, color }) => (
        <span key={label}>
          <i style={{ background: `var(${color})` }} />
          {label}
        </span>
      ))}
    </span>
  );
}
