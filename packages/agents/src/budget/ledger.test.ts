// The ledger against a model that only adds up: random events over a few runs, and the promises L1 to L4 after each.

import type { RunId } from "@perdure/protocol";
import { assert, encodeRunId } from "@perdure/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Amount, amountOf, beyond, excess, minus, mostWithin, NOTHING, plus } from "./amounts.ts";
import type { Book, Held, Reservation, Waiting } from "./book.ts";
import { elapsedMs, limitOf, wallLeftMs } from "./book.ts";
import type { Change, Effect } from "./ledger.ts";
import { abandon, answered, deny, open, raise, release, reserve, serve, settle } from "./ledger.ts";
import type { BudgetLimits } from "./types.ts";

const RUNS: readonly RunId[] = [1, 2, 3].map((byte) => encodeRunId(new Uint8Array(24).fill(byte)));
const START = 1_000_000;

type Event =
  | {
      readonly type: "reserve";
      readonly id: string;
      readonly wish: Pick<Waiting, "most" | "least" | "calls" | "model">;
    }
  | { readonly type: "settle"; readonly id: string; readonly share: number; readonly known: boolean }
  | { readonly type: "release" | "abandon"; readonly id: string }
  | { readonly type: "raise"; readonly amount: Amount; readonly wallMs: number }
  | { readonly type: "open"; readonly limits: BudgetLimits }
  | { readonly type: "deny" | "answer yes" | "answer no" }
  | { readonly type: "pass time"; readonly ms: number };

/** What has to be so, counted beside the ledger and without it. */
class Model {
  book: Book;
  now: number = START;
  readonly places = new Map<string, Reservation>();
  readonly arrivals: string[] = [];
  spent: Amount = NOTHING;
  beyondReserved: Amount = NOTHING;
  unsettled: Amount = NOTHING;
  lowered = false;
  softOwed = true;
  readonly answers: Effect[] = [];
  readonly questions: number[] = [];

  constructor(limits: BudgetLimits) {
    this.book = open(undefined, limits, START);
  }

  get held(): readonly Held[] {
    return [...this.places.values()].filter((item) => item.state === "held");
  }

  get first(): Waiting | undefined {
    const item = this.places.get(this.book.waiting[0] ?? "");
    return item?.state === "waiting" ? item : undefined;
  }

  get limit(): Amount {
    const of = (dimension: keyof Amount): number => limitOf(this.book, dimension);
    return { tokens: of("tokens"), nanoUsd: of("nanoUsd"), calls: of("calls") };
  }

  /** A change, then the line. */
  apply(change: Change): void {
    this.#take(change);
    for (let again = true; again; ) {
      const served = serve(this.book, this.first, this.now);
      this.#take(served);
      again = served.again;
    }
  }

  #take({ book, effects }: Change): void {
    const before = this.book;
    this.book = book;
    for (const effect of effects) this.#carryOut(effect, before);
  }

  #carryOut(effect: Effect, before: Book): void {
    switch (effect.type) {
      case "store":
        this.places.set(effect.reservation.id, effect.reservation);
        if (effect.reservation.state === "waiting" && !this.arrivals.includes(effect.reservation.id))
          this.arrivals.push(effect.reservation.id);
        break;
      case "drop":
        assert(this.places.delete(effect.id), "what is dropped was there");
        this.#leaveLine(effect.id);
        break;
      case "grant":
        this.#granted(effect, before);
        break;
      case "deny":
        this.answers.push(effect);
        this.#leaveLine(effect.wish.id);
        break;
      case "settled":
        this.answers.push(effect);
        if (effect.softPassed) this.#passSoft();
        break;
      case "ask":
        assert(JSON.stringify(before.question?.cause) !== JSON.stringify(effect.cause), "one question at a time");
        this.questions.push(effect.number);
        break;
      case "watch":
      case "withdraw":
        break;
    }
  }

  #granted(effect: Extract<Effect, { type: "grant" }>, before: Book): void {
    this.answers.push(effect);
    if (effect.softPassed) this.#passSoft();
    if (before === this.book) return; // A repetition: nothing was taken.
    const isFirst = this.arrivals.length === 0 || this.arrivals[0] === effect.held.id;
    assert(isFirst, "L2: granted in the order of arrival");
    this.#leaveLine(effect.held.id);
    const used = plus(this.book.spent, this.book.reserved);
    assert(beyond(used, this.limit).length === 0, "L1: a grant fits");
    assert(wallLeftMs(this.book, this.now) > 0, "L1: a grant is in time");
  }

  #passSoft(): void {
    assert(this.softOwed, "the soft threshold is news once per level");
    this.softOwed = false;
  }

  #leaveLine(id: string): void {
    const place = this.arrivals.indexOf(id);
    if (place >= 0) this.arrivals.splice(place, 1);
  }

  count(event: Extract<Event, { type: "settle" }>, found: Reservation | undefined, used: Amount): void {
    if (found === undefined && this.book.settled.includes(event.id)) return;
    const reserved = found?.state === "held" ? amountOf(found, found.calls) : NOTHING;
    this.spent = plus(this.spent, used);
    this.beyondReserved = plus(this.beyondReserved, excess(used, reserved));
  }
}

