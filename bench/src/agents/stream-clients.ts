// Stream clients
// ==============
// The readers of the benchmark `stream`, in a process of their own: `stream-clients.ts <url> <streams> <tokens> <skip>`. Each
// follows the events of one session by server-sent events from the beginning, and checks that every token comes once, in
// order. Says `ready` when all are connected, and reports when all have their last token.

import { Agent, get } from "node:http";

export interface ClientsReport {
  /** Milliseconds from the provider's write to here, without the first `skip` tokens of a stream. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly tokens: number;
  /** Lost, doubled or out of order. */
  readonly wrong: number;
  readonly seconds: number;
}

const [url = "", streamsText = "", tokensText = "", skipText = ""] = process.argv.slice(2);
const streams = Number(streamsText);
const tokens = Number(tokensText);
const skip = Number(skipText);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

const latencies: number[] = [];
let wrong = 0;
let received = 0;
let firstAt = 0;

const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

function follow(session: string): { readonly connected: Promise<void>; readonly over: Promise<void> } {
  const connected = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let expected = 0;
  let rest = "";
  const line = (text: string, now: number): boolean => {
    if (!text.startsWith("data:")) return false;
    const { item } = JSON.parse(text.slice(5)) as { readonly item?: StreamEvent };
    if (item === undefined) return false; // It is told from where there are items.
    if (item.type === "turn-end") return true;
    if (item.type !== "part" || item.part?.type !== "text-delta") return false;
    const [number = "", micros = ""] = item.part.delta.trim().split(".");
    if (Number(number) !== expected) wrong += 1;
    expected = Number(number) + 1;
    received += 1;
    if (firstAt === 0) firstAt = now;
    if (expected > skip) latencies.push((now - Number(micros)) / 1_000);
    return false;
  };
  const request = get(
    `${url}/perdure/streams/streamer/${session}/events`,
    { agent, headers: { accept: "text/event-stream" } },
    (response) => {
      if (response.statusCode !== 200) over.reject(new Error(`events of ${session}: ${response.statusCode}`));
      connected.resolve();
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        const now = nowMicros();
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const each of lines) {
          if (!line(each, now)) continue;
          if (expected !== tokens) wrong += Math.abs(tokens - expected);
          request.destroy();
          over.resolve();
        }
      });
    },
  );
  request.on("error", (error) => over.reject(error));
  return { connected: connected.promise, over: over.promise };
}

/** Of an agent's events, what is looked at here. */
interface StreamEvent {
  readonly type: string;
  readonly part?: { readonly type: string; readonly delta: string };
}

const followers = Array.from({ length: streams }, (_, i) => follow(`s${i}`));
await Promise.all(followers.map(({ connected }) => connected));
process.send?.({ progress: "ready" });
await Promise.all(followers.map(({ over }) => over));
const seconds = (nowMicros() - firstAt) / 1e6;
latencies.sort((a, b) => a - b);
const at = (share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
const report: ClientsReport = {
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  maxMs: latencies.at(-1) ?? 0,
  tokens: received,
  wrong,
  seconds,
};
process.send?.({ report });
