// Makes what has just happened look as if it had happened over the day: the runs that have ended are moved back, in their
// order, most of them into the last quarter of an hour, and take as long as such things take. The server must be down.

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** Of the runs, in the last minutes; the rest is spread over the day before. */
const RECENT_SHARE = 0.9;
const RECENT_MS = 14.5 * MINUTE_MS;
const STILL_MS = 8_000;

interface Row {
  readonly seq: number;
  readonly created: number;
  readonly finished: number;
}

export function ageFinishedRuns(folder: string, now: number): void {
  const database = new DatabaseSync(join(folder, "perdure.db"));
  const runs = database
    .prepare(
      "SELECT seq, created_at AS created, finished_at AS finished FROM runs WHERE finished_at IS NOT NULL ORDER BY seq",
    )
    .all() as unknown as readonly Row[];
  const moveRun = database.prepare("UPDATE runs SET created_at = ?, changed_at = ?, finished_at = ? WHERE seq = ?");
  const moveEntries = database.prepare("UPDATE entries SET at = ? + CAST((at - ?) * ? AS INTEGER) WHERE run = ?");
  const random = seeded(7);
  database.exec("BEGIN");
  for (const [at, { seq, created, finished }] of runs.entries()) {
    const start = now - Math.round(ageOf(at / runs.length));
    const took = Math.max(1, finished - created);
    const stretch = Math.max(1, (90 + 700 * random() ** 4) / took);
    const end = start + Math.round(took * stretch);
    moveRun.run(start, end, end, seq);
    moveEntries.run(start, created, stretch, seq);
  }
  database.exec("COMMIT");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** The first are the oldest. Traffic swells and ebbs. */
function ageOf(share: number): number {
  if (share < 1 - RECENT_SHARE) return DAY_MS - (share / (1 - RECENT_SHARE)) * (DAY_MS - RECENT_MS);
  const recent = (share - (1 - RECENT_SHARE)) / RECENT_SHARE;
  const swell = recent + 0.05 * Math.sin(recent * 12);
  return STILL_MS + (RECENT_MS - STILL_MS) * (1 - Math.min(1, Math.max(0, swell)));
}

/** The same numbers each time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
