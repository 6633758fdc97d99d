import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane } from "./fair-queue.ts";
import { type Admission, Limiter, type LimitOptions } from "./limiter.ts";
import { FakeClock, turn } from "./testing/fake-clock.ts";

const MINUTE = 60_000;

interface Visit {
  readonly lane: Lane;
  readonly key: string;
  readonly atMs: number;
  readonly lastsMs: number;
  readonly estimate: number;
  readonly used: number | undefined;
  /** It leaves the queue after so long, if it still waits. */
  readonly patienceMs: number | undefined;
}

const visit: fc.Arbitrary<Visit> = fc.record({
  lane: fc.constantFrom<Lane>("interactive", "batch"),
  key: fc.constantFrom("a", "b", "c"),
  atMs: fc.nat(3 * MINUTE),
  lastsMs: fc.integer({ min: 1, max: MINUTE }),
  estimate: fc.integer({ min: 1, max: 150 }),
  used: fc.option(fc.integer({ min: 0, max: 150 }), { nil: undefined }),
  patienceMs: fc.option(fc.integer({ min: 1, max: 2 * MINUTE }), { nil: undefined }),
});

const limits: fc.Arbitrary<LimitOptions> = fc.record(
  {
    concurrency: fc.integer({ min: 1, max: 4 }),
    requestsPerMinute: fc.integer({ min: 1, max: 6 }),
    tokensPerMinute: fc.integer({ min: 50, max: 300 }),
  },
  { requiredKeys: [] },
);

interface Start {
  readonly at: number;
  tokens: number;
}

/** Lets visitors come and go, and checks the limits at each start. */
class House {
  readonly clock = new FakeClock();
  readonly limiter: Limiter;
  readonly starts: Start[] = [];
  readonly violations: string[] = [];
  readonly #limit: Required<LimitOptions>;
  running = 0;
  ended = 0;
  left = 0;

  constructor(limit: LimitOptions) {
    this.limiter = new Limiter(this.clock, limit);
    const never = Number.POSITIVE_INFINITY;
    this.#limit = { concurrency: never, requestsPerMinute: never, tokensPerMinute: never, ...limit };
  }

  arrive(visit: Visit): void {
    const ticket = this.limiter.enter({ lane: visit.lane, key: visit.key, tokens: visit.estimate });
    ticket.admitted.then(
      (admission) => this.#start(visit, admission),
      () => undefined,
    );
    if (visit.patienceMs === undefined) return;
    this.clock.delay(visit.patienceMs, () => {
      if (ticket.leave("impatient")) this.left += 1;
    });
  }

  #start(visit: Visit, admission: Admission): void {
    const now = this.clock.now();
    const recent = this.starts.filter(({ at }) => at + MINUTE > now);
    const tokens = recent.reduce((sum, start) => sum + start.tokens, 0);
    this.running += 1;
    if (this.running > this.#limit.concurrency) this.violations.push(`${this.running} at once`);
    if (recent.length + 1 > this.#limit.requestsPerMinute) this.violations.push(`${recent.length + 1} in a minute`);
    if (tokens > 0 && tokens + visit.estimate > this.#limit.tokensPerMinute)
      this.violations.push(`${tokens} + ${visit.estimate} tokens in a minute`);
    const start = { at: now, tokens: visit.estimate };
    this.starts.push(start);
    this.clock.delay(visit.lastsMs, () => {
      this.running -= 1;
      this.ended += 1;
      start.tokens = visit.used ?? start.tokens;
      admission.settle(visit.used);
    });
  }
}

describe("the limiter", () => {
  it("L1, L2: keeps every limit, and loses nobody", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(visit, { maxLength: 25 }), limits, async (visits, limit) => {
        const house = new House(limit);
        for (const one of visits) house.clock.delay(one.atMs, () => house.arrive(one));
        while (house.clock.pending > 0) await house.clock.advance(5_000);
        expect(house.violations).toEqual([]);
        expect(house.ended + house.left).toBe(visits.length);
        expect(house.limiter.figures()).toMatchObject({ running: 0, waiting: { interactive: 0, batch: 0 } });
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("L3: a large call is not overtaken, and goes when the window is empty", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock, { tokensPerMinute: 100 });
    const order: string[] = [];
    const enter = (name: string, tokens: number) =>
      limiter.enter({ lane: "interactive", key: name, tokens }).admitted.then(() => order.push(name));
    const all = [enter("first", 10), enter("larger than the limit", 500), enter("small", 1)];
    await turn();
    expect(order).toEqual(["first"]);
    await clock.until(Promise.all(all));
    expect(order).toEqual(["first", "larger than the limit", "small"]);
  });

  it("gives back what was estimated too high, at once", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock, { tokensPerMinute: 100 });
    const first = await limiter.enter({ lane: "interactive", key: "a", tokens: 90 }).admitted;
    const second = limiter.enter({ lane: "interactive", key: "a", tokens: 60 });
    first.settle(20);
    await second.admitted;
    expect(limiter.figures()).toMatchObject({ running: 1, requests: 2, tokens: 80 });
  });

  it("counts nothing for what was never sent", async () => {
    const limiter = new Limiter(new FakeClock(), { concurrency: 1, requestsPerMinute: 1, tokensPerMinute: 10 });
    const first = await limiter.enter({ lane: "interactive", key: "a", tokens: 10 }).admitted;
    const second = limiter.enter({ lane: "interactive", key: "a", tokens: 10 });
    first.forgo();
    first.forgo();
    await second.admitted;
    expect(limiter.figures()).toMatchObject({ running: 1, requests: 1, tokens: 10 });
  });

  it("lets the small one in at once when the large one before it leaves", async () => {
    const limiter = new Limiter(new FakeClock(), { tokensPerMinute: 100 });
    const enter = (tokens: number) => limiter.enter({ lane: "interactive", key: "a", tokens });
    await enter(80).admitted;
    const [large, small] = [enter(50), enter(10)];
    expect(large.leave("gone")).toBe(true);
    await small.admitted;
    await expect(large.admitted).rejects.toBe("gone");
  });

  it("does not hear of tokens whose minute is over", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock, { tokensPerMinute: 100 });
    const long = await limiter.enter({ lane: "interactive", key: "a", tokens: 10 }).admitted;
    clock.pass(MINUTE);
    expect(limiter.figures()).toMatchObject({ running: 1, requests: 0, tokens: 0 });
    long.settle(5_000);
    expect(limiter.figures()).toMatchObject({ running: 0, requests: 0, tokens: 0 });
  });

  it("counts right over many minutes", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock, { requestsPerMinute: 1_000 });
    for (let i = 0; i < 5_000; i += 1) {
      (await limiter.enter({ lane: "batch", key: "a", tokens: 0 }).admitted).settle(undefined);
      clock.pass(100);
    }
    expect(limiter.figures()).toMatchObject({ running: 0, requests: 599 });
  });

  it("goes on in time when the wall clock is set back by a day", async () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock, { requestsPerMinute: 1 });
    await limiter.enter({ lane: "batch", key: "a", tokens: 0 }).admitted;
    clock.set(clock.now() - 86_400_000);
    let isIn = false;
    limiter.enter({ lane: "batch", key: "a", tokens: 0 }).admitted.then(() => {
      isIn = true;
    }, expect.unreachable);
    await clock.advance(MINUTE + 1);
    expect(isIn).toBe(true);
  });
});
