// On Postgres
// ===========
// A peer that is a library on Postgres: one database server and one Node process of ours around the library.

import { startModule } from "../children.ts";
import type { Target } from "./peer.ts";
import { startPostgres } from "./postgres.ts";

export async function startOnPostgres(name: string, module: URL, args: readonly string[] = []): Promise<Target> {
  const postgres = await startPostgres(name);
  try {
    const server = await startModule<{ port: number }>(name, module, [postgres.url, ...args]);
    return {
      url: `http://127.0.0.1:${server.ready.port}/bench/tenSteps`,
      // The libraries poll; a stopped process does not.
      pause: () => void server.process.kill("SIGSTOP"),
      resume: () => void server.process.kill("SIGCONT"),
      async stop() {
        await server.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