function happen(model: Model, event: Event): void {
  const { book, now } = model;
  const unchanged = (next: Book): Change => ({ book: next, effects: [] });
  switch (event.type) {
    case "reserve": {
      const wish: Waiting = { state: "waiting", id: event.id, awakeable: event.id, ...event.wish };
      return model.apply(reserve(book, model.places.get(event.id), wish, now));
    }
    case "settle": {
      const found = model.places.get(event.id);
      const most = found?.state === "held" ? found : { tokens: 7, nanoUsd: 7, calls: 1 };
      const tokens = Math.round(most.tokens * event.share);
      const known = event.known && most.nanoUsd !== null ? Math.round(most.nanoUsd * event.share) : null;
      const charged = known ?? (found?.state === "held" ? found.nanoUsd : null);
      model.count(event, found, { tokens, nanoUsd: charged ?? 0, calls: most.calls });
      return model.apply(settle(book, found, { id: event.id, tokens, nanoUsd: known, awakeable: event.id }, now));
    }
    case "release":
      return model.apply(release(book, model.places.get(event.id)));
    case "abandon": {
      const found = model.places.get(event.id);
      if (found?.state === "held") model.unsettled = plus(model.unsettled, amountOf(found, found.calls));
      return model.apply(abandon(book, found));
    }
    case "raise":
      model.softOwed = true;
      return model.apply(unchanged(raise(book, { amount: event.amount, wallMs: event.wallMs, models: [] }, {}, now)));
    case "open":
      model.softOwed = true;
      model.lowered = true;
      return model.apply(unchanged(open(book, event.limits, now)));
    case "deny":
      return model.apply(unchanged(deny(book, book.question?.cause, { by: "ada" })));
    case "answer yes":
    case "answer no": {
      if (book.question === null) return model.apply(unchanged(book));
      const { cause } = book.question;
      const heard = answered(book, now);
      if (event.type === "answer no") return model.apply(unchanged(deny(heard, cause, {})));
      model.softOwed = true;
      const models = cause.about === "price" ? [cause.model] : [];
      const amount = { tokens: 50, nanoUsd: 50, calls: 1 };
      return model.apply(unchanged(raise(heard, { amount, wallMs: 50, models }, {}, now)));
    }
    case "pass time":
      model.now += event.ms;
      return;
  }
}

