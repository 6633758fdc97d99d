// Perdure
// =======
// The system itself, as a user runs it: its command line, its HTTP ingress, SQLite in a temporary directory.

import { startPerdure } from "../perdure/start.ts";
import type { Peer } from "./peer.ts";

export const perdure: Peer = {
  name: "perdure",
  async start() {
    const { url, stop } = await startPerdure({ handlers: "ten-steps.ts" });
    return { url: `${url}/bench/tenSteps`, stop };
  },
};
