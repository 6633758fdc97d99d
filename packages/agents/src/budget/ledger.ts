// The ledger: the arithmetic of a budget
// ======================================
// Pure: a book and an event give the next book and effects, which the object `perdure.budgets` carries out. Money, tokens
// and calls are reserved before a call and settled after it:
//
//   reserve ─▶ waiting ─▶ held ─▶ settled
//        └──────────┬──────▲ │
//                   └▶ released, denied
//
// L1. What is granted fits: spent + reserved is within every limit right after a grant. It exceeds one only where a provider
//     used more than was reserved (`overshoot`), or where the budget was opened anew with a lower limit.
// L2. Whoever waits is granted in the order of arrival; nobody overtakes. The first in line waits only while it does not
//     fit, and what is reserved could still come back.
// L3. A budget is exhausted when not even that would make room. It asks then, one question at a time, and while the
//     question is open its clock stands still. Where nobody waits for the answer any more, the question is withdrawn.
// L4. Nothing is lost: what was reserved is spent, let go, or counted as unsettled.

import { unreachable } from "@perdure/protocol";
import type { Amount, Cost } from "./amounts.ts";
import { amountOf, beyond, excess, minus, mostWithin, NOTHING, plus } from "./amounts.ts";
import type { Book, Cause, Held, Reservation, Waiting, Word } from "./book.ts";
import { elapsedMs, emptyBook, exhaustedFor, isBeyondSoft, policyOf, remember, unspent, wallLeftMs } from "./book.ts";
import type { BudgetLimits } from "./types.ts";

export type Effect =
  /** Keep it, under its id. */
  | { readonly type: "store"; readonly reservation: Reservation }
  | { readonly type: "drop"; readonly id: string }
  | {
      readonly type: "grant";
      readonly awakeable: string;
      readonly held: Held;
      readonly wallLeftMs: number;
      readonly softPassed: boolean;
    }
  | { readonly type: "deny"; readonly awakeable: string; readonly wish: Waiting; readonly cause: Cause }
  | { readonly type: "settled"; readonly awakeable: string; readonly softPassed: boolean }
  /** It waits: should its run end, say so. `first`: so should the runs of all that is open. */
  | { readonly type: "watch"; readonly reservation: string; readonly first: boolean }
  | { readonly type: "ask"; readonly number: number; readonly cause: Cause; readonly wish: Waiting }
  | { readonly type: "withdraw" };

export interface Change {
  readonly book: Book;
  readonly effects: readonly Effect[];
}

type Verdict =
  | { readonly kind: "grant"; readonly cost: Cost }
  | { readonly kind: "wait" }
  | { readonly kind: "ask"; readonly cause: Cause }
  | { readonly kind: "deny"; readonly cause: Cause };

// What callers say
// ----------------

export function reserve(book: Book, found: Reservation | undefined, wish: Waiting, now: number): Change {
  if (found?.state === "held") return { book, effects: [grantOf(book, found, wish.awakeable, now, false)] };
  if (found?.state === "waiting") return { book, effects: [{ type: "store", reservation: wish }] }; // Its place is kept.
  const verdict: Verdict = book.waiting.length === 0 ? judge(book, wish, now) : { kind: "wait" };
  switch (verdict.kind) {
    case "grant":
      return hold(book, wish, verdict.cost, now);
    case "deny":
      return { book: book, effects: [{ type: "deny", awakeable: wish.awakeable, wish, cause: verdict.cause }] };
    case "wait":
    case "ask":
      return {
        book: { ...book, waiting: [...book.waiting, wish.id] },
        effects: [
          { type: "store", reservation: wish },
          { type: "watch", reservation: wish.id, first: book.waiting.length === 0 },
        ],
      };
    default:
      return unreachable(verdict);
  }
}

export interface Settlement extends Cost {
  readonly id: string;
  /** Who waits to hear that it is settled. */
  readonly awakeable?: string;
}

