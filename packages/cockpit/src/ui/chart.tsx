// Lines over time, by uPlot: colours are those of the page, and change with it.

import { useEffect, useLayoutEffect, useRef, useSyncExternalStore, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../app/theme.ts";
import { resolveColor } from "./css-color.ts";

interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A property of the page's styles: `--green-bar`. */
  readonly color: string;
  readonly fill?: boolean;
}

export interface ChartProps {
  /** What it shows, for who cannot see it. */
  readonly label: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  readonly formatTime: (ms: number) => string;
  /** The place in `times` that is pointed at; null: none. */
  readonly onPoint?: (at: number | null) => void;
}

const HEIGHT_PX = 132;
const AXIS_PX = 66;

export function Chart({ label, times, lines, format, formatTime, onPoint }: ChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const shownTheme = useSyncExternalStore(theme.subscribe, theme.get);
  const shape = lines.map(({ label: name, color, fill }) => `${name} ${color} ${fill === true}`).join("|");
  const latest = useRef<Latest["current"]>({ times, lines, format, formatTime });
  useLayoutEffect(() => {
    latest.current = { times, lines, format, formatTime, ...(onPoint === undefined ? {} : { onPoint }) };
  });
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = new uPlot(optionsFor(element, latest), dataOf(latest.current), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [shape, shownTheme]);
  useEffect(() => {
    chart.current?.setData(dataOf({ times, lines }));
  }, [times, lines]);
  return <div ref={place} className="chart" role="img" aria-label={label} />;
}

function dataOf({ times, lines }: Pick<ChartProps, "times" | "lines">): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}

type Latest = { readonly current: Omit<ChartProps, "label"> };

function optionsFor(element: HTMLElement, latest: Latest): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => resolveColor(element, name);
  const axis = { stroke: color("--ink-3"), font: `11px ${style.fontFamily}`, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? null)] },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] } },
    axes: [
      {
        ...axis,
        size: 24,
        grid: { show: false },
        values: (_, marks) => marks.map((at) => latest.current.formatTime(at * 1_000)),
      },
      {
        ...axis,
        size: AXIS_PX,
        space: 36,
        grid: { stroke: color("--line"), width: 1 },
        values: (_, marks) => marks.map((value) => latest.current.format(value)),
      },
    ],
    series: [
      {},
      ...latest.current.lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.5,
        spanGaps: true,
        points: { show: false },
        ...(line.fill === true ? { fill: `${color(line.color)}22` } : {}),
      })),
    ],
  };
}
