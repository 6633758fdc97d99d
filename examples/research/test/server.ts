// What kill.test.ts starts and kills: the agents in a process of their own, on free ports.

import { serve } from "perdure";

import { researcher, writer } from "../src/main.ts";

const { ingressUrl, adminUrl } = await serve({
  definitions: [researcher, writer],
  sources: [new URL("../src/main.ts", import.meta.url)],
  data: process.argv[2] ?? ".perdure",
  ingress: { port: 0 },
  admin: { port: 0 },
});
console.log(`listens at ${ingressUrl} and ${adminUrl}`);
