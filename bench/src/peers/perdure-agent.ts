// Perdure's agent, over HTTP: the call of `send` answers when the run has ended.

import { startPerdure } from "../perdure/start.ts";
import { post, type Talker } from "./talker.ts";

let sessions = 0;

export const perdureAgent: Talker = {
  name: "perdure",
  async start(providerUrl) {
    const { url, cpuMs, stop } = await startPerdure({
      handlers: "turn-agent.ts",
      env: { BENCH_PROVIDER_URL: providerUrl },
    });
    return {
      cpuMs,
      open: async () => {
        sessions += 1;
        const session = `s${sessions}`;
        return {
          say: async (text) => ((await post(`${url}/guide/${session}/send`, { text })) as { text: string }).text,
          close: () => undefined,
        };
      },
      stop,
    };
  },
};
