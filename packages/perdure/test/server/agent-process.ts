// The server that is killed: `agent-process.ts <data> <pieces>`. Its model says so many pieces, then falls silent.

import { agent } from "@perdure/agents";
import { scriptedModel } from "perdure/testing";
import { serve } from "../../src/serve.ts";

const [, , data = "", pieces = "0"] = process.argv;
let left = Number(pieces);
const text = Array.from({ length: 20 }, (_, at) => `${at} `).join("");

const model = scriptedModel(() => ({ text, tokensPerSecond: 1 }), {
  delay: (_, callback) => {
    left -= 1;
    if (left < 0) return () => undefined; // Silence, until it is killed.
    const timer = setTimeout(callback, 1);
    return () => clearTimeout(timer);
  },
});

const serving = await serve({
  definitions: [agent("teller", { model })],
  data,
  ingress: { port: 0 },
  admin: { port: 0 },
});
process.send?.({ url: serving.ingressUrl });
