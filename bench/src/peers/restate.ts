// Restate
// =======
// The real restate-server binary from npm, one node, with its default durability (every append to its log is
// flushed before it is acknowledged), and one Node process with the TypeScript SDK that serves the ten steps.

import { createRequire } from "node:module";
import { freePorts, healthy, removeDirectory, startModule, startProgram, temporaryDirectory } from "../children.ts";
import type { Peer } from "./peer.ts";

export const restate: Peer = {
  name: "restate",
  async start() {
    const { url, stop } = await startRestate(new URL("./restate-service.ts", import.meta.url));
    return { url: `${url}/bench/tenSteps`, stop };
  },
};

/** A server, and a process with that module's services. @param env of the server */
export async function startRestate(
  services: URL,
  env: Record<string, string> = {},
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const data = temporaryDirectory("restate");
  const [ingress = 0, admin = 0, node = 0, service = 0] = await freePorts(4);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(stops.map((one) => one()));
    removeDirectory(data);
  };
  try {
    const server = startProgram("restate-server", binary(), ["--no-logo"], {
      env: {
        RESTATE_BASE_DIR: data,
        TMPDIR: data, // It keeps its invokers' spill files there.
        RESTATE_NODE_NAME: "bench",
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_BIND_IP: "127.0.0.1",
        RESTATE_BIND_PORT: String(node),
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
        RESTATE_LOG_FILTER: "error",
        RESTATE_TRACING_FILTER: "off",
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_SHUTDOWN_TIMEOUT: "3s",
        ...env,
      },
    });
    stops.push(server.stop);
    const handlers = await startModule("restate-service", services, [String(service)]);
    stops.push(handlers.stop);
    await healthy(server, `http://127.0.0.1:${admin}/health`);
    await healthy(server, `http://127.0.0.1:${ingress}/restate/health`);
    await register(admin, service);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${ingress}`, stop };
}

/** The binary itself: the package's launcher would only stand between us and its process id. */
function binary(): string {
  const require = createRequire(import.meta.resolve("@restatedev/restate-server/package.json"));
  return require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}

async function register(admin: number, service: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
  });
  if (!answer.ok) throw new Error(`restate refused the deployment: ${answer.status} ${await answer.text()}`);
}
