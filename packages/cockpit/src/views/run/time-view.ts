// What of a time scale is seen: places from 0 to 1 across the column of the bars.

import type { TimeScale } from "./time-scale.ts";
import type { Segment } from "./timeline-layout.ts";
import type { Zoom } from "./use-zoom.ts";

interface Bar {
  readonly left: number;
  readonly width: number;
}

interface Tick {
  readonly place: number;
  readonly sinceStart: number;
}

export interface TimeView {
  /** Null: it lies outside. */
  readonly bar: (segment: Pick<Segment, "from" | "to">) => Bar | null;
  readonly ticks: (count: number) => readonly Tick[];
  readonly end: number;
}

/** @param end what goes on reaches to here. */
export function viewOf(scale: TimeScale, zoom: Zoom, end: number): TimeView {
  const width = zoom.to - zoom.from;
  const placeOf = (time: number): number => (scale.placeOf(time) - zoom.from) / width;
  const start = scale.timeAt(0);
  return {
    end,
    bar: ({ from, to }) => {
      const left = placeOf(from);
      const right = placeOf(to ?? end);
      if (right < 0 || left > 1) return null;
      const visibleLeft = Math.max(0, left);
      return { left: visibleLeft, width: Math.min(1, right) - visibleLeft };
    },
    ticks: (count) =>
      scale
        .ticks(scale.timeAt(zoom.from), scale.timeAt(zoom.to), count)
        .map((time) => ({ place: placeOf(time), sinceStart: Math.max(0, time - start) }))
        .filter(({ place }) => place >= 0 && place <= 0.97),
  };
}
