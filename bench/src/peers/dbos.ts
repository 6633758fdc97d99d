// DBOS
// ====
// Workflows started directly in the serving process (no queue: a queue would add its polling), on Postgres.

import { startOnPostgres } from "./on-postgres.ts";
import type { Peer } from "./peer.ts";

export const dbos: Peer = {
  name: "dbos",
  start: () => startOnPostgres("dbos", new URL("./dbos-server.ts", import.meta.url)),
};
