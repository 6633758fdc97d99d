// Which images a run keeps: the newest two, since a damaged newest falls back to the one before, and those that a person
// has named. Once the run has ended, the newest one and the named.
//
// An image is a shortcut (I2): adding and dropping them writes nothing to the journal and is no progress.

import { assert, type ImageInfo, isFinished } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { HotRun } from "../view.ts";

const KEPT_LIVE = 2;
const KEPT_FINISHED = 1;

/** In order of their entries. */
export function imagesOf(run: HotRun): readonly ImageInfo[] {
  assert(run.images !== null, `the images of run ${run.record.id} are decided upon without being loaded`);
  return run.images;
}

export function addImage(batch: Batch, run: HotRun, info: ImageInfo, bytes: Uint8Array | null): void {
  const images = imagesOf(run);
  assert(info.entry > (images.at(-1)?.entry ?? -1), "images are added in order of their entries");
  assert(info.entry <= run.entries, "an image has seen what is in the journal");
  batch.mutations.push({ type: "addImage", run: run.record.seq, info, bytes });
  run.images = [...images, info];
}

export function dropImages(batch: Batch, run: HotRun, entries: readonly number[]): void {
  const images = imagesOf(run);
  const dropped = images.map(({ entry }) => entry).filter((entry) => entries.includes(entry));
  if (dropped.length === 0) return;
  batch.mutations.push({ type: "dropImages", run: run.record.seq, entries: dropped });
  run.images = images.filter(({ entry }) => !dropped.includes(entry));
}

export function dropSuperseded(batch: Batch, run: HotRun): void {
  const kept = isFinished(run.record.status) ? KEPT_FINISHED : KEPT_LIVE;
  const older = imagesOf(run).slice(0, -kept);
  const superseded = older.filter(({ name }) => name === null).map(({ entry }) => entry);
  dropImages(batch, run, superseded);
}

export function dropAllImages(batch: Batch, run: HotRun): void {
  dropImages(
    batch,
    run,
    imagesOf(run).map(({ entry }) => entry),
  );
}

/** The journal was cut before entry `from`: the store drops the images that had seen what is gone. */
export function forgetImagesFrom(run: HotRun, from: number): void {
  if (run.images !== null) run.images = run.images.filter(({ entry }) => entry < from);
}
