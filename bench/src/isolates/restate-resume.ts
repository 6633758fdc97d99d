// Restate's side of `resume-history`: runs of different length that wait for an awakeable, suspended, and are woken in turn.

import { setTimeout as sleep } from "node:timers/promises";
import { median, progress } from "../bench.ts";
import { within } from "../children.ts";
import { startRestate } from "../peers/restate.ts";
import { listenForReports } from "../reports.ts";

interface Report {
  readonly entries: number;
  readonly id?: string;
  readonly seen?: true;
}

/** After that it suspends an invocation that waits; and how long is waited for that. */
const INACTIVITY = "300ms";
const SUSPENDED_AFTER_MS = 2_000;
const FILL_MS_MAX = 1_800_000;

/** Medians by number of entries. */
export async function resumeRestate(lengths: readonly number[], rounds: number): Promise<ReadonlyMap<number, number>> {
  const reports = await listenForReports<Report>();
  const server = await startRestate(new URL("restate-grow.ts", import.meta.url), {
    RESTATE_WORKER__INVOKER__INACTIVITY_TIMEOUT: INACTIVITY,
    RESTATE_DEFAULT_INACTIVITY_TIMEOUT: INACTIVITY,
  });
  try {
    const awakeables = new Map<number, string>();
    const times = new Map<number, number[]>(lengths.map((length) => [length, []]));
    for (const entries of lengths) {
      await post(`${server.url}/growth/grow/send`, { entries, report: reports.url });
      awakeables.set(entries, (await within(FILL_MS_MAX, `${entries} entries`, reports.next())).id ?? "");
      progress(`restate: a journal of ${entries} entries`);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const entries of lengths) {
        await sleep(SUSPENDED_AFTER_MS);
        const began = performance.now();
        await post(`${server.url}/restate/awakeables/${awakeables.get(entries) ?? ""}/resolve`, round);
        await within(FILL_MS_MAX, "a wake-up", reports.next());
        times.get(entries)?.push(performance.now() - began);
        awakeables.set(entries, (await within(FILL_MS_MAX, "the next awakeable", reports.next())).id ?? "");
      }
    }
    return new Map([...times].map(([entries, list]) => [entries, median(list)]));
  } finally {
    await server.stop();
    reports.close();
  }
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} refused: ${answer.status} ${await answer.text()}`);
}
