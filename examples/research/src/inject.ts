// Injected failures, to watch the runtime deal with them
// =======================================================
//   tool-errors=0.3   that share of searches and reads fails
//   model-429=0.3     that share of model calls is refused with status 429 and Retry-After
//   crash-after=5     once so many effects have been executed, the next one kills the process (SIGKILL), only once:
//                     a marker in the data folder remembers it
//   seed=7            the same failures every time, as far as the order of effects is the same
//
// All of it happens inside of steps, where replays do not come: what the handlers see stays deterministic.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { APICallError } from "@ai-sdk/provider";

export interface Plan {
  readonly toolErrors: number;
  readonly model429: number;
  /** Undefined: never. */
  readonly crashAfter: number | undefined;
  readonly seed: number;
}

export interface Injection {
  /** @throws perhaps. */
  beforeTool(name: string): void;
  /** @throws perhaps, what the AI SDK throws when a provider says 429. */
  beforeModelCall(): void;
  /** May kill the process. */
  beforeEffect(): void;
  afterEffect(): void;
}

export class InjectedError extends Error {
  override readonly name = "InjectedError";
}

const RETRY_AFTER_S = 1;
const NAMES = ["tool-errors", "model-429", "crash-after", "seed"];

/** @throws where the text is not a plan. */
export function parsePlan(text: string): Plan {
  const values = new Map<string, number>();
  for (const part of text.split(",").filter(Boolean)) {
    const [name = "", value = ""] = part.split("=").map((word) => word.trim());
    if (!NAMES.includes(name)) throw new Error(`cannot inject "${name}": there are ${NAMES.join(", ")}`);
    const isShare = name === "tool-errors" || name === "model-429";
    const number = value === "" ? Number.NaN : Number(value);
    if (isShare ? !(number >= 0 && number < 1) : !(Number.isInteger(number) && number >= 0)) {
      throw new Error(`${name}=${value}: write ${isShare ? "a share such as 0.3, below 1" : "a whole number"}`);
    }
    values.set(name, number);
  }
  return {
    toolErrors: values.get("tool-errors") ?? 0,
    model429: values.get("model-429") ?? 0,
    crashAfter: values.get("crash-after"),
    seed: values.get("seed") ?? Date.now(),
  };
}

/** @param kill what a crash is; tests bring their own. */
export function createInjection(plan: Plan, data: string, kill: () => void = killOurselves): Injection {
  const chance = randomNumbers(plan.seed);
  const marker = join(data, "injected-crash");
  let executed = 0;
  return {
    beforeTool(name) {
      if (plan.toolErrors > chance()) throw new InjectedError(`injected: ${name} failed`);
    },
    beforeModelCall() {
      if (plan.model429 > chance()) throw tooManyRequests();
    },
    beforeEffect() {
      if (plan.crashAfter === undefined || executed < plan.crashAfter || existsSync(marker)) return;
      mkdirSync(dirname(marker), { recursive: true });
      writeFileSync(marker, `after ${executed} effects, at ${new Date().toISOString()}\n`, { flush: true });
      kill();
    },
    afterEffect() {
      executed += 1;
    },
  };
}

function killOurselves(): void {
  process.stderr.write("injected: kill -9\n");
  process.kill(process.pid, "SIGKILL");
}

function tooManyRequests(): APICallError {
  return new APICallError({
    message: "injected: 429 Too Many Requests",
    url: "injected:",
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { "retry-after": String(RETRY_AFTER_S) },
    isRetryable: true,
  });
}

/** Mulberry32: a stream of numbers in [0, 1) from a seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
