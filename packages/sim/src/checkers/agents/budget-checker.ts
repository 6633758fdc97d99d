// Budgets (A6): what is spent and reserved stays within the limits and what was added to them; in the end nothing is held; and
// what is spent is what the transcripts say was used. What is not known to have been used was held by a run that was killed.

import { isFinished } from "@perdure/protocol";
import type { Observation } from "../../observations.ts";
import { BUDGETS } from "../../outside/agent-targets.ts";
import type { Checker, Context } from "../checker.ts";
import type { ShadowRun } from "../shadow.ts";
import { messageOf, type Sessions, sessionOf, turnsIn } from "./sessions.ts";

interface Amount {
  readonly tokens: number;
  readonly nanoUsd: number;
  readonly calls: number;
}

/** As much of a budget's book as is looked at. */
interface Book {
  readonly limits: Readonly<Record<keyof Amount, number | null>>;
  readonly raised: Amount;
  readonly spent: Amount;
  readonly reserved: Amount;
  readonly overshoot: Amount;
  readonly unsettled: Amount;
  readonly waiting: readonly string[];
}

const DIMENSIONS = ["tokens", "nanoUsd", "calls"] as const;
const BOOK = "book";

export function createBudgetChecker(sessions: Sessions): Checker {
  return {
    name: "budgets",
    beforeMutation(context, mutation) {
      if (mutation.type === "setState" && mutation.key.service === BUDGETS && mutation.name === BOOK)
        checkLimits(context, mutation.key.key, JSON.parse(String(mutation.value)) as Book);
    },
    observe(context, observation) {
      if (observation.type === "stored") checkStored(context, observation, sessions);
    },
  };
}

/** A provider that used more than was reserved has gone beyond: that is known, and not granted. */
function checkLimits(context: Context, name: string, { limits, raised, spent, reserved, overshoot }: Book): void {
  for (const dimension of DIMENSIONS) {
    const limit = limits[dimension];
    const used = spent[dimension] - overshoot[dimension] + reserved[dimension];
    if (reserved[dimension] < 0)
      context.report("A6", `budget ${name} has ${reserved[dimension]} ${dimension} reserved`);
    if (limit !== null && used > limit + raised[dimension])
      context.report(
        "A6",
        `budget ${name} has ${used} ${dimension} spent and reserved, of ${limit + raised[dimension]}`,
      );
  }
}

type Stored = Extract<Observation, { type: "stored" }>;

function checkStored(context: Context, { states }: Stored, sessions: Sessions): void {
  const turns = turnsIn(context);
  if (turns.some(({ record }) => !isFinished(record.status))) return; // E8 says so.
  for (const { service, key, state } of states) {
    const stored = state.get(BOOK);
    if (service !== BUDGETS || stored === undefined) continue;
    const book = JSON.parse(String(stored)) as Book;
    const left = [...state.keys()].filter((place) => place.startsWith("open/"));
    if (book.waiting.length > 0 || left.length > 0 || DIMENSIONS.some((one) => book.reserved[one] !== 0))
      context.report("A6", `in the end budget ${key} holds ${JSON.stringify(book.reserved)}, ${left.join(" ")}`);
    checkSpent(
      context,
      key,
      book,
      turns.filter((run) => isBound(run, key)),
      sessions,
    );
  }
}

/** A budget of an agent's own is named by the session that it is of. */
function isBound(run: ShadowRun, budget: string): boolean {
  return sessionOf(run) === budget || messageOf(run).budgets?.includes(budget) === true;
}

function checkSpent(context: Context, name: string, book: Book, turns: readonly ShadowRun[], sessions: Sessions): void {
  if (turns.some(({ record }) => record.generation > 0)) return; // A restart does again what was paid for before.
  const killed = turns.some(({ record }) => record.status === "killed");
  const { spent, unsettled } = book;
  const all = usedBy(turns, sessions);
  const sure = usedBy(
    turns.filter(({ record }) => record.status === "succeeded"),
    sessions,
  );
  if (spent.tokens > all) context.report("A6", `budget ${name} counts ${spent.tokens} tokens, and ${all} were used`);
  if (sure > spent.tokens + unsettled.tokens)
    context.report("A6", `${sure} tokens were used, and budget ${name} counts ${spent.tokens} and ${unsettled.tokens}`);
  if (unsettled.calls > 0 && !killed)
    context.report("A6", `budget ${name} does not know of ${unsettled.calls} calls, and nobody was killed`);
}

function usedBy(turns: readonly ShadowRun[], sessions: Sessions): number {
  let tokens = 0;
  for (const run of turns)
    for (const { item } of sessions.by(run))
      if (item.type === "assistant" || item.type === "compaction")
        tokens += item.usage.inputTokens + item.usage.outputTokens;
  return tokens;
}
