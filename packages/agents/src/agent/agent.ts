// agent(): a keyed object whose key is a session
// ==============================================
//   send      a message; its run's output is the answer. One works at a time (the turn), the others queue, or are taken by it.
//   stop      ends the turn that works, keeping what it has said
//   status, history    look without disturbing
//   fork, rewind       go on from an earlier point, under another key or in place
//   watch     (internal) waits for a sub-agent in the background and tells of its end, exactly once

import { KilledError } from "@perdure/protocol";
import {
  CancelledError,
  handler,
  isPerdureError,
  object,
  shared,
  TerminalError,
  type DefinedHandler,
  type ObjectContext,
  type ObjectDefinition,
  type ObjectSharedContext,
  type RunId,
  type SharedHandler,
  type StandardSchema,
} from "@perdure/sdk";
import { z } from "zod";
import { approvals } from "../approvals/approvals.ts";
import { audit } from "../audit/audit.ts";
import { budgets } from "../budget/budgets.ts";
import { budgetQuestions } from "../budget/questions.ts";
import { controls } from "../controls/controls.ts";
import { adopt, fork, forkInput, rewind, rewindInput, type Adoption, type Fork, type Rewind } from "./branches.ts";
import { warmUp } from "#ask-model";
import { rehearse } from "./rehearsal.ts";
import { agentSpec, type AgentOptions, type AgentSpec } from "./definition.ts";
import type { AgentEvent } from "./events.ts";
import { STOP_SIGNAL } from "./inbox.ts";
import { messageInput, type AgentAnswer, type AgentMessage, type ChildNotice } from "./messages.ts";
import { readSession, writeSession, type Session } from "./session-state.ts";
import { Turn } from "./turn.ts";
import type { TranscriptItem } from "./transcript.ts";
import { historyOf, statusOf, type AgentStatus, type HistoryRange } from "./views.ts";
import type { ChildRef } from "./children.ts";

export interface AgentHandlers {
  readonly send: DefinedHandler<ObjectContext, [message: AgentMessage | string], AgentAnswer>;
  readonly stop: SharedHandler<ObjectSharedContext, [], { readonly stopped: boolean }>;
  readonly status: SharedHandler<ObjectSharedContext, [], AgentStatus>;
  readonly history: SharedHandler<ObjectSharedContext, [range?: HistoryRange], readonly TranscriptItem[]>;
  readonly fork: SharedHandler<ObjectSharedContext, [fork: Fork], { readonly items: number }>;
  readonly rewind: DefinedHandler<ObjectContext, [rewind: Rewind], { readonly hidden: number }>;
  readonly adopt: DefinedHandler<ObjectContext, [adoption: Adoption], void>;
  readonly watch: SharedHandler<ObjectSharedContext, [child: WatchedChild], void>;
}

export type AgentDefinition = ObjectDefinition<AgentHandlers> & {
  /** Never set: what stands in the stream `events`, for clients that take their types from the definition. */
  readonly event?: AgentEvent;
};

interface WatchedChild extends ChildRef {
  readonly name: string;
}

const childInput: StandardSchema<WatchedChild> = z.strictObject({
  name: z.string(),
  agent: z.string(),
  key: z.string(),
  run: z.string().transform((run) => run as RunId),
}) as StandardSchema<WatchedChild>;

/** Internal: what `fork` sends. */
const adoptionInput: z.ZodType<Adoption> = z.custom<Adoption>(
  (value) => typeof value === "object" && value !== null && Array.isArray((value as Partial<Adoption>).items),
);

const rangeInput: StandardSchema<HistoryRange | undefined> = z
  .strictObject({ from: z.int().min(0).exactOptional(), last: z.int().min(0).exactOptional() })
  .optional();

/** @throws DefinitionError where an option cannot be meant. */
export function agent(name: string, options: AgentOptions): AgentDefinition {
  const spec = agentSpec(name, options);
  warmUp(() => rehearse(spec));
  const { description, retention, memory } = options;
  const kept = retention === undefined ? {} : { retention };
  return object(
    name,
    {
      send: handler(
        {
          input: messageInput,
          listens: true,
          description: "Says something to the agent; the answer is its own.",
          ...kept,
        },
        (ctx: ObjectContext, message: AgentMessage) => send(ctx, spec, message),
      ),
      stop: shared({ description: "Ends the turn that works, keeping what it has said." }, stop),
      status: shared({ description: "What the agent is doing.", retention: "1m" }, statusOf),
      history: shared({ input: rangeInput, description: "What was said and done.", retention: "1m" }, historyOf),
      fork: shared(
        { input: forkInput, description: "Begins another session with what was said here." },
        (ctx: ObjectSharedContext, input: Fork) => fork(ctx, name, input),
      ),
      rewind: handler({ input: rewindInput, description: "Calls off what was said and done from a point on." }, rewind),
      adopt: handler({ internal: true, input: adoptionInput }, adopt),
      watch: shared({ internal: true, input: childInput }, (ctx: ObjectSharedContext, child: WatchedChild) =>
        watch(ctx, name, child),
      ),
    },
    {
      ...(description === undefined ? {} : { description }),
      ...(memory === undefined ? {} : { memory }),
      agent: true,
      companions: [approvals, audit, budgets, budgetQuestions, controls],
    },
  ) as AgentDefinition;
}

async function send(ctx: ObjectContext, spec: AgentSpec, message: AgentMessage): Promise<AgentAnswer> {
  const session = await readSession(ctx, ctx.runId);
  const taken = session.taken[ctx.runId];
  const mine = withoutTaken(session, ctx);
  if (taken?.end === undefined) return await new Turn(ctx, spec, message, mine).run(taken !== undefined);
  // Another turn has seen the message, and has come to an end.
  writeSession(ctx, mine);
  if ("answer" in taken.end) return taken.end.answer;
  const { failure } = taken.end;
  throw new TerminalError(failure.message, { status: failure.code });
}

function withoutTaken(session: Session, ctx: ObjectContext): Session {
  const { [ctx.runId]: _, ...taken } = session.taken;
  return { ...session, taken };
}

async function stop(ctx: ObjectSharedContext): Promise<{ readonly stopped: boolean }> {
  const { state, turn } = await statusOf(ctx);
  if (state === "idle" || turn === null) return { stopped: false };
  ctx.run(turn).signal(STOP_SIGNAL);
  return { stopped: true };
}

/** However the sub-agent ends: answered, failed, cancelled or killed. */
async function watch(ctx: ObjectSharedContext, parent: string, watched: WatchedChild): Promise<void> {
  const { name, agent, run } = watched;
  const { text, outcome } = await endOf(ctx, run);
  const notice: ChildNotice = { child: name, agent, run, outcome };
  await ctx
    .send(parent, ctx.key, { idempotencyKey: `notice/${run}` })
    .send({ text, notice, policy: "steer", from: name } satisfies AgentMessage);
}

async function endOf(
  ctx: ObjectSharedContext,
  run: string,
): Promise<{ readonly text: string; readonly outcome: ChildNotice["outcome"] }> {
  try {
    const { text } = await ctx.run<AgentAnswer>(run).result();
    return { text, outcome: "answered" };
  } catch (error) {
    if (error instanceof CancelledError && ctx.abortSignal.aborted) throw error; // This run itself is cancelled.
    if (!isPerdureError(error)) throw error;
    const isCancelled = error instanceof CancelledError || error instanceof KilledError;
    return { text: error.message, outcome: isCancelled ? "cancelled" : "failed" };
  }
}
