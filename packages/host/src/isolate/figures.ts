// What isolates cost, for metrics and benchmarks.

export interface IsolateFigures {
  /** Instances that hold memory now. */
  live: number;
  /** The bytes that they were admitted with, and the most that they may have together. */
  bytes: number;
  readonly bytesMax: number;
  /** Attempts that wait for room in memory. */
  inLine: number;
  /** Attempts that began from an image. */
  restores: number;
  /** Milliseconds from the request until the guest had seen what came after its image, all restores together. */
  restoreMs: number;
  /** How many took at most RESTORE_MS_BOUNDS[i], and longer than the one before; the last: longer than all. */
  readonly restoresWithin: number[];
  images: number;
  imageBytes: number;
  /** In the threads, beside the event loop. */
  captureMs: number;
  /** Threads that died, with all instances in them. */
  threadsLost: number;
}

/** A restore takes two milliseconds; one that has to wait for its thread, or met a long journal, more. */
export const RESTORE_MS_BOUNDS: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

export function noFigures(bytesMax: number): IsolateFigures {
  return {
    live: 0,
    bytes: 0,
    bytesMax,
    inLine: 0,
    restores: 0,
    restoreMs: 0,
    restoresWithin: Array.from({ length: RESTORE_MS_BOUNDS.length + 1 }, () => 0),
    images: 0,
    imageBytes: 0,
    captureMs: 0,
    threadsLost: 0,
  };
}

export function countRestore(figures: IsolateFigures, tookMs: number): void {
  figures.restores += 1;
  figures.restoreMs += tookMs;
  const within = RESTORE_MS_BOUNDS.findIndex((bound) => tookMs <= bound);
  const at = within === -1 ? RESTORE_MS_BOUNDS.length : within;
  figures.restoresWithin[at] = (figures.restoresWithin[at] ?? 0) + 1;
}
