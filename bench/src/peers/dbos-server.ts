// DBOS server
// ===========
// Started as a process by dbos.ts. Argument: the Postgres URL.

import { DBOS } from "@dbos-inc/dbos-sdk";
import { serveTenSteps } from "./http.ts";

const tenSteps = DBOS.registerWorkflow(
  async (n: number): Promise<number> => {
    let value = n;
    for (let i = 0; i < 10; i += 1) value = await DBOS.runStep(async () => value + 1, { name: `step-${i}` });
    return value;
  },
  { name: "tenSteps" },
);

DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl: process.argv[2] ?? "",
  systemDatabasePoolSize: 20, // 10, 20 and 40 measured alike: the processor is the limit.
  logLevel: "error",
  enableOTLP: false,
});
await DBOS.launch();
serveTenSteps(async (n) => (await DBOS.startWorkflow(tenSteps)(n)).getResult());
