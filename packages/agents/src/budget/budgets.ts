// Budgets: an object per budget, which grants what calls may use
// ===============================================================
// The ledger decides, this carries out: it reads what the ledger has to see, writes the book, resolves awakeables, starts
// questions and watches. No handler waits for anything but the clock and the state of a run, so the key is never held.
//
// Callers speak by one-way sends and listen on awakeables (see `reserveBudget`). A call would be a child of its caller,
// and end with it: what a caller had used that is killed, or cancelled, while its settlement stands in the lane would be
// lost. It also keeps the order: what a run said comes into the lane before what a watch says about its end.
//
// The handlers are internal: `by` is only as true as whoever calls.

import { isPerdureError, parseDuration, TerminalError } from "@perdure/protocol";
import type { DefinedHandler, ObjectContext, ObjectDefinition, ObjectSharedContext, SharedHandler } from "@perdure/sdk";
import { handler, object, shared } from "@perdure/sdk";
import { nanoUsdAtMost, nanoUsdOf, usdOf } from "./amounts.ts";
import { runOf, type Book, type Reservation, type Waiting } from "./book.ts";
import { abandon, answered, deny, open, raise, release, reserve, serve, settle } from "./ledger.ts";
import type { Addition, Change, Effect } from "./ledger.ts";
import {
  answerSchema,
  denySchema,
  limitsSchema,
  raiseSchema,
  reapSchema,
  releaseSchema,
  reserveSchema,
  settleSchema,
} from "./messages.ts";
import type {
  AnswerInput,
  DenyInput,
  RaiseInput,
  ReapInput,
  ReleaseInput,
  ReserveInput,
  SettleInput,
} from "./messages.ts";
import { BUDGETS, budgetQuestions } from "./questions.ts";
import { statusOf } from "./status.ts";
import { denialOf, questionOf, unopened } from "./texts.ts";
import type { BudgetLimits, BudgetRaise, BudgetStatus, ReserveAnswer, SettleAnswer } from "./types.ts";

type Exclusive<Input, Output = void> = DefinedHandler<ObjectContext, [input: Input], Output>;

export interface BudgetHandlers {
  /** Opens the budget, also with other limits; what was spent, reserved and raised stays. What was denied is asked anew. */
  readonly open: Exclusive<BudgetLimits, BudgetStatus>;
  readonly reserve: Exclusive<ReserveInput>;
  readonly settle: Exclusive<SettleInput>;
  readonly release: Exclusive<ReleaseInput>;
  /** Lets go of what a run holds that has ended. */
  readonly reap: Exclusive<ReapInput>;
  /** The answer to a question, from `budgetQuestions`. */
  readonly answer: Exclusive<AnswerInput>;
  /** Adds to the limits. */
  readonly raise: Exclusive<RaiseInput, BudgetStatus>;
  /** No to the open question, or to more in general: what does not fit fails, until the budget is raised or opened again. */
  readonly deny: Exclusive<DenyInput, BudgetStatus>;
  readonly status: SharedHandler<ObjectSharedContext, [], BudgetStatus>;
}