/** What a call really used. Of what nobody holds it is all counted: it was used, whatever became of the reservation. */
export function settle(book: Book, found: Reservation | undefined, settlement: Settlement, now: number): Change {
  const { id, awakeable } = settlement;
  const answer = (softPassed: boolean): Effect[] =>
    awakeable === undefined ? [] : [{ type: "settled", awakeable, softPassed }];
  if (found === undefined && book.settled.includes(id)) return { book, effects: answer(false) };
  const held = found?.state === "held" ? found : undefined;
  const holding = held === undefined ? NOTHING : amountOf(held, held.calls);
  const nanoUsd = settlement.nanoUsd ?? held?.nanoUsd ?? null; // Not known any more: at most what was reserved.
  const used: Amount = { tokens: settlement.tokens, nanoUsd: nanoUsd ?? 0, calls: held?.calls ?? 1 };
  const { unpriced } = book;
  const spent: Book = {
    ...book,
    spent: plus(book.spent, used),
    reserved: minus(book.reserved, holding),
    overshoot: plus(book.overshoot, excess(used, holding)),
    unpriced:
      nanoUsd === null ? { tokens: unpriced.tokens + used.tokens, calls: unpriced.calls + used.calls } : unpriced,
    waiting: found?.state === "waiting" ? without(book.waiting, id) : book.waiting,
    settled: remember(book, id),
  };
  const softPassed = passesSoft(spent, now);
  const effects: Effect[] = found === undefined ? [] : [{ type: "drop", id }];
  return { book: softPassed ? { ...spent, softPassed } : spent, effects: [...effects, ...answer(softPassed)] };
}

/** The call is not made. */
export function release(book: Book, found: Reservation | undefined): Change {
  if (found === undefined) return { book, effects: [] };
  const effects: readonly Effect[] = [{ type: "drop", id: found.id }];
  if (found.state === "waiting") return { book: { ...book, waiting: without(book.waiting, found.id) }, effects };
  return { book: { ...book, reserved: minus(book.reserved, amountOf(found, found.calls)) }, effects };
}

/** Its run has ended without a word: whether the call was made is not known. */
export function abandon(book: Book, found: Reservation | undefined): Change {
  const { book: released, effects } = release(book, found);
  if (found?.state !== "held") return { book: released, effects };
  return { book: { ...released, unsettled: plus(book.unsettled, amountOf(found, found.calls)) }, effects };
}

// What people say
// ---------------

/**
 * Also of a budget that is open: the limits are then those, and what was spent, reserved and raised stays. A no was said to
 * what went on until now: what does not fit from here on is asked about again.
 */
export function open(book: Book | undefined, limits: BudgetLimits, now: number): Book {
  if (book === undefined) return emptyBook(limits, now);
  const opened = { ...book, ...policyOf(limits), denied: null, modelsDenied: [] };
  // A clock that nobody looked at has not been kept: it begins with its limit.
  const clock = book.limits.wallMs === null ? { ranMs: 0, since: book.question === null ? now : null } : book.clock;
  return levelled({ ...opened, clock }, now);
}

export interface Addition {
  readonly amount: Amount;
  readonly wallMs: number;
  readonly models: readonly string[];
}

export function raise(book: Book, { amount, wallMs, models }: Addition, word: Word, now: number): Book {
  const { raised } = book;
  const isMore = wallMs > 0 || beyond(amount, NOTHING).length > 0;
  return levelled(
    {
      ...book,
      raised: { ...plus(raised, amount), wallMs: raised.wallMs + wallMs },
      modelsAllowed: [...new Set([...book.modelsAllowed, ...models])],
      modelsDenied: book.modelsDenied.filter((model) => !models.includes(model)),
      denied: isMore ? null : book.denied,
      lastRaise: word,
    },
    now,
  );
}

/** No to what `cause` asks, or to more in general. What fits is granted all the same. */
export function deny(book: Book, cause: Cause | undefined, word: Word): Book {
  if (cause?.about !== "price") return { ...book, denied: word };
  return { ...book, modelsDenied: [...new Set([...book.modelsDenied, cause.model])] };
}

/** The answer to a question has come. */
export function answered(book: Book, now: number): Book {
  return { ...book, question: null, clock: { ranMs: elapsedMs(book, now), since: now } };
}

