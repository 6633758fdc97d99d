// What is said to a budget, and how it is checked. A budget that took in a figure that is none would be wrong for ever.

import type { DurationLike } from "@perdure/protocol";
import { parseAwakeableId, parseDuration } from "@perdure/protocol";
import type { StandardSchema } from "@perdure/sdk";
import { z } from "zod";
import { runOf } from "./book.ts";
import type { BudgetLimits, BudgetRaise } from "./types.ts";

export interface ReserveInput {
  /** The caller's run id, a slash, and what tells its reservations apart: the same whenever the same call is meant. */
  readonly reservation: string;
  /** What the call uses at worst. */
  readonly tokens: number;
  /** `null`: the price is not known. */
  readonly usd: number | null;
  readonly calls: number;
  /** What the call can do with, where no more is left. Absent: all or nothing. */
  readonly least?: { readonly tokens: number; readonly usd: number | null };
  /** For questions about its price. */
  readonly model?: string;
  /** Resolved with a `ReserveAnswer`, always. */
  readonly awakeable: string;
}

export interface SettleInput {
  readonly reservation: string;
  readonly tokens: number;
  readonly usd: number | null;
  /** Resolved with a `SettleAnswer`. */
  readonly awakeable?: string;
}

export interface ReleaseInput {
  readonly reservation: string;
}

export interface RaiseInput extends BudgetRaise {
  readonly by?: string;
  readonly comment?: string;
}

export interface DenyInput {
  readonly by?: string;
  readonly comment?: string;
}

/** The answer to a question, as a person gave it. */
export type AnswerInput = { readonly question: number } & (
  | { readonly approved: true; readonly raise: BudgetRaise; readonly by?: string; readonly comment?: string }
  | { readonly approved: false; readonly by?: string; readonly comment?: string }
);

export interface ReapInput {
  readonly run: string;
}

const count = z.int().nonnegative();
const money = z.number().nonnegative();
const price = money.nullable();
const text = z.string().min(1);
const duration = z.union([z.number(), z.string()]).refine(isDuration, "not a duration: write 10m, 2h or milliseconds");
const reservation = z.string().refine((id) => runOf(id) !== undefined, "begins with the id of a run and a slash");

const awakeable = z.string().refine((id) => parseAwakeableId(id) !== undefined, "is not the id of an awakeable");

function isDuration(value: DurationLike): boolean {
  try {
    return parseDuration(value) >= 0;
  } catch {
    return false; // The refinement says what is wrong.
  }
}

export const limitsSchema: StandardSchema<BudgetLimits> = z.strictObject({
  tokens: z.exactOptional(count),
  usd: z.exactOptional(money),
  wall: z.exactOptional(duration),
  calls: z.exactOptional(count),
  soft: z.exactOptional(z.number().positive().max(1)),
  approvers: z.exactOptional(
    z.array(text).min(1, "nobody could ever answer: leave approvers out, or name one").readonly(),
  ),
  unknownPrice: z.exactOptional(z.enum(["ask", "allow"])),
});

export const reserveSchema: StandardSchema<ReserveInput> = z
  .strictObject({
    reservation,
    tokens: count,
    usd: price,
    calls: count,
    least: z.exactOptional(z.strictObject({ tokens: count, usd: price })),
    model: z.exactOptional(text),
    awakeable,
  })
  .refine(
    ({ tokens, usd, least }) =>
      least === undefined ||
      (least.tokens <= tokens && (least.usd === null) === (usd === null) && (least.usd ?? 0) <= (usd ?? 0)),
    "`least` is no more than what is asked, in tokens and in dollars",
  );

export const settleSchema: StandardSchema<SettleInput> = z.strictObject({
  reservation,
  tokens: count,
  usd: price,
  awakeable: z.exactOptional(awakeable),
});

export const releaseSchema: StandardSchema<ReleaseInput> = z.strictObject({ reservation });
export const reapSchema: StandardSchema<ReapInput> = z.strictObject({ run: text });

const additions = {
  tokens: z.exactOptional(count),
  usd: z.exactOptional(money),
  wall: z.exactOptional(duration),
  calls: z.exactOptional(count),
  models: z.exactOptional(z.array(text).readonly()),
};
const word = { by: z.exactOptional(text), comment: z.exactOptional(z.string()) };

export const raiseSchema: StandardSchema<RaiseInput> = z
  .strictObject({ ...additions, ...word })
  .refine(addsSomething, "adds nothing: give tokens, usd, wall, calls or models");

export const denySchema: StandardSchema<DenyInput> = z.strictObject(word);

const additionSchema = z
  .strictObject(additions)
  .refine(addsSomething, "it adds nothing: give tokens, usd, wall, calls or models");

export const answerSchema: StandardSchema<AnswerInput> = z.discriminatedUnion("approved", [
  z.strictObject({ question: count, approved: z.literal(true), raise: additionSchema, ...word }),
  z.strictObject({ question: count, approved: z.literal(false), ...word }),
]);

/** What an approver answered, or what is wrong with it. */
export function readRaise(input: unknown): BudgetRaise | { readonly problem: string } {
  const read = additionSchema.safeParse(input);
  if (read.success) return read.data;
  const issues = read.error.issues.map(({ path, message }) => [...path, message].join(": "));
  return { problem: issues.join("; ") };
}

function addsSomething({ tokens = 0, usd = 0, wall = 0, calls = 0, models = [] }: BudgetRaise): boolean {
  return tokens > 0 || usd > 0 || calls > 0 || models.length > 0 || (isDuration(wall) && parseDuration(wall) > 0);
}
