// Perdure as a user runs it: its command line, its HTTP ingress, SQLite in a directory. Once, or again over the same data
// after it was killed.

import { fileURLToPath } from "node:url";
import { cpuMs } from "../cpu-time.ts";
import { type Child, freePorts, healthy, removeDirectory, startProgram, temporaryDirectory } from "../children.ts";

export interface PerdureOptions {
  /** A file under `src/handlers`. */
  readonly handlers: string;
  readonly env?: Record<string, string>;
}

export interface RunningPerdure {
  readonly url: string;
  readonly admin: string;
  readonly data: string;
  /** Processor time of the process that runs now. */
  cpuMs(): number;
  /** kill -9, and until the process is gone. */
  kill(): Promise<void>;
  /** Starts it over the data that a kill has left. */
  startAgain(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

export async function startPerdure({ handlers, env }: PerdureOptions): Promise<RunningPerdure> {
  const data = temporaryDirectory("perdure");
  const [port = 0, adminPort = 0] = await freePorts(2);
  const args = ["packages/perdure/bin/perdure.mjs", "start", `bench/src/handlers/${handlers}`];
  args.push("--data", data, "--port", String(port), "--admin-port", String(adminPort));
  const start = async (): Promise<Child> => {
    const child = startProgram("perdure", process.execPath, args, { cwd: root, ...(env === undefined ? {} : { env }) });
    try {
      await healthy(child, `http://127.0.0.1:${adminPort}/health`);
      return child;
    } catch (error) {
      await child.stop();
      throw error;
    }
  };
  let server: Child;
  try {
    server = await start();
  } catch (error) {
    removeDirectory(data);
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    admin: `http://127.0.0.1:${adminPort}`,
    data,
    cpuMs: () => cpuMs(server),
    async kill() {
      const gone = new Promise((resolve) => server.process.once("exit", resolve));
      server.process.kill("SIGKILL");
      await gone;
    },
    async startAgain() {
      server = await start();
    },
    async stop() {
      await server.stop();
      removeDirectory(data);
    },
  };
}
