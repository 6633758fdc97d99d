// A schedule in words, and its starts as a table.

import { timingText, type ScheduleView } from "@perdure/agents";
import { formatDuration } from "@perdure/protocol";
import type { Output } from "./output.ts";
import { paintStatus } from "./style.ts";
import type { Column, Row } from "./table.ts";
import { targetText } from "./target.ts";
import { printable } from "./text.ts";
import { ago, clockTime } from "./time-text.ts";

export function scheduleText({ name, paused, spec, next }: ScheduleView, out: Output): string {
  const { timing, target, input, overlap, catchUp, jitterMs } = spec;
  const key = target.keyPerStart === true ? "<time>" : target.key;
  const zone = timing.kind === "cron" ? `  ${timing.timeZone}` : "";
  const jitter = jitterMs === 0 ? "" : `  up to ${formatDuration(jitterMs)} later`;
  const lines: readonly (readonly [string, string])[] = [
    ["when", `${timingText(timing)}${zone}${jitter}`],
    ["starts", `${targetText({ ...target, key })}${input === undefined ? "" : ` ${JSON.stringify(input)}`}`],
    ["overlap", overlap],
    ["catch-up", catchUp],
    ...next.map(({ at }, index) => [index === 0 ? "next" : "", `${clockTime(at)}  ${ago(at, out.now)}`] as const),
  ];
  const title = `${out.paint("bold", printable(name))}  ${paused ? out.paint("yellow", "paused") : "active"}`;
  return [title, ...lines.map(([what, text]) => `  ${out.paint("dim", what.padEnd(8))}  ${printable(text)}`), ""].join(
    "\n",
  );
}

export const STARTS: readonly Column[] = [
  { title: "FOR" },
  { title: "DECIDED" },
  { title: "RUN" },
  { title: "STATUS" },
  { title: "OUTCOME", shrinksTo: 12 },
];

export function startRow(start: ScheduleView["history"][number], out: Output): Row {
  const { scheduledFor, at, run, status, outcome } = start;
  const painted = { text: status ?? "", paint: (text: string) => paintStatus(out.paint, status ?? "", text) };
  return [clockTime(scheduledFor), ago(at, out.now), run ?? "", painted, outcome];
}
