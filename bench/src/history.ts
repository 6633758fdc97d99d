// History
// =======
// The time of one durable step in runs whose journals have 10, 1,000 and 100,000 entries. All three runs live in one
// server and measure in turn, round after round, so that a slow moment falls on all alike. Figures are medians.

import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { removeDirectory, startModule, temporaryDirectory, within } from "./children.ts";
import { listenForReports } from "./reports.ts";

const LENGTHS = [10, 1_000, 100_000];

interface Report {
  readonly entries: number;
  readonly ready?: true;
  readonly stepMs?: number;
}

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 15 : 5;
  const stepsPerRound = options.long ? 200 : 100;
  const data = temporaryDirectory("history");
  const reports = await listenForReports<Report>();
  const server = await startModule<{ url: string }>("perdure", new URL("perdure/server.ts", import.meta.url), [data]);
  try {
    const samples = new Map<number, number[]>(LENGTHS.map((length) => [length, []]));
    const runs = new Map<number, string>();
    for (const entries of LENGTHS) {
      progress(`filling a journal with ${entries} entries`);
      const answer = await fetch(`${server.ready.url}/history/grow/send`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ entries, report: reports.url, stepsPerRound }),
      });
      runs.set(entries, ((await answer.json()) as { runId: string }).runId);
      await within(300_000, `filling ${entries} entries`, reports.next());
    }
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const [entries, id] of runs) {
        await signal(server.ready.url, id, turn);
        const report = await within(120_000, `a round at ${entries} entries`, reports.next());
        samples.get(entries)?.push(report.stepMs ?? Number.NaN);
      }
      progress(`round ${turn + 1} of ${rounds}`);
    }
    const figures = LENGTHS.map(
      (length) => [`perdure.e${length}.step_ms`, round(median(samples.get(length) ?? []))] as const,
    );
    return Object.fromEntries(figures);
  } finally {
    await server.stop();
    reports.close();
    removeDirectory(data);
  }
}

async function signal(url: string, run: string, round: number): Promise<void> {
  const answer = await fetch(`${url}/perdure/runs/${run}/signals/round`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: String(round),
  });
  if (!answer.ok) throw new Error(`the signal was refused: ${await answer.text()}`);
}
