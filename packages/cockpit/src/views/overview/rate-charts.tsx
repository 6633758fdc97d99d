// How it goes: what starts and ends, and how long it takes, over the last minutes.

import { lazy, Suspense, useMemo, useState, type ReactNode } from "react";
import type { Format } from "../../i18n/format.ts";
import { chunk } from "../../app/chunks.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useNow } from "../../live/clock.ts";
import { KEPT_SECONDS, type RateSeries } from "../../live/rates.ts";
import { useLive } from "../../live/use-live.ts";
import { Panel } from "../../ui/panel.tsx";

const Chart = lazy(chunk(() => import("../../ui/chart.tsx").then(({ Chart: component }) => ({ default: component }))));

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
  const [pointed, setPointed] = useState<number | null>(null);
  const total = (values: readonly number[]): string =>
    format.number(Math.round(values.reduce((sum, value) => sum + value * BUCKET_SECONDS, 0)));
  return (
    <figure className="rate">
      <figcaption>
        {titleAt(t.rate, series, pointed, format)} <Legend lines={lines} at={pointed} format={format.compact} />
      </figcaption>
      <Chart
        label={`${t.rate}: ${t.summary(total(series.started), total(series.failed))}`}
        times={series.times}
        lines={lines}
        format={format.compact}
        formatTime={format.time}
        onPoint={setPointed}
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
  const [pointed, setPointed] = useState<number | null>(null);
  return (
    <figure className="rate">
      <figcaption>
        {titleAt(t.latency, series, pointed, format)} <Legend lines={lines} at={pointed} format={format.duration} />
      </figcaption>
      <Chart
        label={t.latency}
        times={series.times}
        lines={lines}
        format={format.duration}
        formatTime={format.time}
        onPoint={setPointed}
      />
    </figure>
  );
}

/** What is shown, or the time that is pointed at. */
function titleAt(title: string, { times }: RateSeries, at: number | null, format: Format): string {
  const time = at === null ? undefined : times[at];
  return time === undefined ? title : format.clock(time * 1_000).replace(/\.\d+$/, "");
}

interface LegendProps {
  readonly lines: readonly {
    readonly label: string;
    readonly color: string;
    readonly values: readonly (number | null)[];
  }[];
  readonly at: number | null;
  readonly format: (value: number) => string;
}

/** Which line is which, and what it is where one points. */
function Legend({ lines, at, format }: LegendProps): ReactNode {
  return (
    <span className="legend">
      {lines.map(({ label, color, values }) => {
        const value = at === null ? null : (values[at] ?? null);
        return (
          <span key={label}>
            <i style={{ background: `var(${color})` }} />
            {label} {value === null ? null : <b>{format(value)}</b>}
          </span>
        );
      })}
    </span>
  );
}
