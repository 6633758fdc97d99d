// From times to places on a line from 0 to 1, and back
// ====================================================
// To scale, a minute is as long everywhere. An agent that slept for three days between steps of milliseconds is one long
// gap then; *compact* shortens what is long, so that every step can be seen, and stays in order.
//
// Z1. Both are monotone: what is later stands at the same place or further right.
// Z2. `timeAt` undoes `placeOf`.

export interface TimeScale {
  placeOf(time: number): number;
  timeAt(place: number): number;
  /** Nice times for marks, in order. */
  ticks(from: number, to: number, count: number): readonly number[];
}

const STEPS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000, 2_592_000_000,
];

export function proportionalScale(from: number, to: number): TimeScale {
  const length = Math.max(1, to - from);
  return {
    placeOf: (time) => (time - from) / length,
    timeAt: (place) => from + place * length,
    ticks: (left, right, count) => {
      const step = STEPS_MS.find((one) => (right - left) / one <= count) ?? (right - left) / count;
      const first = Math.ceil((left - from) / step) * step + from;
      const marks: number[] = [];
      for (let at = first; at <= right; at += step) marks.push(at);
      return marks;
    },
  };
}

const KEPT_SHARE = 0.75;

/**
 * What is longer than most gaps is shortened to its logarithm, so that an hour is still longer than a minute.
 *
 * @param times at which something happened; between two of them nothing did.
 */
export function compactScale(from: number, to: number, times: readonly number[]): TimeScale {
  const knots = [...new Set([from, ...times.filter((time) => time > from && time < to), Math.max(from + 1, to)])].sort(
    (a, b) => a - b,
  );
  const gaps = knots.slice(1).map((knot, at) => knot - (knots[at] ?? knot));
  const whole = wholeGap(gaps);
  const places: number[] = [0];
  for (const gap of gaps) {
    const length = gap <= whole ? gap : whole * (1 + Math.log2(gap / whole));
    places.push((places.at(-1) ?? 0) + length);
  }
  const total = places.at(-1) || 1;
  return {
    placeOf: (time) => interpolate(knots, places, time) / total,
    timeAt: (place) => interpolate(places, knots, place * total),
    ticks: (left, right, count) => {
      // Evenly on the line, at the times that stand there.
      const scale = { left: interpolate(knots, places, left), right: interpolate(knots, places, right) };
      const step = (scale.right - scale.left) / Math.max(1, count);
      return Array.from({ length: count + 1 }, (_, at) => interpolate(places, knots, scale.left + at * step));
    },
  };
}

/** Three of four gaps stay as they are. An average would follow the one gap that is to be shortened. */
function wholeGap(gaps: readonly number[]): number {
  const sorted = gaps.toSorted((a, b) => a - b);
  return Math.max(1, sorted[Math.floor((sorted.length - 1) * KEPT_SHARE)] ?? 1);
}

/** The value at `x` of the line through (xs, ys), going on with its last slopes. */
function interpolate(xs: readonly number[], ys: readonly number[], x: number): number {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) <= x) low = middle;
    else high = middle;
  }
  const [x0 = 0, x1 = x0 + 1] = [xs[low], xs[high]];
  const [y0 = 0, y1 = y0 + 1] = [ys[low], ys[high]];
  return x1 === x0 ? y0 : y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}