// Serving the line
// ----------------

/** Looks at the first in line. `again`: it is not there any more, look at the next. */
export function serve(book: Book, first: Waiting | undefined, now: number): Change & { readonly again: boolean } {
  if (first === undefined) return { ...withdrawn(book, now), again: false };
  const verdict = judge(book, first, now);
  switch (verdict.kind) {
    case "grant": {
      const left = { ...book, waiting: without(book.waiting, first.id) };
      return { ...hold(left, first, verdict.cost, now), again: true };
    }
    case "deny": {
      const { awakeable } = first;
      const effects: readonly Effect[] = [
        { type: "drop", id: first.id },
        { type: "deny", awakeable, wish: first, cause: verdict.cause },
      ];
      return { book: { ...book, waiting: without(book.waiting, first.id) }, effects, again: true };
    }
    case "wait":
      return { ...withdrawn(book, now), again: false };
    case "ask":
      return { ...asked(book, first, verdict.cause, now), again: false };
    default:
      return unreachable(verdict);
  }
}

function judge(book: Book, wish: Waiting, now: number): Verdict {
  const { model } = wish;
  if (wish.most.nanoUsd === null && book.limits.nanoUsd !== null && book.unknownPrice === "ask") {
    if (book.modelsDenied.includes(model)) return { kind: "deny", cause: { about: "price", model } };
    if (!book.modelsAllowed.includes(model)) return { kind: "ask", cause: { about: "price", model } };
  }
  const room = unspent(book);
  // Less than asked only where what is reserved could not make room for more: a short answer is the last resort.
  const cost = wallLeftMs(book, now) > 0 ? mostWithin(wish, room) : undefined;
  if (cost === undefined) {
    const cause: Cause = { about: "limit", dimensions: exhaustedFor(book, wish, now) };
    return { kind: book.denied === null ? "ask" : "deny", cause };
  }
  const isFree = beyond(amountOf(cost, wish.calls), minus(room, book.reserved)).length === 0;
  return isFree ? { kind: "grant", cost } : { kind: "wait" };
}

function hold(book: Book, wish: Waiting, cost: Cost, now: number): Change {
  const held: Held = { state: "held", id: wish.id, calls: wish.calls, ...cost };
  const softPassed = passesSoft(book, now);
  return {
    book: {
      ...book,
      reserved: plus(book.reserved, amountOf(cost, wish.calls)),
      softPassed: book.softPassed || softPassed,
    },
    effects: [{ type: "store", reservation: held }, grantOf(book, held, wish.awakeable, now, softPassed)],
  };
}

function grantOf(book: Book, held: Held, awakeable: string, now: number, softPassed: boolean): Effect {
  return { type: "grant", awakeable, held, wallLeftMs: wallLeftMs(book, now), softPassed };
}

function asked(book: Book, wish: Waiting, cause: Cause, now: number): Change {
  if (book.question !== null && isSame(book.question.cause, cause)) return { book, effects: [] };
  const before = withdrawn(book, now);
  const number = book.questions + 1;
  return {
    book: {
      ...before.book,
      question: { number, cause },
      questions: number,
      clock: { ranMs: elapsedMs(book, now), since: null },
    },
    effects: [...before.effects, { type: "ask", number, cause, wish }],
  };
}

/** A limit is a limit: an answer to one question about them changes what the next would be. */
function isSame(a: Cause, b: Cause): boolean {
  return a.about === "limit" ? b.about === "limit" : b.about === "price" && a.model === b.model;
}

function withdrawn(book: Book, now: number): Change {
  if (book.question === null) return { book, effects: [] };
  return { book: answered(book, now), effects: [{ type: "withdraw" }] };
}

function passesSoft(book: Book, now: number): boolean {
  return !book.softPassed && isBeyondSoft(book, now);
}

/** The limits have changed: below the threshold, the next passing is news again. */
function levelled(book: Book, now: number): Book {
  return { ...book, softPassed: book.softPassed && isBeyondSoft(book, now) };
}

function without(list: readonly string[], id: string): readonly string[] {
  return list.filter((other) => other !== id);
}
