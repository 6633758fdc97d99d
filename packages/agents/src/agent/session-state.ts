// What an agent keeps in its key's state, beside its streams: one small record, so that a turn reads and writes it once. It
// does not grow with the conversation.

import type { Failure, Payload } from "@perdure/protocol";
import type { ObjectContext, ObjectSharedContext, RunId } from "@perdure/sdk";
import type { ForkChanges } from "./fork-changes.ts";
import type { AgentAnswer } from "./messages.ts";
import type { KnownOffers } from "./tool-sources.ts";

const SESSION = "session";

export interface Session {
  /** The turn that has the key, or had it last. */
  readonly turn: RunId;
  /** Offset in the transcript from which a request needs the items. */
  readonly contextFrom: number;
  /** The agent has a budget of its own, under `agent/session`. */
  readonly budget?: true;
  /** How many turns have begun. */
  readonly turns: number;
  /** Offsets in `events` at which every tenth turn began, oldest first: from the first one on they are kept. */
  readonly marks: readonly number[];
  /** Messages that another turn than their own has seen, until their own runs have come and gone. */
  readonly taken: Readonly<Record<RunId, Taken>>;
  /** Sub-agents, newest last. */
  readonly children: readonly ChildRecord[];
  /** What its tool sources offered last. */
  readonly offers?: KnownOffers;
  /** It began as a fork that goes on otherwise. */
  readonly changes?: ForkChanges;
}

export interface Taken {
  readonly turn: RunId;
  /** Absent while that turn goes on, or where it never came to an end. */
  readonly end?: { readonly answer: AgentAnswer } | { readonly failure: Failure };
}

export interface ChildRecord {
  readonly name: string;
  readonly agent: string;
  readonly key: string;
  readonly run: RunId;
  readonly background: boolean;
}

/** Older ones are forgotten: their sessions are still there under their keys. */
export const CHILDREN_KEPT_MAX = 100;
/** The length of `events` is asked, and old ones leave it, so often. */
export const TURNS_PER_MARK = 10;
/** So at least 20 turns stay. */
export const MARKS_KEPT = 3;

const EMPTY: Omit<Session, "turn"> = { contextFrom: 0, turns: 0, marks: [], taken: {}, children: [] };

export async function readSession(ctx: ObjectSharedContext, turn: RunId): Promise<Session> {
  const stored = await ctx.get<Session>(SESSION);
  return { ...EMPTY, ...stored, turn: stored?.turn ?? turn };
}

/** As it is stored, for those who look at the state from outside. */
export function sessionOf(state: ReadonlyMap<string, Payload>): Session | undefined {
  const stored = state.get(SESSION);
  return typeof stored === "string" ? { ...EMPTY, ...(JSON.parse(stored) as Session) } : undefined;
}

export function writeSession(ctx: ObjectContext, session: Session): void {
  ctx.set(SESSION, session);
}
