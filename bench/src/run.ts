// Run
// ===
// `node bench/src/run.ts <name> [--json] [--long] [--only a,b]`: runs one benchmark.
// Progress on stderr; on stdout a table (not with --json), then, as the last line, one JSON object.

import { parseArgs } from "node:util";
import { type BenchModule, progress, table } from "./bench.ts";

const benches: Record<string, string> = {
  steps: "a run of ten steps over HTTP at 1, 10, 50 and 200 at a time, beside its peers",
  history: "the time of one step in runs with 10, 1,000 and 100,000 journal entries",
  "resume-history": "waking a suspended run with 10, 1,000 and 100,000 entries, three ways, beside a peer",
  recovery: "kill -9 with 1,000 runs in flight, until all move again",
  sleepers: "many sleeping runs: memory, disk, wake-ups a second (a million with --long)",
  writes: "rows, bytes and flushes of a ten-step run",
  stream: "100 agents that speak 50 tokens a second each, from the provider to the clients",
  steer: "from a message, an interrupt, an approval to its effect",
  turns: "what the 10th, the 100th and the 1,000th turn of a session write",
  fairness: "a key's model calls beside 10,000 that another key has waiting",
  budget: "50 sub-agents under one budget, kill -9 in between",
  cockpit: "the cockpit in a browser: frames at 1,000 events a second, long journals, first visits, 100,000 runs",
  turn: "a turn of an agent over HTTP, beside its peers",
  snapshot: "images of agents: size, capture, restore, restores a minute",
  idle: "memory and disk of 100 and of 100,000 agents that wait in their images",
  overhead: "a run in an isolate beside the same run in the process",
  floor: "the bare machine: HTTP and group commit into SQLite without an engine, three ways",
};

const { positionals, values } = readArguments();
const [name = ""] = positionals;

if (positionals.length !== 1 || !Object.hasOwn(benches, name)) {
  const list = Object.entries(benches).map(([key, what]) => `  ${key.padEnd(14)} ${what}`);
  progress(
    [name === "" ? "Which benchmark?" : `No benchmark is called "${positionals.join(" ")}".`, ...list].join("\n"),
  );
  process.exit(2);
}

function readArguments(): { positionals: string[]; values: { json?: boolean; long?: boolean; only?: string } } {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: "boolean" }, long: { type: "boolean" }, only: { type: "string" } },
    });
  } catch (error) {
    progress(`${(error as Error).message}\nUsage: npm run bench -- <name> [--long] [--json] [--only perdure,restate]`);
    process.exit(2);
  }
}

try {
  const bench = (await import(`./${name}.ts`)) as BenchModule;
  const figures = await bench.run({ long: values.long ?? false, only: values.only?.split(",") });
  if (!values.json) console.log(table(figures));
  console.log(JSON.stringify({ bench: name, figures }));
  process.exit(0);
} catch (error) {
  progress(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}
