// The rows of the table: pages as they were read, and over them what has happened since
// =====================================================================================
// M1. Rows are in order of their numbers, each run once.
// M2. A run that does not match any more is not shown; one that matches now is, if its place lies within what is loaded.
// M3. Nothing moves under the reader's eyes: runs that came after `newestShown` are counted, not shown.

import type { RunId, RunSummary } from "@perdure/protocol";

export interface MergeInput {
  /** As they were read, in order. */
  readonly read: readonly RunSummary[];
  readonly readIds: ReadonlySet<RunId>;
  /** Whether there is more after the last of them. */
  readonly hasMore: boolean;
  /** Runs that were heard of, in any order. */
  readonly told: readonly RunSummary[];
  readonly deleted: ReadonlySet<RunId>;
  readonly matches: (run: RunSummary) => boolean;
  readonly order: "newest" | "oldest";
  /** The highest number that may be shown; null: all. */
  readonly newestShown: number | null;
}

export interface Merged {
  readonly rows: readonly RunSummary[];
  /** Newer ones that are held back. */
  readonly held: number;
}

export function mergeRows(input: MergeInput): Merged {
  const { read, readIds, hasMore, told, deleted, matches, order, newestShown } = input;
  const sign = order === "newest" ? -1 : 1;
  const end = read.at(-1)?.seq;
  const added: RunSummary[] = [];
  const gone = new Set<RunId>();
  let held = 0;
  for (const run of told) {
    const isMatch = matches(run);
    if (readIds.has(run.id)) {
      if (!isMatch) gone.add(run.id);
      continue;
    }
    if (!isMatch || deleted.has(run.id)) continue;
    // What lies beyond the last page comes with the next one.
    if (hasMore && end !== undefined && sign * (run.seq - end) > 0) continue;
    if (newestShown !== null && run.seq > newestShown) held += 1;
    else added.push(run);
  }
  const isGone = (run: RunSummary): boolean => gone.has(run.id) || deleted.has(run.id);
  const kept = gone.size === 0 && deleted.size === 0 ? read : read.filter((run) => !isGone(run));
  if (added.length === 0) return { rows: kept, held };
  added.sort((a, b) => sign * (a.seq - b.seq));
  return { rows: interleave(kept, added, sign), held };
}

/** Both in order; the result, too. */
function interleave(left: readonly RunSummary[], right: readonly RunSummary[], sign: number): readonly RunSummary[] {
  const rows: RunSummary[] = [];
  let at = 0;
  for (const run of right) {
    for (let next = left[at]; next !== undefined && sign * (next.seq - run.seq) < 0; next = left[at]) {
      rows.push(next);
      at += 1;
    }
    rows.push(run);
  }
  for (; at < left.length; at += 1) {
    const rest = left[at];
    if (rest !== undefined) rows.push(rest);
  }
  return rows;
}
