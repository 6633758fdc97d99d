// A steady stream of events: long runs whose steps tick, and short ones that come and go. How many events there really were is
// counted where the page hears of them, at GET /events.

import { setTimeout as sleep } from "node:timers/promises";

const EVENTS_A_SECOND = 1_000;
const LONG_RUNS = 25;
/** A second; each has about four events. */
const SHORT_RUNS = 20;
const TICK_MS = (1_000 * LONG_RUNS) / (EVENTS_A_SECOND - 4 * SHORT_RUNS);

export interface Traffic {
  /** The first of the long runs. */
  readonly run: string;
  /** Nothing is to come any more. */
  readonly over: Promise<void>;
}

export async function startTraffic(ingress: string, seconds: number): Promise<Traffic> {
  const count = Math.ceil((seconds * 1_000) / TICK_MS);
  const longs = Array.from({ length: LONG_RUNS }, () => send(ingress, "ticks", { count, everyMs: TICK_MS }));
  const [run = ""] = await Promise.all(longs);
  const over = (async (): Promise<void> => {
    const until = performance.now() + seconds * 1_000;
    while (performance.now() < until) {
      await Promise.all([send(ingress, "nothing", null), sleep(1_000 / SHORT_RUNS)]);
    }
  })();
  return { run, over };
}

export async function send(ingress: string, handler: string, input: unknown): Promise<string> {
  const response = await fetch(`${ingress}/load/${handler}/send`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${handler}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { runId: string }).runId;
}

/** Events a second, as whoever listens is told them. */
export async function countEvents(admin: string, during: () => Promise<void>): Promise<number> {
  const stop = new AbortController();
  const response = await fetch(`${admin}/events`, { signal: stop.signal });
  let count = 0;
  const reading = (async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      count += decoder.decode(bytes, { stream: true }).split("\nevent: ").length - 1;
    }
  })().catch(() => undefined); // It ends by being cut.
  const began = performance.now();
  await during();
  const perSecond = (1_000 * count) / (performance.now() - began);
  stop.abort();
  await reading;
  return perSecond;
}
