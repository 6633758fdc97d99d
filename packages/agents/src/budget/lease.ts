// A lease: what a run holds of its budgets while it makes one call
// =================================================================
//
//   using lease = await reserveBudget(ctx, budgetIds, { ...estimateTokens(bytes, 8_000), price });
//   const answer = await ctx.step("model", () => ask({ maxOutputTokens: lease.maxOutputTokens }));
//   await lease.settle({ tokens: answer.tokens, usd: answer.usd });
//
// B1. The budgets are asked one after another, root first, by everybody: so no two calls hold what the other waits for.
// B2. Whatever way the reservation fails (denied, cancelled), what was reserved by then is released.
// B3. What is said to a budget is a one-way send: once it is journaled neither a cancel nor a kill of this run undoes it.
//     What a killed run leaves behind, the budgets let go themselves.
// B4. If the answer keeps to `maxOutputTokens`, no limit is exceeded. A provider that does not keep to it is recorded:
//     `settle` counts all that was used, and `overshoot` in the status of each budget grows by what was not reserved.

import { assert, BudgetExhaustedError, parseAwakeableId } from "@perdure/protocol";
import type { Context } from "@perdure/sdk";
import { budgets } from "./budgets.ts";
import { checkCount, checkUsd, type TokenEstimate } from "./estimate.ts";
import type { ReserveAnswer, SettleAnswer } from "./types.ts";

/** The dearest rate, where it depends on what is sent. */
export interface TokenPrice {
  readonly usdPerInputToken: number;
  readonly usdPerOutputToken: number;
}

export interface CallEstimate extends TokenEstimate {
  /** `null`: not known. */
  readonly price: TokenPrice | null;
  /** For the question about a price that is not known. */
  readonly model?: string;
}

export interface ActualUse {
  /** Input and output together. */
  readonly tokens: number;
  /** `null`: not known; the dollars that were reserved count as spent. */
  readonly usd: number | null;
}

export interface BudgetLease extends Disposable {
  /** The limit to make the call with. Less than asked where no more was left. */
  readonly maxOutputTokens: number;
  /** How long the call may take by the limits on time. Absent: as long as it likes. */
  readonly wallLeftMs?: number;
  /** Budgets whose soft threshold was found passed when this was reserved. */
  readonly softPassed: readonly string[];
  /** The call was made. Answers with the budgets whose soft threshold it passed. */
  settle(actual: ActualUse): Promise<{ readonly softPassed: readonly string[] }>;
  /** The call is not made. Does nothing once it is settled; so does the end of `using`. */
  release(): void;
}

/**
 * Reserves what a call uses at worst in all budgets that bind it. Waits where there is no room, if need be for a person.
 * @param budgetIds root first.
 * @throws BudgetExhaustedError where a budget is exhausted and more was denied.
 */
export async function reserveBudget(
  ctx: Context,
  budgetIds: readonly string[],
  estimate: CallEstimate,
): Promise<BudgetLease> {
  checkEstimate(estimate);
  const lease = new Lease(ctx, estimate.maxOutputTokens);
  try {
    for (const budget of budgetIds) await lease.reserve(budget, estimate);
  } catch (error) {
    lease.release(); // B2
    throw error;
  }
  return lease;
}

class Lease implements BudgetLease {
  readonly #ctx: Context;
  /** Budgets that were asked, and hold or may hold something of it. */
  readonly #budgets: string[] = [];
  /** The same id in all of them. */
  #reservation: string | undefined = undefined;
  #state: "held" | "released" | "settled" = "held";
  readonly #softPassed: string[] = [];
  maxOutputTokens: number;
  wallLeftMs?: number;

  constructor(ctx: Context, maxOutputTokens: number) {
    this.#ctx = ctx;
    this.maxOutputTokens = maxOutputTokens;
  }

  get softPassed(): readonly string[] {
    return this.#softPassed;
  }

  async reserve(budget: string, estimate: CallEstimate): Promise<void> {
    const { id: awakeable, promise } = this.#ctx.awakeable<ReserveAnswer>();
    this.#reservation ??= reservationOf(awakeable);
    const { inputTokens, minOutputTokens } = estimate;
    const costOf = (outputTokens: number) => ({
      tokens: inputTokens + outputTokens,
      usd: usdOf(estimate, outputTokens),
    });
    this.#budgets.push(budget);
    // Awaited: where there is no such object, nobody would resolve the awakeable.
    await this.#ctx.send(budgets, budget).reserve({
      reservation: this.#reservation,
      ...costOf(this.maxOutputTokens),
      least: costOf(Math.min(minOutputTokens, this.maxOutputTokens)),
      calls: 1,
      awakeable,
      ...(estimate.model === undefined || estimate.model === "" ? {} : { model: estimate.model }),
    });
    const answer = await promise;
    if (!answer.granted) {
      this.#budgets.pop();
      throw new BudgetExhaustedError(answer.why, { metadata: { budget } });
    }
    this.maxOutputTokens = answer.tokens - inputTokens;
    if (answer.wallLeftMs !== undefined) this.wallLeftMs = Math.min(this.wallLeftMs ?? Infinity, answer.wallLeftMs);
    if (answer.softPassed === true) this.#softPassed.push(budget);
  }

  async settle({ tokens, usd }: ActualUse): Promise<{ readonly softPassed: readonly string[] }> {
    checkCount("lease.settle: tokens", tokens);
    checkUsd("lease.settle: usd", usd);
    const reservation = this.#reservation;
    if (this.#state === "settled" || reservation === undefined) return { softPassed: [] };
    this.#state = "settled"; // Also after a release: the call was made all the same, so it counts.
    const answers = this.#budgets.map(async (budget) => {
      const { id: awakeable, promise } = this.#ctx.awakeable<SettleAnswer>();
      await this.#ctx.send(budgets, budget).settle({ reservation, tokens, usd, awakeable });
      return (await promise).softPassed === true ? [budget] : [];
    });
    return { softPassed: (await Promise.all(answers)).flat() };
  }

  release(): void {
    if (this.#state !== "held") return;
    this.#state = "released";
    const reservation = this.#reservation;
    if (reservation === undefined) return;
    for (const budget of this.#budgets) void this.#ctx.send(budgets, budget).release({ reservation });
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** Unique among the reservations of the run, and the same on every replay: the first awakeable it listens on names it. */
function reservationOf(awakeable: string): string {
  const ref = parseAwakeableId(awakeable);
  assert(ref !== undefined, "an awakeable has an id that can be read");
  return `${ref.run}/${ref.signal}`;
}

function usdOf({ inputTokens, price }: CallEstimate, outputTokens: number): number | null {
  return price === null ? null : inputTokens * price.usdPerInputToken + outputTokens * price.usdPerOutputToken;
}

function checkEstimate({ inputTokens, maxOutputTokens, minOutputTokens, price }: CallEstimate): void {
  checkCount("estimate.inputTokens", inputTokens);
  checkCount("estimate.maxOutputTokens", maxOutputTokens);
  checkCount("estimate.minOutputTokens", minOutputTokens);
  checkCount("estimate: input and output", inputTokens + maxOutputTokens);
  if (price === null) return;
  checkUsd("estimate.price.usdPerInputToken", price.usdPerInputToken);
  checkUsd("estimate.price.usdPerOutputToken", price.usdPerOutputToken);
}
