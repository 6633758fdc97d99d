// Runs as a table.

import type { RunSummary } from "@perdure/protocol";
import type { Output } from "./output.ts";
import { shortId } from "./run-lookup.ts";
import { paintStatus } from "./style.ts";
import type { Column } from "./table.ts";
import { targetText } from "./target.ts";
import { ago, roundDuration } from "./time-text.ts";
import { briefReason } from "./timeline.ts";

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "STATUS" },
  { title: "TARGET", shrinksTo: 16 },
  { title: "CREATED", align: "right" },
  { title: "TOOK", align: "right" },
  { title: "WHY", shrinksTo: 8 },
];
const REASON_WIDTH_MAX = 200;

/** @param full whole ids, where a terminal would get short ones. */
export function runsTable(runs: readonly RunSummary[], out: Output, full: boolean): string {
  const { now, live, paint } = out;
  const rows = runs.map((run) => {
    const created = Date.parse(run.createdAt);
    const end = run.finishedAt === null ? undefined : Date.parse(run.finishedAt);
    return [
      live && !full ? shortId(run.id) : run.id,
      { text: run.status, paint: (text: string) => paintStatus(paint, run.status, text) },
      targetText(run),
      // Ages in a pipe would differ at every call.
      live ? ago(created, now) : run.createdAt,
      end === undefined ? "" : roundDuration(end - created),
      { text: briefReason(run, now, REASON_WIDTH_MAX), paint: (text: string) => paint("dim", text) },
    ];
  });
  return out.table(COLUMNS, rows);
}
