// Perdure
// =======
// The system itself, as a user runs it: its command line, its HTTP ingress, SQLite in a temporary directory.

import { fileURLToPath } from "node:url";
import { freePorts, healthy, removeDirectory, startProgram, temporaryDirectory } from "../children.ts";
import type { Peer } from "./peer.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export const perdure: Peer = {
  name: "perdure",
  async start() {
    const data = temporaryDirectory("perdure");
    const [port = 0, adminPort = 0] = await freePorts(2);
    const args = ["packages/perdure/bin/perdure.mjs", "start", "bench/src/handlers/ten-steps.ts"];
    args.push("--data", data, "--port", String(port), "--admin-port", String(adminPort));
    const server = startProgram("perdure", process.execPath, args, { cwd: root });
    const stop = async (): Promise<void> => {
      await server.stop();
      removeDirectory(data);
    };
    try {
      await healthy(server, `http://127.0.0.1:${adminPort}/health`);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url: `http://127.0.0.1:${port}/bench/tenSteps`, stop };
  },
};
