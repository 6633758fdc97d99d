// Stream
// ======
// 100 agents whose models speak 50 tokens a second each, and a client for each that follows the agent's events: from the
// provider's write of a token to the client that has it, with the token durable in between. Provider, server and clients
// are three processes; tokens carry the time at which they were sent.
//
//   p99_ms         over all tokens but those of the first two seconds, while code is warmed up and turns begin
//   chunks_wrong   lost, doubled or out of order: must be 0
//   cpu_us         processor time of the server for a token
//   tokens_per_s   that arrived; 5,000 where everything keeps up

import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import type { ClientsReport } from "./agents/stream-clients.ts";
import { startModule, startProgress } from "./children.ts";
import { startPerdure } from "./perdure/start.ts";

const STREAMS = 100;
const TOKENS_PER_S = 50;
const SKIPPED_S = 2;

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 5 : 3;
  const seconds = options.long ? 20 : 8;
  const reports: Report[] = [];
  for (let turn = 1; turn <= rounds; turn += 1) {
    const report = await once(seconds);
    reports.push(report);
    const { p50Ms, p99Ms, wrong, tokens, cpuMicros } = report;
    progress(
      `round ${turn} of ${rounds}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${tokens} tokens, ${wrong} wrong, ${cpuMicros.toFixed(0)} µs each`,
    );
  }
  const over = (figure: (report: Report) => number): number => round(median(reports.map(figure)));
  return {
    "perdure.p50_ms": over(({ p50Ms }) => p50Ms),
    "perdure.p99_ms": over(({ p99Ms }) => p99Ms),
    "perdure.max_ms": over(({ maxMs }) => maxMs),
    "perdure.cpu_us": over(({ cpuMicros }) => cpuMicros),
    "perdure.tokens_per_s": over(({ tokens, seconds: took }) => tokens / took),
    "perdure.chunks_wrong": reports.reduce((sum, { wrong }) => sum + wrong, 0),
  };
}

interface Report extends ClientsReport {
  readonly cpuMicros: number;
}

async function once(seconds: number): Promise<Report> {
  const tokens = seconds * TOKENS_PER_S;
  const provider = await startModule<{ url: string }>(
    "provider",
    new URL("agents/stamping-provider.ts", import.meta.url),
    [String(tokens), String(TOKENS_PER_S)],
  );
  const env = { BENCH_PROVIDER_URL: provider.ready.url };
  const server = await startPerdure({ handlers: "stream-agent.ts", env });
  try {
    const speak = async (): Promise<void> => {
      for (let i = 0; i < STREAMS; i += 1) await say(server.url, `s${i}`);
    };
    const cpuBefore = server.cpuMs();
    const report = await startProgress<ClientsReport>(
      "clients",
      new URL("agents/stream-clients.ts", import.meta.url),
      [server.url, String(STREAMS), String(tokens), String(SKIPPED_S * TOKENS_PER_S)],
      (seconds + 60) * 1_000,
      () => void speak(), // All are connected.
    );
    return { ...report, cpuMicros: ((server.cpuMs() - cpuBefore) * 1_000) / report.tokens };
  } finally {
    await Promise.all([server.stop(), provider.stop()]);
  }
}

async function say(url: string, session: string): Promise<void> {
  const answer = await fetch(`${url}/streamer/${session}/send/send`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "Speak." }),
  });
  if (!answer.ok) throw new Error(`${session} was not accepted: ${answer.status} ${await answer.text()}`);
  await answer.body?.cancel();
}
