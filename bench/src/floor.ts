// Floor
// =====
// What this machine can do at most: HTTP and group commit into SQLite, without an engine. One server process
// journals ten dependent step rows and two bookkeeping rows a request (see floor/server.ts), in three ways:
//
//   main    SQLite on the main thread, synchronous=FULL
//   worker  SQLite on a worker thread, synchronous=FULL
//   async   SQLite on the main thread, synchronous=NORMAL, the write-ahead log flushed by an asynchronous fdatasync
//
// What a durable-execution engine costs is its distance from this floor.

import type { BenchOptions, Figures } from "./bench.ts";
import { removeDirectory, startModule, temporaryDirectory } from "./children.ts";
import type { Peer } from "./peers/peer.ts";
import { measureInTurn } from "./rounds.ts";

export async function run(options: BenchOptions): Promise<Figures> {
  const callers = [1, 10, 50, 200];
  const plan = options.long
    ? { callers, rounds: 5, warmupMs: 1_500, measureMs: 3_000 }
    : { callers, rounds: 3, warmupMs: 300, measureMs: 700 };
  return measureInTurn([variant("main"), variant("worker"), variant("async")], plan, options);
}

function variant(name: string): Peer {
  return {
    name,
    async start() {
      const directory = temporaryDirectory(`floor-${name}`);
      const server = await startModule<{ port: number }>(name, new URL("./floor/server.ts", import.meta.url), [
        name,
        directory,
      ]);
      return {
        url: `http://127.0.0.1:${server.ready.port}/bench/tenSteps`,
        async stop() {
          await server.stop();
          removeDirectory(directory);
        },
      };
    },
  };
}
