// Turn
// ====
// What an agent costs beside its model: a turn of one model call, one tool and a second model call, beside LangGraph.js and
// eve on the same machine, in the same run, with the same scripted provider over HTTP. Sessions of ten turns.
//
//   overhead_ms   one caller: wall clock of a turn less the time that the provider itself took for its two requests; median
//   turns_per_s   eight callers
//   cpu_ms        processor time of the system's own processes for a turn, at eight callers

import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { type RunningProvider, startProvider } from "./agents/start-provider.ts";
import { eve } from "./peers/eve.ts";
import { langgraph, langgraphStreaming } from "./peers/langgraph.ts";
import { perdureAgent } from "./peers/perdure-agent.ts";
import { ANSWER, type RunningTalker, type Talker } from "./peers/talker.ts";

const TALKERS: readonly Talker[] = [perdureAgent, langgraph, langgraphStreaming, eve];
const TURNS_A_SESSION = 10;
const CALLERS = 8;

export async function run(options: BenchOptions): Promise<Figures> {
  const talkers = TALKERS.filter(({ name }) => options.only?.includes(name) ?? true);
  if (talkers.length === 0) throw new Error(`--only knows ${TALKERS.map(({ name }) => name).join(", ")}`);
  const plan = options.long
    ? { rounds: 5, sessions: 10, windowMs: 5_000 }
    : { rounds: 3, sessions: 3, windowMs: 2_000 };
  const provider = await startProvider();
  const running = new Map<string, RunningTalker>();
  try {
    for (const talker of talkers) {
      progress(`starting ${talker.name}`);
      running.set(talker.name, await talker.start(provider.url));
    }
    for (const talker of running.values()) await overheads(talker, provider, 2); // Warm-up.
    return await measure(running, provider, plan);
  } finally {
    await Promise.allSettled([...running.values()].map((talker) => talker.stop()));
    await provider.stop();
  }
}

async function measure(
  running: ReadonlyMap<string, RunningTalker>,
  provider: RunningProvider,
  plan: { readonly rounds: number; readonly sessions: number; readonly windowMs: number },
): Promise<Figures> {
  const samples = new Map<string, { overhead: number[]; rate: number[]; cpu: number[] }>();
  for (let turn = 1; turn <= plan.rounds; turn += 1) {
    for (const [name, talker] of running) {
      const sample = samples.get(name) ?? { overhead: [], rate: [], cpu: [] };
      samples.set(name, sample);
      const overhead = await overheads(talker, provider, plan.sessions);
      const { rate, cpu } = await atOnce(talker, plan.windowMs);
      sample.overhead.push(...overhead);
      sample.rate.push(rate);
      sample.cpu.push(cpu);
      progress(
        `round ${turn} of ${plan.rounds}: ${name} ${median(overhead).toFixed(2)} ms, ${rate.toFixed(0)} turns/s, ${cpu.toFixed(1)} ms of processor time`,
      );
    }
  }
  const figures: Figures = {};
  for (const [name, { overhead, rate, cpu }] of samples) {
    figures[`${name}.overhead_ms`] = round(median(overhead));
    figures[`${name}.turns_per_s`] = round(median(rate));
    figures[`${name}.cpu_ms`] = round(median(cpu));
  }
  return figures;
}

async function overheads(talker: RunningTalker, provider: RunningProvider, sessions: number): Promise<number[]> {
  const found: number[] = [];
  for (let session = 0; session < sessions; session += 1) {
    const conversation = await talker.open();
    for (let turn = 0; turn < TURNS_A_SESSION; turn += 1) {
      const before = await provider.figures();
      const startedAt = performance.now();
      check(await conversation.say("When is high water?"));
      const wallMs = performance.now() - startedAt;
      const after = await provider.figures();
      if (after.requests - before.requests !== 2)
        throw new Error(`a turn made ${after.requests - before.requests} requests instead of 2`);
      found.push(wallMs - (after.ownMs - before.ownMs));
    }
    conversation.close();
  }
  return found;
}

async function atOnce(talker: RunningTalker, windowMs: number): Promise<{ rate: number; cpu: number }> {
  const cpuBefore = talker.cpuMs();
  const endsAt = performance.now() + windowMs;
  const startedAt = performance.now();
  let turns = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() < endsAt) {
        const conversation = await talker.open();
        for (let turn = 0; turn < TURNS_A_SESSION && performance.now() < endsAt; turn += 1) {
          check(await conversation.say("When is high water?"));
          turns += 1;
        }
        conversation.close();
      }
    }),
  );
  const rate = (turns * 1_000) / (performance.now() - startedAt);
  return { rate, cpu: (talker.cpuMs() - cpuBefore) / turns };
}

function check(answer: string): void {
  if (answer !== ANSWER) throw new Error(`a turn was answered with "${answer}"`);
}
