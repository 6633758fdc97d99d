// The book of a budget: what is kept of it between calls
// ======================================================
// One small record, and one more per reservation that is open. Its size follows what is under way, never what has been:
// a settled reservation is a few numbers in `spent`.

import type { RunId } from "@perdure/protocol";
import { parseDuration, parseRunId } from "@perdure/protocol";
import type { Amount, Cost, Wish } from "./amounts.ts";
import { beyond, minus, NOTHING, nanoUsdOf } from "./amounts.ts";
import type { BudgetLimits } from "./types.ts";

/** What a question is about. */
export type Cause =
  | { readonly about: "limit"; readonly dimensions: readonly Dimension[] }
  | { readonly about: "price"; readonly model: string };

export type Dimension = keyof Amount | "wallMs";

export interface Word {
  readonly by?: string;
  readonly comment?: string;
}

/** `null`: no limit. */
type Limits = Readonly<Record<Dimension, number | null>>;

export interface Book {
  readonly limits: Limits;
  /** What was added to the limits, and stays added when the budget is opened with other ones. */
  readonly raised: Readonly<Record<Dimension, number>>;
  readonly soft: number;
  readonly approvers: readonly string[] | null;
  readonly unknownPrice: "ask" | "allow";
  readonly modelsAllowed: readonly string[];
  readonly modelsDenied: readonly string[];

  readonly spent: Amount;
  readonly reserved: Amount;
  readonly overshoot: Amount;
  readonly unpriced: { readonly tokens: number; readonly calls: number };
  readonly unsettled: Amount;
  /** Counts while `since` is an instant; stands still while a question is open. */
  readonly clock: { readonly ranMs: number; readonly since: number | null };

  readonly softPassed: boolean;
  /** Reservations that wait, in the order in which they came. */
  readonly waiting: readonly string[];
  readonly question: { readonly number: number; readonly cause: Cause } | null;
  /** Questions asked so far. */
  readonly questions: number;
  readonly denied: Word | null;
  readonly lastRaise: Word | null;
  /** The last reservations that were settled; see SETTLED_KEPT. */
  readonly settled: readonly string[];
}

/** An open reservation. Its id is its caller's run id, a slash, and what tells the reservations of that run apart. */
export type Reservation = Waiting | Held;

export interface Waiting extends Wish {
  readonly state: "waiting";
  readonly id: string;
  readonly model: string;
  readonly awakeable: string;
}

export interface Held extends Cost {
  readonly state: "held";
  readonly id: string;
  readonly calls: number;
}

/**
 * How many settled reservations are remembered, so that settling one again counts nothing.
 * The engine carries each message of a caller out once (E1, E9), so a repetition comes from a caller's own code, which says
 * it right after, or from a caller that a person restarts. One that is older than this many counts once more: its call was
 * most likely made again, and where not, the error is on the safe side and shows as overshoot.
 */
const SETTLED_KEPT = 16;
const SOFT_SHARE = 0.8;

export function emptyBook(limits: BudgetLimits, now: number): Book {
  return {
    ...policyOf(limits),
    raised: { tokens: 0, nanoUsd: 0, calls: 0, wallMs: 0 },
    modelsAllowed: [],
    modelsDenied: [],
    spent: NOTHING,
    reserved: NOTHING,
    overshoot: NOTHING,
    unpriced: { tokens: 0, calls: 0 },
    unsettled: NOTHING,
    clock: { ranMs: 0, since: now },
    softPassed: false,
    waiting: [],
    question: null,
    questions: 0,
    denied: null,
    lastRaise: null,
    settled: [],
  };
}

/** The part of a book that whoever opens the budget decides. */
export function policyOf(limits: BudgetLimits): Pick<Book, "limits" | "soft" | "approvers" | "unknownPrice"> {
  return {
    limits: {
      tokens: limits.tokens ?? null,
      nanoUsd: limits.usd === undefined ? null : nanoUsdOf(limits.usd),
      calls: limits.calls ?? null,
      wallMs: limits.wall === undefined ? null : parseDuration(limits.wall),
    },
    soft: limits.soft ?? SOFT_SHARE,
    approvers: limits.approvers ?? null,
    unknownPrice: limits.unknownPrice ?? "ask",
  };
}

export function remember(book: Book, id: string): readonly string[] {
  return [...book.settled, id].slice(-SETTLED_KEPT);
}

/** The limit that binds now. */
export function limitOf(book: Book, dimension: Dimension): number {
  const limit = book.limits[dimension];
  return limit === null ? Number.POSITIVE_INFINITY : limit + book.raised[dimension];
}

/** What the limits leave beside what is spent: all there is room for once nothing is under way. */
export function unspent(book: Book): Amount {
  const limit = {
    tokens: limitOf(book, "tokens"),
    nanoUsd: limitOf(book, "nanoUsd"),
    calls: limitOf(book, "calls"),
  };
  return minus(limit, book.spent);
}

export function elapsedMs({ clock }: Book, now: number): number {
  return clock.ranMs + (clock.since === null ? 0 : Math.max(0, now - clock.since));
}

export function wallLeftMs(book: Book, now: number): number {
  return limitOf(book, "wallMs") - elapsedMs(book, now);
}

export function isBeyondSoft(book: Book, now: number): boolean {
  const at = (dimension: Dimension): number => Math.ceil(limitOf(book, dimension) * book.soft);
  const threshold = { tokens: at("tokens"), nanoUsd: at("nanoUsd"), calls: at("calls") };
  const isReached = (dimension: keyof Amount): boolean => book.spent[dimension] >= threshold[dimension];
  return isReached("tokens") || isReached("nanoUsd") || isReached("calls") || elapsedMs(book, now) >= at("wallMs");
}

/** Dimensions in which there is no room for the least of a wish, whatever may come back. */
export function exhaustedFor(book: Book, wish: Wish, now: number): readonly Dimension[] {
  const { tokens, nanoUsd } = wish.least;
  const short: Dimension[] = beyond({ tokens, nanoUsd: nanoUsd ?? 0, calls: wish.calls }, unspent(book));
  return wallLeftMs(book, now) > 0 ? short : [...short, "wallMs"];
}

/** The run that a reservation was made by, or undefined where its id does not say. */
export function runOf(reservation: string): RunId | undefined {
  const end = reservation.indexOf("/");
  return end < 0 ? undefined : parseRunId(reservation.slice(0, end));
}
