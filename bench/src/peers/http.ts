// HTTP
// ====
// The least HTTP server that puts a library behind the peers' contract (see peer.ts).

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Serves on a free loopback port and reports it to the parent process. */
export function serveTenSteps(tenSteps: (n: number) => Promise<number>): void {
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const { n } = JSON.parse(text) as { n: number };
      tenSteps(n).then(
        (value) => response.writeHead(200, { "content-type": "application/json" }).end(String(value)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, "127.0.0.1", 1_024, () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.once("SIGTERM", () => process.exit(0));
  process.once("disconnect", () => process.exit(0));
}
