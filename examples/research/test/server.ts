// What kill.test.ts starts and kills: the agent in a process of its own, on free ports.

import { serve } from "perdure";

import * as main from "../src/main.ts";

const { ingressUrl, adminUrl } = await serve({
  definitions: [main.research, main.researcher, main.writer],
  data: process.argv[2] ?? ".perdure",
  ingress: { port: 0 },
  admin: { port: 0 },
});
console.log(`listens at ${ingressUrl} and ${adminUrl}`);
