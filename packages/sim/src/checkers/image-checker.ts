// E10: an attempt that starts from an image is owed the entries after it: the image has seen nothing that is not before it,
// missed nothing that is, and is the run's own. Images come from the run's live attempt, and go with what they have seen.

import type { Mutation } from "@perdure/engine";
import { isFinished, type RunId } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import { decodeImage, SCRIPT_BASE } from "../script/image.ts";
import type { Checker, Committed, Context, SeenAttempt } from "./checker.ts";
import { isCurrent } from "./checker.ts";

const KEPT_LIVE = 2;
const KEPT_FINISHED = 1;

export function createImageChecker(): Checker {
  /** Who said it last, by run and hash. */
  const said = new Map<string, SeenAttempt>();
  /** Attempts of a run up to this number had seen a journal that was cut since. */
  const cut = new Map<number, number>();
  return {
    name: "images",
    beforeMutation(context, mutation) {
      if (mutation.type === "addImage") checkAdded(context, mutation, said, cut);
      else if (mutation.type === "truncate") cut.set(mutation.run, context.lastAttempt.get(mutation.id)?.number ?? 0);
    },
    afterCommit: checkKept,
    observe(context, observation) {
      if (observation.type === "imaged") {
        const attempt = context.attempts.get(observation.attempt);
        if (attempt !== undefined) said.set(`${attempt.start.run} ${observation.image.hash}`, attempt);
      } else if (observation.type === "started") checkStart(context, observation.attempt);
      else if (observation.type === "stored") checkStored(context, observation);
    },
  };
}

function checkAdded(
  context: Context,
  { run: seq, info, bytes }: Extract<Mutation, { type: "addImage" }>,
  said: ReadonlyMap<string, SeenAttempt>,
  cut: ReadonlyMap<number, number>,
): void {
  const run = context.shadow.bySeq.get(seq);
  if (run === undefined || bytes === null) return;
  const where = `image ${info.entry} of ${context.names.of(run.record.id)}`;
  if (info.entry > run.entries.length) context.report("E10", `${where} has seen more than the journal holds`);
  const attempt = said.get(`${run.record.id} ${info.hash}`);
  if (attempt === undefined) return context.report("E10", `${where} was said by nobody`);
  const last = context.lastAttempt.get(run.record.id);
  if (last?.number !== attempt.number || attempt.number <= (cut.get(seq) ?? 0))
    context.report("E4", `${where} comes from attempt ${attempt.number}, which is not the live one`);
}

/** The newest two and the named; once the run has ended, the newest and the named. */
function checkKept(context: Context, { commit }: Committed): void {
  for (const mutation of commit.mutations) {
    if (mutation.type !== "addImage" && mutation.type !== "updateRun") continue;
    const run = context.shadow.bySeq.get(mutation.type === "addImage" ? mutation.run : mutation.run.seq);
    if (run === undefined) continue;
    const most = isFinished(run.record.status) ? KEPT_FINISHED : KEPT_LIVE;
    const superseded = run.images.slice(0, -most).filter(({ name }) => name === null);
    if (superseded.length > 0)
      context.report(
        "E10",
        `${context.names.of(run.record.id)} keeps ${run.images.length} images, ${run.record.status}`,
      );
  }
}

function checkStart(context: Context, number: number): void {
  const attempt = context.attempts.get(number);
  if (attempt === undefined || !isCurrent(context, attempt) || attempt.start.image === null) return;
  const { run: id, generation, image } = attempt.start;
  const run = context.shadow.run(id);
  if (run === undefined || run.record.generation !== generation) return;
  const where = `attempt ${number} of ${context.names.of(id)}, which starts from image ${image.info.entry},`;
  if (!run.images.some(({ entry, hash }) => entry === image.info.entry && hash === image.info.hash))
    return context.report("E10", `${where} is given one that the run does not have`);
  checkSeen(context, id, where, image);
}

/** What the image has seen is what is before it, but for commands of its own: those it had asked for. */
function checkSeen(
  context: Context,
  id: RunId,
  where: string,
  { info, bytes }: NonNullable<SeenAttempt["start"]["image"]>,
): void {
  if (info.base !== SCRIPT_BASE) return; // A heap: what it has seen is told by how its run goes on.
  const { seen, asked } = decodeImage(bytes);
  const entries = context.shadow.run(id)?.entries ?? [];
  if (seen > info.entry) context.report("E10", `${where} is told again of entry ${seen}`);
  for (const { entry } of entries.slice(seen, info.entry))
    if (entry.kind !== "command" || entry.id > asked)
      context.report("E10", `${where} is never told of entry ${entry.index} (${entry.kind})`);
  const before = entries.slice(0, info.entry).filter(({ entry }) => entry.kind === "command").length;
  if (asked !== before)
    context.report("E10", `${where} has asked for ${asked} commands, and ${before} stand before it`);
}

function checkStored(context: Context, stored: Extract<Observation, { type: "stored" }>): void {
  for (const { run, images } of stored.runs) {
    const known = context.shadow.bySeq.get(run.seq)?.images ?? [];
    if (JSON.stringify(images) !== JSON.stringify(known))
      context.report(
        "E10",
        `the storage holds ${images.length} images of ${context.names.of(run.id)}, not the ${known.length} that were kept`,
      );
  }
}
