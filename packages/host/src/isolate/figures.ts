// What isolates cost, for metrics and benchmarks.

export interface IsolateFigures {
  /** Instances that hold memory now. */
  live: number;
  /** Attempts that wait for room in memory. */
  inLine: number;
  /** Attempts that began from an image. */
  restores: number;
  /** Milliseconds from the request until the guest had seen what came after its image, all restores together. */
  restoreMs: number;
  images: number;
  imageBytes: number;
  /** In the threads, beside the event loop. */
  captureMs: number;
}

export function noFigures(): IsolateFigures {
  return { live: 0, inLine: 0, restores: 0, restoreMs: 0, images: 0, imageBytes: 0, captureMs: 0 };
}
