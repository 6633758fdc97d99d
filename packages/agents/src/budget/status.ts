// A book, as it is shown.

import { usdOf, type Amount } from "./amounts.ts";
import { elapsedMs, limitOf, type Book, type Dimension } from "./book.ts";
import type { BudgetStatus, Figures } from "./types.ts";

export function statusOf(book: Book, now: number): BudgetStatus {
  const { question, unpriced } = book;
  return {
    limits: limitsOf(book),
    spent: { ...figuresOf(book.spent), wallMs: book.limits.wallMs === null ? 0 : elapsedMs(book, now) },
    reserved: figuresOf(book.reserved),
    waiting: book.waiting.length,
    softPassed: book.softPassed,
    asked:
      question === null
        ? null
        : {
            question: question.number,
            about: question.cause.about,
            ...(question.cause.about === "price" ? { model: question.cause.model } : {}),
          },
    denied: book.denied,
    lastRaise: book.lastRaise,
    overshoot: figuresOf(book.overshoot),
    unpriced,
    unsettled: figuresOf(book.unsettled),
  };
}

function limitsOf(book: Book): BudgetStatus["limits"] {
  const has = (dimension: Dimension): boolean => book.limits[dimension] !== null;
  return {
    ...(has("tokens") ? { tokens: limitOf(book, "tokens") } : {}),
    ...(has("nanoUsd") ? { usd: usdOf(limitOf(book, "nanoUsd")) } : {}),
    ...(has("calls") ? { calls: limitOf(book, "calls") } : {}),
    ...(has("wallMs") ? { wallMs: limitOf(book, "wallMs") } : {}),
  };
}

function figuresOf({ tokens, nanoUsd, calls }: Amount): Figures {
  return { tokens, usd: usdOf(nanoUsd), calls };
}
