// One column over another, by uPlot: as a line, as bars, or as points; with what is pointed at said in words.

import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../app/theme.ts";
import { resolveColor } from "./css-color.ts";

export interface PlotProps {
  readonly label: string;
  readonly kind: "line" | "bars" | "points";
  readonly points: {
    readonly xs: readonly number[];
    readonly ys: readonly (number | null)[];
    readonly scale: "time" | "number" | "names";
  };
  /** In full, for what is pointed at. */
  readonly formatX: (value: number) => string;
  /** In short, for the axis. */
  readonly formatTick: (value: number) => string;
  readonly formatY: (value: number) => string;
}

const HEIGHT_PX = 340;
const AXIS_PX = 64;
const TICK_PX = 90;
const TICK_LENGTH_MAX = 14;

export function Plot(props: PlotProps): ReactNode {
  const { label, points, formatX, formatY } = props;
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const shownTheme = useSyncExternalStore(theme.subscribe, theme.get);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = new uPlot(optionsFor(element, props, setAt), [[...points.xs], [...points.ys]], element);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
    // The formats are made anew each time, and mean the same as long as the points are.
  }, [points, props.kind, shownTheme]);
  const [x, y] = at === null ? [undefined, null] : [points.xs[at], points.ys[at] ?? null];
  return (
    <figure className="plot">
      <figcaption className="plot-said">
        {x === undefined ? label : `${formatX(x)}: ${y === null ? "–" : formatY(y)}`}
      </figcaption>
      <div ref={place} className="chart" role="img" aria-label={label} />
    </figure>
  );
}

function optionsFor(element: HTMLElement, props: PlotProps, onPoint: (at: number | null) => void): uPlot.Options {
  const { kind, points, formatTick, formatY } = props;
  const color = (name: string): string => resolveColor(element, name);
  const { fontFamily } = getComputedStyle(element);
  const axis = { stroke: color("--ink-3"), font: `11px ${fontFamily}`, ticks: { show: false } };
  const isNames = points.scale === "names";
  const count = points.xs.length;
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [10, 18, 0, 0],
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      // Names stand in the middle of a place of their own; so does the first and the last bar of others.
      x: {
        time: points.scale === "time",
        ...(isNames || count < 2
          ? { range: (_: uPlot, min: number, max: number): [number, number] => [min - 0.6, max + 0.6] }
          : {}),
      },
      y: {
        range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.06 : Math.max(1, max)],
      },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: TICK_PX,
        grid: { show: false },
        ...(isNames ? { splits: () => namedPlaces(element, count) } : {}),
        values: (_, marks) => marks.map((mark) => shortened(formatTick(mark))),
      },
      {
        ...axis,
        size: AXIS_PX,
        space: 40,
        grid: { stroke: color("--line"), width: 1 },
        values: (_, marks) => marks.map((mark) => formatY(mark)),
      },
    ],
    series: [{}, seriesFor(kind, color("--accent"), count)],
  };
}

/** As many names as there is room for. */
function namedPlaces(element: HTMLElement, count: number): number[] {
  const step = Math.max(1, Math.ceil((count * TICK_PX) / Math.max(TICK_PX, element.clientWidth - AXIS_PX)));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

function shortened(text: string): string {
  return text.length > TICK_LENGTH_MAX ? `${text.slice(0, TICK_LENGTH_MAX - 1)}…` : text;
}

const BARS_SHARE = 0.72;
const BAR_PX_MAX = 56;

function seriesFor(kind: PlotProps["kind"], stroke: string, count: number): uPlot.Series {
  const fill = `${stroke}${kind === "line" ? "1c" : "b0"}`;
  switch (kind) {
    case "line":
      return { stroke, fill, width: 1.75, spanGaps: true, points: { show: count < 40, size: 5, fill: stroke } };
    case "points":
      return { stroke, fill: stroke, paths: () => null, points: { show: true, size: 6, fill: stroke } };
    case "bars": {
      const paths = uPlot.paths.bars?.({ size: [BARS_SHARE, BAR_PX_MAX], radius: 0.08 });
      return { stroke, fill, width: 1, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
    }
  }
}