function check(model: Model): void {
  const { book, now, held, first, limit } = model;
  // L4: every figure is what was counted beside it.
  same("spent", book.spent, model.spent);
  same("overshoot", book.overshoot, model.beyondReserved);
  same("unsettled", book.unsettled, model.unsettled);
  same("reserved", book.reserved, held.map((item) => amountOf(item, item.calls)).reduce(plus, NOTHING));
  same("waiting", book.waiting, model.arrivals);
  const kept = [...model.places.values()].filter(({ state }) => state === "waiting").map(({ id }) => id);
  same("kept of those that wait", kept.sort(), [...book.waiting].sort());
  // L1
  const bound = plus(limit, book.overshoot);
  const isWithin = beyond(plus(book.spent, book.reserved), bound).length === 0;
  assert(model.lowered || isWithin, "L1: spent and reserved are within the limits");
  // L2 and L3
  const isAsked = book.question !== null;
  same(
    "numbers of questions",
    model.questions,
    Array.from(model.questions.keys(), (at) => at + 1),
  );
  assert(!isAsked || book.waiting.length > 0, "L3: a question that nobody waits for is withdrawn");
  assert((book.clock.since === null) === isAsked, "L3: the clock stands still while a question is open");
  if (first === undefined) return;
  assert(isAsked || held.length > 0, "L2: it waits for an answer, or for what may come back");
  const isPriced =
    first.most.nanoUsd !== null || book.limits.nanoUsd === null || book.modelsAllowed.includes(first.model);
  const isInTime = wallLeftMs(book, now) > 0;
  const left = minus(limit, book.spent);
  const isFree = beyond(amountOf(first.most, first.calls), minus(left, book.reserved)).length === 0;
  assert(!(isPriced && isInTime && isFree), "L2: nothing waits although it fits");
  const isExhausted = !isInTime || beyond(amountOf(first.least, first.calls), left).length > 0;
  assert(
    isAsked === (isExhausted || !isPriced),
    "L3: it asks when nothing that may come back is enough, and only then",
  );
}

function same(what: string, actual: unknown, counted: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(counted)];
  assert(a === b, `L4: ${what}: the book has ${a}, counted were ${b}`);
}

const ids = fc.tuple(fc.constantFrom(...RUNS), fc.integer({ min: 1, max: 2 })).map(([run, n]) => `${run}/${n}`);
const figure = fc.integer({ min: 0, max: 60 });
const wishes = fc
  .record({
    low: figure,
    more: figure,
    lowUsd: figure,
    moreUsd: figure,
    priced: fc.boolean(),
    calls: fc.constantFrom(1, 1, 2),
  })
  .map(({ low, more, lowUsd, moreUsd, priced, calls }) => {
    const least = { tokens: low, nanoUsd: priced ? lowUsd : null };
    const most = more === 0 ? least : { tokens: low + more, nanoUsd: priced ? lowUsd + moreUsd : null };
    return { least, most, calls, model: priced ? "priced" : "unpriced" };
  });
const limits: fc.Arbitrary<BudgetLimits> = fc.record(
  {
    tokens: fc.integer({ min: 0, max: 200 }),
    usd: fc.integer({ min: 0, max: 200 }).map((nano) => nano / 1e9),
    calls: fc.integer({ min: 0, max: 8 }),
    wall: fc.integer({ min: 1, max: 400 }),
    soft: fc.constantFrom(0.5, 0.8, 1),
    unknownPrice: fc.constantFrom("ask" as const, "allow" as const),
  },
  { requiredKeys: [] },
);
const settles = fc.record({
  type: fc.constant("settle" as const),
  id: ids,
  share: fc.constantFrom(0, 0.3, 0.7, 1, 1.6),
  known: fc.boolean(),
});
const events: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("reserve" as const), id: ids, wish: wishes }) },
  { weight: 4, arbitrary: settles },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("release" as const, "abandon" as const), id: ids }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("raise" as const),
      amount: fc.record({ tokens: figure, nanoUsd: figure, calls: fc.integer({ min: 0, max: 2 }) }),
      wallMs: figure,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("open" as const), limits }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom("deny" as const, "answer yes" as const, "answer no" as const) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("pass time" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
);

/** Long ones: most of what can go wrong needs a few things to have happened. */
const stories = fc.array(events, { minLength: 10, maxLength: 40, size: "max" });

