// Absurd
// ======
// One queue and one worker in the serving process, on Postgres.
//
// Its database schema is a file of its project's releases (`absurd.sql`) that no npm package carries. Put it at
// `bench/absurd.sql`, or name it by ABSURD_SQL; without it this peer cannot be measured.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startOnPostgres } from "./on-postgres.ts";
import type { Peer } from "./peer.ts";

const schema = process.env.ABSURD_SQL ?? fileURLToPath(new URL("../../absurd.sql", import.meta.url));

export const absurd: Peer = {
  name: "absurd",
  ...(existsSync(schema)
    ? {}
    : { missing: "needs absurd.sql from a release of its project as bench/absurd.sql or at ABSURD_SQL" }),
  start: () => startOnPostgres("absurd", new URL("./absurd-server.ts", import.meta.url), [schema]),
};
