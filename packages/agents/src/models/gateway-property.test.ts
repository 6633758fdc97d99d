// Many calls at once, with everything that can go wrong: each ends once and as the contract says, and nothing is left over.

import { TerminalError } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError } from "./model-error.ts";
import type { ScriptedAnswer } from "./script.ts";
import { CallWorld } from "./testing/call-world.ts";
import type { AttemptOutcome } from "./types.ts";

const after = fc.nat(3);
const answer: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  fc.record({
    text: fc.constant("one two three"),
    firstTokenMs: fc.nat(500),
    tokensPerSecond: fc.integer({ min: 1, max: 20 }),
  }),
  fc.record({
    text: fc.constant("one two three"),
    fault: fc.record({ kind: fc.constantFrom("cut", "stall", "overloaded", "server"), afterTokens: after }),
  }),
  fc.record({
    error: fc.constantFrom(
      "rate-limited",
      "quota",
      "server",
      "overloaded",
      "context-length",
      "bad-request",
      "content-filter",
    ),
    retryAfterMs: fc.nat(20_000),
    firstTokenMs: fc.nat(500),
  }),
);

const visit = fc.record({
  atMs: fc.nat(10_000),
  key: fc.constantFrom("a", "b"),
  lane: fc.constantFrom("interactive" as const, "batch" as const),
  fallback: fc.boolean(),
  abortMs: fc.option(fc.nat(8_000), { nil: undefined, freq: 3 }),
  interruptMs: fc.option(fc.nat(8_000), { nil: undefined, freq: 3 }),
});
type Visit = typeof visit extends fc.Arbitrary<infer V> ? V : never;

const REASON = new Error("the attempt is over");

class Traffic {
  readonly world = new CallWorld({
    limits: { scripted: { concurrency: 2, requestsPerMinute: 20 }, other: { concurrency: 1 } },
    breaker: { callsMin: 4, openMs: 3_000 },
    timeouts: { firstTokenMs: 2_000, betweenTokensMs: 1_500 },
  });
  readonly violations: string[] = [];
  ended = 0;
  readonly #answers: readonly ScriptedAnswer[];
  #asked = 0;
  readonly #first = this.world.model(() => this.#next());
  readonly #second = this.world.model(() => this.#next(), { provider: "other" });

  constructor(answers: readonly ScriptedAnswer[]) {
    this.#answers = answers;
  }

  visit({ atMs, key, lane, fallback, abortMs, interruptMs }: Visit): void {
    const { clock, gateway } = this.world;
    clock.delay(atMs, () => {
      const [abort, interrupt] = [new AbortController(), new AbortController()];
      if (abortMs !== undefined) clock.delay(abortMs, () => abort.abort(REASON));
      if (interruptMs !== undefined) clock.delay(interruptMs, () => interrupt.abort());
      const outcomes: AttemptOutcome[] = [];
      const models = fallback ? [this.#first, this.#second] : [this.#first];
      const call = gateway.call(
        this.world.request(models, {
          key,
          lane,
          signal: abort.signal,
          interrupt: interrupt.signal,
          onAttemptEnd: (_, outcome) => outcomes.push(outcome),
        }),
      );
      call.then(
        (reply) => this.#judge(outcomes, reply.attempts.length, reply.partial ? interrupt.signal.aborted : true),
        (error: unknown) => this.#judge(outcomes, undefined, isAllowed(error, abort.signal)),
      );
    });
  }

  #judge(outcomes: readonly AttemptOutcome[], attempts: number | undefined, isAllowed: boolean): void {
    this.ended += 1;
    if (!isAllowed) this.violations.push("a call ended as none may");
    if (attempts !== undefined && outcomes.length !== attempts)
      this.violations.push(`${attempts} attempts, ${outcomes.length} ends`);
    const settled = outcomes.filter(({ kind }) => kind === "settled").length;
    if (settled > 1) this.violations.push("a call was answered twice");
  }

  #next(): ScriptedAnswer {
    this.#asked += 1;
    return this.#answers[this.#asked % this.#answers.length] ?? "nothing";
  }

  get bills(): readonly string[] {
    return [...this.#first.bill.paidTwice, ...this.#second.bill.paidTwice];
  }
}

function isAllowed(error: unknown, abort: AbortSignal): boolean {
  if (error === REASON) return abort.aborted;
  return error instanceof ModelError ? error.retryable : error instanceof TerminalError;
}

describe("the gateway", () => {
  it("C1 to C3: ends every call once, as it may end, and keeps nothing of it", async () => {
    const many = fc.array(visit, { minLength: 1, maxLength: 20 });
    const answers = fc.array(answer, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(many, answers, async (visits, script) => {
        const traffic = new Traffic(script);
        for (const one of visits) traffic.visit(one);
        while (traffic.world.clock.pending > 0) await traffic.world.clock.advance(5_000);
        expect(traffic.violations).toEqual([]);
        expect(traffic.ended).toBe(visits.length);
        expect(traffic.bills).toEqual([]);
        for (const figures of Object.values(traffic.world.gateway.figures().limits))
          expect(figures).toMatchObject({ running: 0, waiting: { interactive: 0, batch: 0 } });
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