describe("the ledger keeps its promises", () => {
  const RUNS_PER_PROPERTY = 1_500;

  test("L1 to L4 hold after every event", () => {
    fc.assert(
      fc.property(limits, stories, (opened, happened) => {
        const model = new Model({ ...opened, unknownPrice: "ask" });
        for (const event of happened) {
          // What the model says about unknown prices is said for "ask"; "allow" is the next property's.
          happen(model, event.type === "open" ? { ...event, limits: { ...event.limits, unknownPrice: "ask" } } : event);
          if (event.type !== "pass time") check(model);
        }
      }),
      { numRuns: RUNS_PER_PROPERTY, seed: 1 },
    );
  });

  test("nothing that comes back, and no answer, leaves somebody waiting for ever", () => {
    fc.assert(
      fc.property(limits, stories, (opened, happened) => {
        const model = new Model(opened);
        for (const event of happened) happen(model, event);
        for (let steps = 0; model.book.waiting.length > 0; steps += 1) {
          expect(steps).toBeLessThan(100);
          const [held] = model.held;
          if (held !== undefined) happen(model, { type: "release", id: held.id });
          else if (model.book.question !== null) happen(model, { type: "answer no" });
          else happen(model, { type: "release", id: "somebody else's" }); // Time has passed: look again.
        }
        expect(model.book.question).toBeNull();
      }),
      { numRuns: RUNS_PER_PROPERTY, seed: 2 },
    );
  });

  test("saying a thing twice is saying it once", () => {
    fc.assert(
      fc.property(limits, stories, (opened, happened) => {
        const model = new Model(opened);
        for (const event of happened) {
          happen(model, event);
          if (event.type !== "reserve" && event.type !== "settle" && event.type !== "release") continue;
          const waits = event.type === "reserve" && model.places.get(event.id) === undefined; // It was denied: asked again it may be.
          const before = model.book;
          if (!waits) happen(model, event);
          same("the same figures", model.book, before);
        }
      }),
      { numRuns: RUNS_PER_PROPERTY, seed: 3 },
    );
  });
});

describe("a wish and the room for it", () => {
  test("the most that fits is granted, and no more", () => {
    fc.assert(
      fc.property(
        wishes,
        fc.record({ tokens: figure, nanoUsd: figure, calls: fc.constantFrom(1, 2) }),
        (wish, room) => {
          const cost = mostWithin(wish, room);
          const fits = (extra: number): boolean => {
            const span = wish.most.tokens - wish.least.tokens;
            const [low, high] = [wish.least.nanoUsd ?? 0, wish.most.nanoUsd ?? 0];
            const nanoUsd = low + (span === 0 ? 0 : Math.ceil((extra * (high - low)) / span));
            return beyond({ tokens: wish.least.tokens + extra, nanoUsd, calls: wish.calls }, room).length === 0;
          };
          if (cost === undefined) {
            expect(fits(0)).toBe(false);
            return;
          }
          const extra = cost.tokens - wish.least.tokens;
          expect(fits(extra)).toBe(true);
          expect(beyond(amountOf(cost, wish.calls), room)).toEqual([]);
          expect(cost.tokens === wish.most.tokens || !fits(extra + 1)).toBe(true);
        },
      ),
      { numRuns: 3_000, seed: 4 },
    );
  });

  test("of millions of dollars, where a division of doubles gives one too many", () => {
    const wish = { most: { tokens: 6, nanoUsd: 9e15 }, least: { tokens: 0, nanoUsd: 0 }, calls: 1 };
    expect(mostWithin(wish, { tokens: 10, nanoUsd: 7_499_999_999_999_999, calls: 1 })).toEqual({
      tokens: 4,
      nanoUsd: 6e15,
    });
  });
});

describe("time", () => {
  test("counts from when it is limited", () => {
    const model = new Model({ tokens: 10 });
    happen(model, { type: "pass time", ms: 60_000 });
    happen(model, { type: "open", limits: { tokens: 10, wall: "1m" } });
    happen(model, { type: "pass time", ms: 1_000 });
    expect(wallLeftMs(model.book, model.now)).toBe(59_000);
  });

  test("stands still while a question is open", () => {
    const model = new Model({ wall: "1h", tokens: 10 });
    const wish = { most: { tokens: 20, nanoUsd: 0 }, least: { tokens: 20, nanoUsd: 0 }, calls: 1, model: "m" };
    happen(model, { type: "pass time", ms: 60_000 });
    happen(model, { type: "reserve", id: `${RUNS[0]}/1`, wish });
    happen(model, { type: "pass time", ms: 7 * 86_400_000 });
    expect(elapsedMs(model.book, model.now)).toBe(60_000);
    happen(model, { type: "answer yes" });
    expect(model.held).toHaveLength(1);
    happen(model, { type: "pass time", ms: 1_000 });
    expect(elapsedMs(model.book, model.now)).toBe(61_000);
  });
});