export const budgets: ObjectDefinition<BudgetHandlers> = object(
  BUDGETS,
  {
    open: handler({ input: limitsSchema }, async (ctx: ObjectContext, limits): Promise<BudgetStatus> => {
      const book = open(await ctx.get<Book>(BOOK), limits, await ctx.now());
      return change(ctx, book, (opened) => ({ book: opened, effects: [] }));
    }),

    reserve: handler({ input: reserveSchema }, async (ctx: ObjectContext, input): Promise<void> => {
      const book = await ctx.get<Book>(BOOK);
      if (book === undefined) {
        ctx.resolve(input.awakeable, { granted: false, why: unopened(ctx.key) } satisfies ReserveAnswer);
        return;
      }
      const found = await find(ctx, input.reservation);
      await change(ctx, book, (current, now) => reserve(current, found, wishOf(input), now));
    }),

    settle: handler({ input: settleSchema }, async (ctx: ObjectContext, input): Promise<void> => {
      const { reservation, tokens, usd, awakeable } = input;
      const book = await ctx.get<Book>(BOOK);
      if (book === undefined) {
        if (awakeable !== undefined) ctx.resolve(awakeable, {} satisfies SettleAnswer);
        return;
      }
      const found = await find(ctx, reservation);
      const nanoUsd = usd === null ? null : nanoUsdOf(usd);
      const settlement = { id: reservation, tokens, nanoUsd, ...(awakeable === undefined ? {} : { awakeable }) };
      await change(ctx, book, (current, now) => settle(current, found, settlement, now));
    }),

    release: handler({ input: releaseSchema }, async (ctx: ObjectContext, { reservation }): Promise<void> => {
      const book = await ctx.get<Book>(BOOK);
      if (book === undefined) return;
      const found = await find(ctx, reservation);
      await change(ctx, book, (current) => release(current, found));
    }),

    reap: handler({ input: reapSchema }, async (ctx: ObjectContext, { run }): Promise<void> => {
      const book = await ctx.get<Book>(BOOK);
      if (book === undefined || !(await hasEnded(ctx, run))) return;
      const places = (await ctx.keys()).filter((name) => name.startsWith(placeOf(`${run}/`)));
      const left = await Promise.all(places.map((place) => ctx.get<Reservation>(place)));
      await change(ctx, book, (current) => abandonAll(current, left));
    }),

    answer: handler({ input: answerSchema }, async (ctx: ObjectContext, answer): Promise<void> => {
      const book = await ctx.get<Book>(BOOK);
      // About a question that was withdrawn: somebody raised the budget, or nobody waits any more.
      if (book?.question?.number !== answer.question) return;
      const { cause } = book.question;
      await change(ctx, book, (current, now) => {
        const heard = answered(current, now);
        const said = wordOf(answer);
        const next = answer.approved ? raise(heard, additionOf(answer.raise), said, now) : deny(heard, cause, said);
        return { book: next, effects: [] };
      });
    }),

    raise: handler({ input: raiseSchema }, async (ctx: ObjectContext, input): Promise<BudgetStatus> => {
      const book = await decidable(ctx, input);
      return change(ctx, book, (current, now) => ({
        book: raise(current, additionOf(input), wordOf(input), now),
        effects: [],
      }));
    }),

    deny: handler({ input: denySchema }, async (ctx: ObjectContext, input): Promise<BudgetStatus> => {
      const book = await decidable(ctx, input);
      const cause = book.question?.cause;
      return change(ctx, book, (current) => ({ book: deny(current, cause, wordOf(input)), effects: [] }));
    }),

    status: shared(async (ctx: ObjectSharedContext): Promise<BudgetStatus> => {
      const runs = runsIn(await ctx.keys());
      const ended = await Promise.all(runs.map((run) => hasEnded(ctx, run)));
      const dead = runs.filter((_, at) => ended[at]);
      await Promise.all(dead.map((run) => ctx.call(BUDGETS, ctx.key).reap({ run })));
      const book = await bookOf(ctx);
      return statusOf(book, await nowFor(ctx, book));
    }),
  },
  // Nobody looks at the runs of a budget once they are over, and there are two for every call of a model.
  { internal: true, retention: "1h", description: "What a tree of agents may use, in tokens, money, calls and time." },
);

// The names of a budget's state
// -----------------------------

const BOOK = "book";
/** The run that asks the open question. */
const QUESTION = "question";
const OPEN = "open/";

function placeOf(reservation: string): string {
  return OPEN + reservation;
}

function find(ctx: ObjectContext, reservation: string): Promise<Reservation | undefined> {
  return ctx.get<Reservation>(placeOf(reservation));
}

/** The runs that have reservations, among the names of the state. */
function runsIn(names: readonly string[]): readonly string[] {
  const runs = names.filter((name) => name.startsWith(OPEN)).map((name) => runOf(name.slice(OPEN.length)));
  return [...new Set(runs)].filter((run) => run !== undefined);
}

async function bookOf(ctx: ObjectSharedContext): Promise<Book> {
  const book = await ctx.get<Book>(BOOK);
  if (book === undefined) throw new TerminalError(unopened(ctx.key), { status: 404 });
  return book;
}

/** The book, if whoever speaks may decide about it. */
async function decidable(ctx: ObjectContext, { by }: DenyInput): Promise<Book> {
  const book = await bookOf(ctx);
  const { approvers } = book;
  if (approvers === null || (by !== undefined && approvers.includes(by))) return book;
  const who = by ?? "somebody without a name (give `by`)";
  throw new TerminalError(`${approvers.join(", ")} may decide about budget ${ctx.key}, ${who} may not`, {
    status: 403,
  });
}

// Carrying out
// ------------

type AskEffect = Extract<Effect, { type: "ask" }>;

/**
 * Makes a change, serves the line, and writes the book. Between the first effect and the book nothing is waited for, so
 * that they are written together, even where somebody kills this run.
 */
async function change(
  ctx: ObjectContext,
  book: Book,
  take: (book: Book, now: number) => Change,
): Promise<BudgetStatus> {
  const now = await nowFor(ctx, book);
  const first = take(book, now);
  await carryOut(ctx, first, now);
  let current = first.book;
  let question: AskEffect | undefined = undefined;
  for (let again = true; again; ) {
    const head = current.waiting[0];
    const waiting = head === undefined ? undefined : await ctx.get<Waiting>(placeOf(head));
    const served = serve(current, waiting, now);
    await carryOut(ctx, served, now);
    question = served.effects.find((effect) => effect.type === "ask");
    ({ book: current, again } = served);
  }
  ctx.set(BOOK, current);
  if (question !== undefined) await ask(ctx, current, question, now);
  return statusOf(current, now);
}

