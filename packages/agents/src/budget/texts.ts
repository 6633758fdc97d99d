// What a budget says to people: its questions, and why a call was denied.

import { formatDuration } from "@perdure/protocol";
import type { ApprovalRequest } from "../approvals/types.ts";
import { usdOf } from "./amounts.ts";
import type { Book, Cause, Dimension, Waiting, Word } from "./book.ts";
import { elapsedMs, limitOf } from "./book.ts";
import type { BudgetRaise } from "./types.ts";

const USD_DIGITS_MAX = 4;

/** The question that the approvals workflow asks. */
export function questionOf(budget: string, book: Book, cause: Cause, wish: Waiting, now: number): ApprovalRequest {
  const title = cause.about === "price" ? priceTitle(budget, cause.model) : limitTitle(budget, book, cause, wish, now);
  return {
    kind: "budget",
    title,
    input: raiseFor(book, cause, wish, now),
    details: { budget, waiting: book.waiting.length, model: wish.model },
    ...(book.approvers === null ? {} : { approvers: book.approvers }),
  };
}

function limitTitle(
  budget: string,
  book: Book,
  cause: Extract<Cause, { about: "limit" }>,
  wish: Waiting,
  now: number,
): string {
  const needs = cause.dimensions.filter((dimension) => dimension !== "wallMs");
  const need = needs.map((dimension) => figure(dimension, leastOf(wish, dimension))).join(", ");
  const waiting = book.waiting.length === 1 ? "one call waits" : `${book.waiting.length} calls wait`;
  return (
    `raise the budget ${budget}: used are ${usedOf(book, cause.dimensions, now)}; ${waiting}` +
    (need === "" ? "" : `, the next needs at least ${need}`)
  );
}

function priceTitle(budget: string, model: string): string {
  return `let ${model} be called within the budget ${budget}: its price is not known, so the calls do not count in dollars`;
}

/** What is added if the answer is a plain yes: as much again as the limit, and at least what the next call is short of. */
function raiseFor(book: Book, cause: Cause, wish: Waiting, now: number): BudgetRaise {
  if (cause.about === "price") return { models: [cause.model] };
  const more = (dimension: Dimension): number => {
    const needed =
      dimension === "wallMs" ? elapsedMs(book, now) + 1 : usedIn(book, dimension, now) + leastOf(wish, dimension);
    return Math.max(book.limits[dimension] ?? 0, needed - limitOf(book, dimension));
  };
  const has = (dimension: Dimension): boolean => cause.dimensions.includes(dimension);
  return {
    ...(has("tokens") ? { tokens: more("tokens") } : {}),
    ...(has("nanoUsd") ? { usd: usdOf(more("nanoUsd")) } : {}),
    ...(has("calls") ? { calls: more("calls") } : {}),
    ...(has("wallMs") ? { wall: more("wallMs") } : {}),
  };
}

/** Why a call is not made, and what to do about it. */
export function denialOf(budget: string, book: Book, cause: Cause, now: number): string {
  if (cause.about === "price") {
    return `budget ${budget} is in dollars, the price of ${cause.model} is not known, and calling it was denied. Give its price, or raise the budget with { models: ["${cause.model}"] }`;
  }
  const used = usedOf(book, cause.dimensions, now);
  return `budget ${budget} is used up (${used}), and more was denied${saying(book.denied)}. Raise it, and send again`;
}

export function unopened(budget: string): string {
  return `there is no budget ${budget}: open it with its limits before the first call is made`;
}

function usedOf(book: Book, dimensions: readonly Dimension[], now: number): string {
  return dimensions
    .map(
      (dimension) =>
        `${figure(dimension, usedIn(book, dimension, now))} of ${figure(dimension, limitOf(book, dimension))}`,
    )
    .join(", ");
}

function saying(word: Word | null): string {
  const by = word?.by === undefined ? "" : ` by ${word.by}`;
  return word?.comment === undefined ? by : `${by}: ${word.comment}`;
}

function usedIn(book: Book, dimension: Dimension, now: number): number {
  return dimension === "wallMs" ? elapsedMs(book, now) : book.spent[dimension];
}

function leastOf(wish: Waiting, dimension: Exclude<Dimension, "wallMs">): number {
  return dimension === "calls" ? wish.calls : (wish.least[dimension] ?? 0);
}

function figure(dimension: Dimension, value: number): string {
  switch (dimension) {
    case "tokens":
      return `${value.toLocaleString("en-US")} tokens`;
    case "nanoUsd":
      return `$${usdOf(value).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: USD_DIGITS_MAX })}`;
    case "calls":
      return `${value.toLocaleString("en-US")} calls`;
    case "wallMs":
      return formatDuration(value);
  }
}
