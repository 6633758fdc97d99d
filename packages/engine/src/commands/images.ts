// Images of attempts, damaged images, and the names that people give them.

import type { ImageInfo } from "@perdure/protocol";
import type { Batch } from "../batch.ts";
import type { AttemptEvent, LoopEvent, RunEvent } from "../events.ts";
import { launch, liveAttempt, release } from "../moves/attempts.ts";
import { addImage, dropImages, dropSuperseded, imagesOf } from "../moves/images.ts";
import { writeHeld } from "../moves/journal.ts";
import type { HotRun } from "../view.ts";
import { retryLater } from "./attempt-end.ts";

/**
 * An attempt was captured. I1 is made sure of here, since an attempt is not told where all its commands stand: where nothing
 * was handed to it since, what stands after the entries that it has seen are its own commands, so the image has the whole
 * journal behind it. Where something was, none of its commands may stand after what it has seen. Others are passed over.
 */
export function image(batch: Batch, event: Extract<AttemptEvent, { type: "image" }>): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  const { entry, hash, base, bytes } = event.image;
  if (entry > run.entries) return; // It has seen what is not in the journal.
  const isWhole = entry >= attempt.told;
  // The code may have asked for those before it was captured, or after.
  if (!isWhole && (attempt.held.length > 0 || entry < attempt.asked)) return;
  if (attempt.held.length > 0) writeHeld(batch, run, attempt, Number.POSITIVE_INFINITY); // It has asked for them.
  const seen = isWhole ? run.entries : entry;
  if (seen <= (imagesOf(run).at(-1)?.entry ?? 0)) return; // There is one that is as good.
  addImage(batch, run, { entry: seen, hash, base, size: bytes.byteLength, at: batch.now, name: null }, bytes);
  dropSuperseded(batch, run);
}

/** What the attempt was started from cannot be read: it starts again from the image before, with the longer tail. */
export function imageUnusable(batch: Batch, event: Extract<AttemptEvent, { type: "imageUnusable" }>): void {
  const run = batch.view.run(event.run);
  const attempt = liveAttempt(run, event.attempt);
  if (run === undefined || attempt === null) return; // E4: stale.
  if (attempt.held.length > 0) writeHeld(batch, run, attempt, Number.POSITIVE_INFINITY);
  release(batch, run);
  if (attempt.image === null) {
    retryLater(batch, run, event.failure, null); // It was given none: without the policy this would go on for ever.
    return;
  }
  lose(batch, run, [attempt.image], event.failure.message);
  launch(batch, run);
}

/** The store has passed over them already. */
export function forgetImages(batch: Batch, event: Extract<LoopEvent, { type: "forgetImages" }>): void {
  const run = batch.view.run(event.run);
  if (run !== undefined) dropImages(batch, run, event.entries);
}

function lose(batch: Batch, run: HotRun, entries: readonly number[], reason: string): void {
  dropImages(batch, run, entries);
  for (const entry of entries) batch.actions.push({ type: "imageLost", run: run.record.id, entry, reason });
}

export function nameMoment(batch: Batch, event: Extract<RunEvent, { type: "nameMoment" }>): void {
  const run = batch.view.run(event.run);
  const { ticket, entry, name } = event;
  if (run === undefined) {
    batch.refuse(ticket, "not_found", `there is no run ${event.run}: it never was, or its retention is over`);
    return;
  }
  const images = imagesOf(run);
  const refusal = refusalOf(images, entry, name);
  if (refusal !== null) {
    batch.refuse(ticket, "conflict", refusal);
    return;
  }
  batch.mutations.push({ type: "nameImage", run: run.record.seq, entry, name });
  run.images = images.map((info) => (info.entry === entry ? { ...info, name } : info));
  dropSuperseded(batch, run);
  batch.reply(ticket, { type: "done", status: run.record.status });
}

function refusalOf(images: readonly ImageInfo[], entry: number, name: string | null): string | null {
  if (!images.some((info) => info.entry === entry)) {
    const there = images.map((info) => info.entry).join(", ");
    return `there is no image at entry ${entry}: ${there === "" ? "the run has none" : `those of the run are at ${there}`}`;
  }
  const other = images.find((info) => name !== null && info.name === name && info.entry !== entry);
  return other === undefined
    ? null
    : `the moment at entry ${other.entry} is called "${name}": take that name away first`;
}
