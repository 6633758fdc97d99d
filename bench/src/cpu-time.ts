// Processor time of a child with all that it has started, by Linux's /proc; children are started as leaders of a group of
// their own (see children.ts). It says what something costs also where other work shares the machine.

import { readdirSync, readFileSync } from "node:fs";
import type { Child } from "./children.ts";

/** Clock ticks are 10 ms on every Linux that Node runs on. */
const TICK_MS = 10;

/** NaN where there is no /proc. */
export function cpuMs({ process: { pid } }: Child): number {
  let ticks = 0;
  let pids: string[];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return Number.NaN;
  }
  for (const each of pids) {
    const fields = statOf(each);
    // After the name: state, parent, group, …; user and system time are the 12th and 13th.
    if (Number(fields[2]) === pid) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
}

function statOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" "); // The name may hold spaces.
  } catch {
    return []; // It ended just now.
  }
}
