// Budgets as their users see them: what limits a budget, what raises it, and how it stands.

import type { DurationLike } from "@perdure/protocol";

export interface BudgetLimits {
  readonly tokens?: number;
  readonly usd?: number;
  /** Time on the clock since the budget was opened. It stands still while a question is open. */
  readonly wall?: DurationLike;
  /** Calls of models. */
  readonly calls?: number;
  /** The share of a limit at which an event is due. Default 0.8. */
  readonly soft?: number;
  /** Who may raise or deny; absent: whoever is asked. */
  readonly approvers?: readonly string[];
  /** What a limit in dollars does with a call whose price is not known. Default "ask". */
  readonly unknownPrice?: "ask" | "allow";
}

/** What is added to limits. A limit that is not there stays away. */
export interface BudgetRaise {
  readonly tokens?: number;
  readonly usd?: number;
  readonly wall?: DurationLike;
  readonly calls?: number;
  /** Models that may be called from now on although their price is not known. */
  readonly models?: readonly string[];
}

export interface Figures {
  readonly tokens: number;
  readonly usd: number;
  readonly calls: number;
}

export interface BudgetStatus {
  /** What binds now: what it was opened with and what was added since. */
  readonly limits: {
    readonly tokens?: number;
    readonly usd?: number;
    readonly calls?: number;
    readonly wallMs?: number;
  };
  readonly spent: Figures & { readonly wallMs: number };
  /** Held for calls that are under way. */
  readonly reserved: Figures;
  /** Calls that wait for room. */
  readonly waiting: number;
  /** The soft threshold of these limits is behind it. */
  readonly softPassed: boolean;
  /** The open question, if there is one: about the limits, or about the price of a model. */
  readonly asked: { readonly question: number; readonly about: "limit" | "price"; readonly model?: string } | null;
  /** Somebody said no: calls that do not fit fail at once, until it is raised. */
  readonly denied: { readonly by?: string; readonly comment?: string } | null;
  readonly lastRaise: { readonly by?: string; readonly comment?: string } | null;
  /** What was used beyond what was reserved: a provider that exceeded the maximum it was given, or a price that was not known. */
  readonly overshoot: Figures;
  /** Used by calls whose price is not known: their dollars are in no other figure. */
  readonly unpriced: { readonly tokens: number; readonly calls: number };
  /** Let go because their run ended before it said what it used (it was killed). */
  readonly unsettled: Figures;
}

/** What an awakeable of `reserve` is resolved with. */
export type ReserveAnswer =
  | {
      readonly granted: true;
      /** What is held: less than was asked where that is all there is left. */
      readonly tokens: number;
      readonly usd: number | null;
      readonly wallLeftMs?: number;
      readonly softPassed?: true;
    }
  | { readonly granted: false; readonly why: string };

/** What an awakeable of `settle` is resolved with. */
export interface SettleAnswer {
  /** The soft threshold was passed just now. Said once per budget and level of its limits. */
  readonly softPassed?: true;
}
