// The server that is killed: `server.ts <data>`. Sends its addresses when it listens.

import { serve } from "../../src/serve.ts";
import { account, chain, tree } from "./handlers.ts";

const serving = await serve({
  definitions: [chain, account, tree],
  data: process.argv[2] ?? "",
  ingress: { port: 0 },
  admin: { port: 0 },
  suspendAfterMs: 20,
  limits: { attemptsLiveMax: 200 },
});
process.send?.({ url: serving.ingressUrl, admin: serving.adminUrl });
process.on("SIGTERM", () => void serving.close(1_000).then(() => process.exit(0)));