/** The time is asked for only where time is limited. */
function nowFor(ctx: ObjectSharedContext, book: Book): Promise<number> {
  return book.limits.wallMs === null ? Promise.resolve(0) : ctx.now();
}

async function carryOut(ctx: ObjectContext, { book, effects }: Change, now: number): Promise<void> {
  for (const effect of effects) {
    switch (effect.type) {
      case "store":
        ctx.set(placeOf(effect.reservation.id), effect.reservation);
        break;
      case "drop":
        ctx.clear(placeOf(effect.id));
        break;
      case "grant":
        ctx.resolve(effect.awakeable, grantAnswer(effect));
        break;
      case "deny": {
        const why = denialOf(ctx.key, book, effect.cause, now);
        ctx.resolve(effect.awakeable, { granted: false, why } satisfies ReserveAnswer);
        break;
      }
      case "settled":
        ctx.resolve(effect.awakeable, (effect.softPassed ? { softPassed: true } : {}) satisfies SettleAnswer);
        break;
      case "watch":
        watch(ctx, effect.first ? await ctx.keys() : [placeOf(effect.reservation)]);
        break;
      case "ask":
        break; // After the book is written.
      case "withdraw": {
        const run = await ctx.get<string>(QUESTION);
        if (run !== undefined) ctx.run(run).cancel();
        break;
      }
    }
  }
}

/** Whoever has reservations at these places is watched, once, for as long as it lives. */
function watch(ctx: ObjectContext, places: readonly string[]): void {
  for (const run of runsIn(places)) {
    const once = { idempotencyKey: `${ctx.key}/${run}` };
    void ctx.send(budgetQuestions, once).watch({ budget: ctx.key, run });
  }
}

async function ask(ctx: ObjectContext, book: Book, { number, cause, wish }: AskEffect, now: number): Promise<void> {
  const request = questionOf(ctx.key, book, cause, wish, now);
  try {
    const { id } = await ctx.send(budgetQuestions).ask({ budget: ctx.key, question: number, request });
    ctx.set(QUESTION, id);
  } catch (error) {
    // The service is not served. Without an answer the tree would wait for ever.
    if (!isPerdureError(error)) throw error;
    const comment = `nobody could be asked: ${error.message}`;
    await ctx.send(BUDGETS, ctx.key).answer({ question: number, approved: false, comment });
  }
}

function grantAnswer(effect: Extract<Effect, { type: "grant" }>): ReserveAnswer {
  const { held, wallLeftMs, softPassed } = effect;
  return {
    granted: true,
    tokens: held.tokens,
    usd: held.nanoUsd === null ? null : usdOf(held.nanoUsd),
    ...(Number.isFinite(wallLeftMs) ? { wallLeftMs } : {}),
    ...(softPassed ? { softPassed } : {}),
  };
}

/** Whether a run is over: it has an output, it failed, or nobody knows it any more. */
async function hasEnded(ctx: ObjectSharedContext, run: string): Promise<boolean> {
  try {
    return (await ctx.run(run).output()).ready;
  } catch (error) {
    if (ctx.abortSignal.aborted) throw error; // It is this run that was cancelled.
    return true;
  }
}

function abandonAll(book: Book, left: readonly (Reservation | undefined)[]): Change {
  const effects: Effect[] = [];
  let next = book;
  for (const reservation of left) {
    const one = abandon(next, reservation);
    next = one.book;
    effects.push(...one.effects);
  }
  return { book: next, effects };
}

// What is said, in the ledger's words
// -----------------------------------

function wishOf(input: ReserveInput): Waiting {
  const most = { tokens: input.tokens, nanoUsd: input.usd === null ? null : nanoUsdAtMost(input.usd) };
  const { least: asked } = input;
  const least =
    asked === undefined || asked.tokens === most.tokens
      ? most
      : { tokens: asked.tokens, nanoUsd: asked.usd === null ? null : nanoUsdAtMost(asked.usd) };
  const { reservation: id, calls, awakeable } = input;
  return { state: "waiting", id, calls, most, least, model: input.model ?? "a model without a name", awakeable };
}

function additionOf({ tokens = 0, usd = 0, calls = 0, wall = 0, models = [] }: BudgetRaise): Addition {
  return { amount: { tokens, nanoUsd: nanoUsdOf(usd), calls }, wallMs: parseDuration(wall), models };
}

function wordOf({ by, comment }: DenyInput): { readonly by?: string; readonly comment?: string } {
  return { ...(by === undefined ? {} : { by }), ...(comment === undefined ? {} : { comment }) };
}
