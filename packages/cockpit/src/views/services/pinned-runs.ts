// How many open runs each deployment has, by one statement.

import type { SqlAnswer } from "@perdure/protocol";

export interface PinnedRuns {
  readonly deployment: string | null;
  readonly open: number;
  readonly paused: number;
}

/** What the runtime does for itself is pinned, too, but nobody waits for it to end. */
export const PINNED_QUERY = `SELECT deployment, status, count(*) AS runs FROM runs
WHERE status IN ('scheduled', 'queued', 'running', 'suspended', 'retrying', 'paused') AND service NOT LIKE 'perdure.%'
GROUP BY deployment, status`;

export function countPinned({ rows }: SqlAnswer): readonly PinnedRuns[] {
  const found = new Map<string | null, { open: number; paused: number }>();
  for (const [deployment, status, runs] of rows) {
    const name = typeof deployment === "string" ? deployment : null;
    const counts = found.get(name) ?? { open: 0, paused: 0 };
    found.set(name, counts);
    counts.open += Number(runs);
    if (status === "paused") counts.paused += Number(runs);
  }
  return [...found]
    .map(([deployment, counts]) => ({ deployment, ...counts }))
    .toSorted((a, b) => b.open - a.open || String(a.deployment).localeCompare(String(b.deployment)));
}
