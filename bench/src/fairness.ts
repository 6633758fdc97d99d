// Fairness
// ========
// 10,000 calls of one key wait at a gateway that lets eight through at a time; another key makes one call after the other
// meanwhile. From its call until its answer begins, against the same without the crowd.
//
//   alone_p50_ms     nobody else is there
//   crowded_p50_ms   the others wait, all of them in the same lane
//   ratio            the one against the other: at most 2, or the crowd has taken more than its turn
//   waited_p50_ms    of a crowded call, in the queue
//
// The provider is in a process of its own and begins to answer after 20 ms, which is far quicker than any real one: a slower
// one would make the ratio look better.

import { createOpenAI } from "@ai-sdk/openai";
import { ModelGateway } from "@perdure/agents";
import { startProvider } from "./agents/start-provider.ts";
import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";

const CROWD = 10_000;
const CONCURRENCY = 8;

interface Start {
  readonly startMs: number;
  readonly waitedMs: number;
}

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 5 : 3;
  const calls = options.long ? 200 : 60;
  const provider = await startProvider();
  try {
    const alone: Start[] = [];
    const crowded: Start[] = [];
    for (let turn = 1; turn <= rounds; turn += 1) {
      alone.push(...(await calling(gatewayAt(provider.url), calls)));
      crowded.push(...(await inCrowd(gatewayAt(provider.url), calls)));
      progress(`round ${turn} of ${rounds}: alone ${p50(alone)} ms, crowded ${p50(crowded)} ms`);
    }
    return {
      "perdure.alone_p50_ms": p50(alone),
      "perdure.crowded_p50_ms": p50(crowded),
      "perdure.ratio": round(p50(crowded) / p50(alone)),
      "perdure.waited_p50_ms": round(median(crowded.map(({ waitedMs }) => waitedMs))),
    };
  } finally {
    await provider.stop();
  }
}

type Ask = (key: string, signal: AbortSignal) => Promise<Start>;

function gatewayAt(url: string): Ask {
  const gateway = new ModelGateway({
    ports: {
      now: Date.now,
      random: Math.random,
      delay: (ms, callback) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    },
    limits: { openai: { concurrency: CONCURRENCY } },
  });
  const model = createOpenAI({ baseURL: url, apiKey: "bench" }).chat("brief");
  let number = 0;
  return async (key, signal) => {
    number += 1;
    const askedAt = performance.now();
    let startMs = Number.NaN;
    const { attempts } = await gateway.call({
      models: [model],
      options: { prompt: [{ role: "user", content: [{ type: "text", text: "Hello." }] }] },
      key,
      lane: "interactive",
      idempotencyKey: `${key}-${number}`,
      signal,
      onPart: ({ type }) => {
        if (type === "text-start") startMs = performance.now() - askedAt;
      },
    });
    return { startMs, waitedMs: attempts[0]?.queuedMs ?? Number.NaN };
  };
}

async function calling(ask: Ask, calls: number): Promise<Start[]> {
  const { signal } = new AbortController();
  const starts: Start[] = [];
  for (let i = 0; i < calls; i += 1) starts.push(await ask("other", signal));
  return starts;
}

async function inCrowd(ask: Ask, calls: number): Promise<Start[]> {
  const leave = new AbortController();
  let waiting = CROWD;
  const crowd = Array.from({ length: CROWD }, async () => {
    await ask("crowd", leave.signal).catch((error: unknown) => {
      if (!leave.signal.aborted) throw error;
    });
    waiting -= 1;
  });
  const starts = await calling(ask, calls);
  if (waiting < CROWD / 2)
    throw new Error(`only ${waiting} of the crowd were left at the end: it was no crowd any more`);
  leave.abort();
  await Promise.all(crowd);
  return starts;
}

function p50(starts: readonly Start[]): number {
  return round(median(starts.map(({ startMs }) => startMs)));
}
