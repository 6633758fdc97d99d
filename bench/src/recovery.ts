// Recovery
// ========
// kill -9 with 1,000 runs in flight, start again, until every one of them has moved: executed a step that it had not
// executed before, or ended. A ledger outside of the store holds every execution of an effect.
//
//   recovered_s        from the start of the new process (Node's own start included) until all have moved
//   effects_repeated   effects whose result was in the journal when the process died and that ran again: must be 0
//   effects_lost       effects that were cut by the kill, and therefore ran again

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "@perdure/host";
import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { removeDirectory, startModule, temporaryDirectory } from "./children.ts";

const RUNS = 1_000;
const STEP_MS = 300;
const TIMEOUT_MS = 60_000;

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 7 : 3;
  const seconds: number[] = [];
  let repeated = 0;
  let lost = 0;
  for (let turn = 0; turn < rounds; turn += 1) {
    const outcome = await once();
    progress(
      `round ${turn + 1} of ${rounds}: ${outcome.seconds.toFixed(2)} s, ${outcome.repeated} journaled effects repeated, ${outcome.lost} cut by the kill`,
    );
    seconds.push(outcome.seconds);
    repeated += outcome.repeated;
    lost += outcome.lost;
  }
  return {
    "perdure.recovered_s": round(median(seconds)),
    "perdure.effects_repeated": repeated,
    "perdure.effects_lost": round(lost / rounds),
  };
}

async function once(): Promise<{ seconds: number; repeated: number; lost: number }> {
  const data = temporaryDirectory("recovery");
  const ledger = join(data, "ledger");
  const store = join(data, "store");
  const server = (): ReturnType<typeof startModule<{ url: string; pid: number }>> =>
    startModule("perdure", new URL("perdure/server.ts", import.meta.url), [store]);
  const first = await server();
  try {
    const runs = await submit(first.ready.url, ledger);
    // In the middle: every run has begun, and most have some steps behind them.
    await until(() => new Set(lines(ledger).map(({ run }) => run)).size === runs.length, "all runs to begin");
    await sleep(STEP_MS * 3);
    first.process.kill("SIGKILL");
    await new Promise((resolve) => first.process.once("exit", resolve));
    const before = lines(ledger);
    const journaled = await journaledSteps(store, runs);

    const startedAt = performance.now();
    const second = await server();
    const highest = new Map<string, number>();
    for (const { run, step } of before) highest.set(run, Math.max(step, highest.get(run) ?? 0));
    await until(() => {
      // Moved: it executes the step that the kill cut (or one behind it), once more than before.
      const moved = new Set(
        lines(ledger)
          .slice(before.length)
          .map(({ run }) => run),
      );
      return runs.every((run) => moved.has(run) || journaled.has(`${run} 10`));
    }, "all runs to move");
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = lines(ledger).slice(before.length);
    const seen = new Set(before.map(({ run, step }) => `${run} ${step}`));
    const again = after.filter(({ run, step }) => seen.has(`${run} ${step}`)).map(({ run, step }) => `${run} ${step}`);
    await second.stop();
    return {
      seconds,
      repeated: again.filter((effect) => journaled.has(effect)).length,
      lost: again.filter((effect) => !journaled.has(effect)).length,
    };
  } finally {
    await first.stop();
    removeDirectory(data);
  }
}

async function submit(url: string, ledger: string): Promise<string[]> {
  const runs: string[] = [];
  while (runs.length < RUNS) {
    const wave = Array.from({ length: 100 }, async () => {
      const answer = await fetch(`${url}/recovery/tenSteps/send`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ledger, stepMs: STEP_MS }),
      });
      return ((await answer.json()) as { runId: string }).runId;
    });
    runs.push(...(await Promise.all(wave)));
  }
  return runs;
}

/** What the journal holds, read while nothing runs: `<run> <step>` of every step with a result. */
async function journaledSteps(directory: string, runs: readonly string[]): Promise<Set<string>> {
  const store = await openSqliteStore({ directory, readOnly: true });
  const found = new Set<string>();
  for (const run of runs) {
    for (const entry of await store.reader.journal(run as Parameters<typeof store.reader.journal>[0], 0, 100)) {
      if (entry.kind === "command" && entry.result !== undefined) found.add(`${run} ${entry.id}`);
      if (entry.kind === "completion") found.add(`${run} ${entry.id}`);
    }
  }
  await store.close();
  return found;
}

function lines(ledger: string): { run: string; step: number }[] {
  let text = "";
  try {
    text = readFileSync(ledger, "utf8");
  } catch {
    return []; // No step has run yet.
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ run: line.split(" ")[0] ?? "", step: Number(line.split(" ")[1]) }));
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(5);
  }
}
