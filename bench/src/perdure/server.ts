// Perdure in a process of its own, with the handlers that the benchmarks other than `steps` use
// ==============================================================================================
// Run as a child module: `server.ts <data> [live max]`. Sends { url, admin, pid } when it listens.

import { serve } from "perdure";
import { recovery } from "../handlers/recovery.ts";
import { history } from "../handlers/history.ts";

const [data = "", liveMax] = process.argv.slice(2);
const serving = await serve({
  definitions: [history, recovery],
  data,
  ingress: { port: 0 },
  admin: { port: 0 },
  ...(liveMax === undefined ? {} : { limits: { attemptsLiveMax: Number(liveMax) } }),
});
process.on("SIGTERM", () => void serving.close(1_000).then(() => process.exit(0)));
process.send?.({ url: serving.ingressUrl, admin: serving.adminUrl, pid: process.pid });
