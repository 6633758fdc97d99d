// Budget
// ======
// An agent with a budget delegates to 50 sub-agents at once, which make four model calls each; the server is killed with -9
// twice while they work. The budget is spent before they are done: everything waits and a person is asked. Then it is
// raised, and all go on to their end. The provider, in a process of its own, keeps the bill.
//
//   overshoot_tokens       what the bill has beyond the budget once everything waits, each settled call counted once: must be 0
//   tokens_paid_again      of calls that were sent again since the kill cut them after their answer had been delivered and
//                          before it was stored. Nobody can know of these but the provider, which has the same idempotency key
//   calls_paid_twice       calls that were sent again although the journal held their result when the server was killed:
//                          must be 0
//   calls_sent_again       requests under a key that had been sent before: what the kills cut
//   children_finished      of 50

import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "@perdure/host";
import { CHILD_OUTPUT_TOKENS, CHILDREN } from "./agents/budget-script.ts";
import type { ProviderFigures } from "./agents/provider.ts";
import { type RunningProvider, startProvider } from "./agents/start-provider.ts";
import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { type RunningPerdure, startPerdure } from "./perdure/start.ts";
import { post } from "./peers/talker.ts";

/** Rather less than half of what the children need. */
const BUDGET_TOKENS = 16_000;
const RAISED_TOKENS = 1_000_000;
const BUDGET = "parent/p1";
const WAIT_MS_MAX = 120_000;
/** Nothing was asked of the provider for so long: everything waits. */
const QUIET_MS = 1_500;

interface Outcome {
  readonly overshootTokens: number;
  readonly paidAgainTokens: number;
  readonly paidTwice: number;
  readonly sentAgain: number;
  readonly finished: number;
  readonly seconds: number;
}

export async function run(options: BenchOptions): Promise<Figures> {
  const rounds = options.long ? 10 : 3;
  const outcomes: Outcome[] = [];
  for (let turn = 1; turn <= rounds; turn += 1) {
    const outcome = await once();
    outcomes.push(outcome);
    progress(`round ${turn} of ${rounds}: ${JSON.stringify(outcome)}`);
  }
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  return {
    "perdure.overshoot_tokens": sum(({ overshootTokens }) => overshootTokens),
    "perdure.tokens_paid_again": round(sum(({ paidAgainTokens }) => paidAgainTokens) / rounds),
    "perdure.calls_paid_twice": sum(({ paidTwice }) => paidTwice),
    "perdure.calls_sent_again": round(sum(({ sentAgain }) => sentAgain) / rounds),
    "perdure.children_finished": Math.min(...outcomes.map(({ finished }) => finished)),
    "perdure.took_s": round(median(outcomes.map(({ seconds }) => seconds))),
  };
}

async function once(): Promise<Outcome> {
  const provider = await startProvider();
  const env = {
    BENCH_PROVIDER_URL: provider.url,
    BENCH_BUDGET_TOKENS: String(BUDGET_TOKENS),
    BENCH_OUTPUT_TOKENS: String(CHILD_OUTPUT_TOKENS),
  };
  const server = await startPerdure({ handlers: "budget-agents.ts", env });
  const settled = new Settled();
  const startedAt = performance.now();
  try {
    await post(`${server.url}/parent/p1/send/send`, { text: "Delegate." });
    await asked(provider, CHILDREN / 2);
    await killAndStart(server, provider, settled);
    await spent(server, provider);
    const whenSpent = await provider.figures();
    await post(`${server.url}/purse/raise`, { budget: BUDGET, tokens: RAISED_TOKENS });
    await asked(provider, whenSpent.requests + CHILDREN);
    await killAndStart(server, provider, settled);
    const finished = await childrenFinished(server);
    const { bill } = await provider.figures();
    return {
      overshootTokens: Math.max(0, tokensOnce(whenSpent.bill) - BUDGET_TOKENS),
      paidAgainTokens: tokensOf(bill) - tokensOnce(bill),
      paidTwice: settled.sentAgain(bill),
      sentAgain: bill.reduce((total, { requests }) => total + requests - 1, 0),
      finished,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await Promise.all([server.stop(), provider.stop()]);
  }
}

/** What the journal had settled at the kills, and how often each call had been sent by then. */
class Settled {
  readonly #requests: Map<string, number> = new Map();

  add(key: string, bill: ReadonlyMap<string, number>): void {
    const requests = bill.get(key);
    if (requests !== undefined && !this.#requests.has(key)) this.#requests.set(key, requests);
  }

  sentAgain(bill: ProviderFigures["bill"]): number {
    return bill.filter(({ key, requests }) => requests > (this.#requests.get(key) ?? Number.POSITIVE_INFINITY)).length;
  }
}

/** @param settled gets the idempotency keys of the model calls whose results the journal holds while nothing runs. */
async function killAndStart(server: RunningPerdure, provider: RunningProvider, settled: Settled): Promise<void> {
  await server.kill();
  const { bill } = await provider.figures();
  const requests = new Map(bill.map((line) => [line.key, line.requests]));
  const store = await openSqliteStore({ directory: server.data, readOnly: true });
  for (let cursor: number | undefined; ; ) {
    const runs = await store.reader.runs({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    cursor = runs.at(-1)?.seq;
    if (cursor === undefined) break;
    for (const { id } of runs) {
      for (const entry of await store.reader.journal(id, 0, 1_000)) {
        const isSettled = (entry.kind === "command" && entry.result !== undefined) || entry.kind === "completion";
        if (isSettled) settled.add(`${id}-${entry.id}`, requests);
      }
    }
  }
  await store.close();
  await server.startAgain();
}

async function asked(provider: RunningProvider, requests: number): Promise<void> {
  await until(`${requests} requests`, async () => (await provider.figures()).requests >= requests);
}

/** The budget has asked for more, and nobody calls any more. */
async function spent(server: RunningPerdure, provider: RunningProvider): Promise<void> {
  let requests = -1;
  let since = performance.now();
  await until("the budget to be spent", async () => {
    const now = (await provider.figures()).requests;
    if (now !== requests) since = performance.now();
    requests = now;
    if (performance.now() - since < QUIET_MS) return false;
    const { asked: question } = (await post(`${server.url}/purse/status`, { budget: BUDGET })) as { asked: unknown };
    return question !== null;
  });
}

async function childrenFinished(server: RunningPerdure): Promise<number> {
  await until("the parent's answer", async () => {
    const { state } = (await post(`${server.url}/parent/p1/status`, undefined)) as { state: string };
    return state === "idle";
  });
  const history = (await post(`${server.url}/parent/p1/history`, undefined)) as readonly ToolItem[];
  return history.filter(({ type, outcome, output }) => type === "tool" && outcome === "ok" && output === "Done.")
    .length;
}

interface ToolItem {
  readonly type: string;
  readonly outcome?: string;
  readonly output?: unknown;
}

function tokensOf(bill: ProviderFigures["bill"]): number {
  return bill.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
}

/** Repeated answers are all alike. */
function tokensOnce(bill: ProviderFigures["bill"]): number {
  return bill.reduce(
    (sum, { completed, inputTokens, outputTokens }) => sum + (inputTokens + outputTokens) / Math.max(1, completed),
    0,
  );
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(20);
  }
}
