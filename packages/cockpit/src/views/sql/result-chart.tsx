// An answer as a picture: what is across, what is up, and as what it is drawn.

import { lazy, Suspense, useMemo, type ReactNode } from "react";
import type { SqlAnswer } from "@perdure/protocol";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Empty, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { columnKinds, pickChart, pointsOf, type ChartKind, type ChartPick } from "./chart-pick.ts";
import type { SqlSearch } from "./sql-search.ts";

const Plot = lazy(() => import("../../ui/plot.tsx").then(({ Plot: component }) => ({ default: component })));

const KINDS: readonly ChartKind[] = ["line", "bars", "points"];

export interface ResultChartProps {
  readonly answer: SqlAnswer;
  readonly search: SqlSearch;
  readonly onSearch: (change: Pick<SqlSearch, "kind" | "x" | "y">) => void;
}

export function ResultChart({ answer, search, onSearch }: ResultChartProps): ReactNode {
  const t = useMessages().sql;
  const pick = useMemo(() => pickChart(answer, search), [answer, search]);
  if (pick === null)
    return (
      <Empty title={t.noChart}>
        <p>{t.noChartHelp}</p>
      </Empty>
    );
  return (
    <div className="result-chart">
      <Choices answer={answer} pick={pick} onSearch={onSearch} />
      <Suspense fallback={<Loading />}>
        <Drawn answer={answer} pick={pick} />
      </Suspense>
    </div>
  );
}

function Choices({
  answer,
  pick,
  onSearch,
}: Omit<ResultChartProps, "search"> & { readonly pick: ChartPick }): ReactNode {
  const t = useMessages().sql;
  const { columns } = answer;
  const kinds = columnKinds(answer);
  const named = (at: number): string => columns[at] ?? "";
  const choice = (
    label: string,
    value: number,
    options: readonly number[],
    onChoose: (at: number) => void,
  ): ReactNode => (
    <label className="chart-choice">
      {label}
      <select className="input" value={value} onChange={(event) => onChoose(Number(event.target.value))}>
        {options.map((at) => (
          <option key={at} value={at}>
            {visibleLine(named(at))}
          </option>
        ))}
      </select>
    </label>
  );
  const all = columns.map((_, at) => at);
  const heights = all.filter((at) => kinds[at] === "number" || kinds[at] === "time");
  return (
    <div className="chart-choices">
      {choice(t.across, pick.x, all, (at) => onSearch({ x: named(at) }))}
      {choice(t.up, pick.y, heights, (at) => onSearch({ y: named(at) }))}
      <label className="chart-choice">
        {t.drawnAs}
        <select
          className="input"
          value={pick.kind}
          onChange={({ target }) => onSearch({ kind: KINDS.find((kind) => kind === target.value) ?? "line" })}
        >
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {t.kinds[kind]}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Drawn({ answer, pick }: { readonly answer: SqlAnswer; readonly pick: ChartPick }): ReactNode {
  const t = useMessages().sql;
  const format = useFormat();
  const points = useMemo(() => pointsOf(answer, pick), [answer, pick]);
  const [x, y] = [visibleLine(answer.columns[pick.x] ?? ""), visibleLine(answer.columns[pick.y] ?? "")];
  const { scale, names } = points;
  const formatX = (value: number): string => {
    if (scale === "time") return format.dateTime(value * 1_000);
    return scale === "number" ? format.compact(value) : visibleLine(names[value] ?? "");
  };
  return (
    <Plot
      label={t.chartLabel(y, x)}
      kind={pick.kind}
      points={points}
      formatX={formatX}
      formatTick={scale === "time" ? (value) => format.time(value * 1_000) : formatX}
      formatY={(value) => format.compact(value)}
    />
  );
}
