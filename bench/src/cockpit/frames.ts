// Frames
// ======
// How smoothly a page goes on: the time from one frame to the next, by requestAnimationFrame. A screen of 60 Hz shows one every
// 16.7 ms; what takes longer has left out as many as fit in between.

import type { Page } from "playwright-core";

export interface FrameReport {
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly worst_ms: number;
  /** Of the frames that a screen of 60 Hz would have shown, in percent. */
  readonly dropped_percent: number;
  /** Of a second, on the page's one thread. */
  readonly busy_ms_per_s: number;
}

const FRAME_MS = 1_000 / 60;

/** While `meanwhile` goes on. */
export async function measureFrames(page: Page, meanwhile: () => Promise<void>): Promise<FrameReport> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async (): Promise<{ readonly busyS: number; readonly atS: number }> => {
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    return { busyS: of("TaskDuration"), atS: of("Timestamp") };
  };
  await page.evaluate(RECORD);
  const before = await busy();
  await meanwhile();
  const after = await busy();
  const times = await page.evaluate<number[]>("stopRecording()");
  await session.detach();
  return reportOf(times, (1_000 * (after.busyS - before.busyS)) / (after.atS - before.atS));
}

/** In the page. */
const RECORD = `
  {
    const times = [];
    let isOver = false;
    const frame = (time) => { times.push(time); if (!isOver) requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    window.stopRecording = () => { isOver = true; return times; };
  }
`;

function reportOf(times: readonly number[], busyMsPerS: number): FrameReport {
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  const missed = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / FRAME_MS) - 1), 0);
  return {
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    p99_ms: at(0.99),
    worst_ms: sorted.at(-1) ?? Number.NaN,
    dropped_percent: (100 * missed) / (gaps.length + missed),
    busy_ms_per_s: busyMsPerS,
  };
}
