// Branches of a conversation: a session can go on from any earlier point, in place or under another key
// ======================================================================================================
// The transcript only grows. A rewind hides what came after the point (models are not told of it, people still see it); a fork
// copies what came before it to a session of its own, where other instructions or tools may go on from it. Results of tools and
// of sub-agents are part of what is copied: nothing is run again.

import { ConflictError, ValidationError } from "@perdure/protocol";
import { TerminalError, type ObjectContext, type ObjectSharedContext } from "@perdure/sdk";
import { z } from "zod";
import { contextStart } from "./conversation.ts";
import { EVENTS, type AgentEvent } from "./events.ts";
import { readSession, writeSession } from "./session-state.ts";
import { TRANSCRIPT, type TranscriptItem } from "./transcript.ts";

export interface Fork {
  /** Key of the new session. It must be empty. */
  readonly to: string;
  /** Offset in the transcript: items before it are taken along. Default: all. */
  readonly at?: number | undefined;
}

export interface Rewind {
  /** Offset in the transcript: items from it on are called off. */
  readonly to: number;
}

export interface Adoption {
  /** The session that the items come from. */
  readonly from: string;
  readonly items: readonly TranscriptItem[];
}

const offset = z.int().min(0);
export const forkInput: z.ZodType<Fork> = z.strictObject({ to: z.string().min(1), at: offset.optional() });
export const rewindInput: z.ZodType<Rewind> = z.strictObject({ to: offset });

/** Answers with how many items the new session begins with. */
export async function fork(
  ctx: ObjectSharedContext,
  agent: string,
  { to, at }: Fork,
): Promise<{ readonly items: number }> {
  if (to === ctx.key)
    throw new TerminalError("a session cannot be forked into itself: name another key", { status: 400 });
  const items = (await ctx.stream<TranscriptItem>(TRANSCRIPT).read()).slice(0, at);
  await ctx.call(agent, to).adopt({ from: ctx.key, items } satisfies Adoption);
  return { items: items.length };
}

/** @throws TerminalError with status 409 where something was said in this session already. */
export async function adopt(ctx: ObjectContext, { from, items }: Adoption): Promise<void> {
  const transcript = ctx.stream<TranscriptItem>(TRANSCRIPT);
  if ((await transcript.length()) > 0)
    throw new TerminalError(`session ${ctx.key} is not empty: ${from} can be forked into a new key only`, {
      status: ConflictError.status,
    });
  if (items.length > 0) transcript.append(...items);
  const session = await readSession(ctx, ctx.runId);
  writeSession(ctx, { ...session, contextFrom: contextStart(items, 0) });
}

/** Waits for the turn that works: to call that off as well, send a message with the policy `restart`, or stop it first. */
export async function rewind(ctx: ObjectContext, { to }: Rewind): Promise<{ readonly hidden: number }> {
  const transcript = ctx.stream<TranscriptItem>(TRANSCRIPT);
  const length = await transcript.length();
  if (to > length)
    throw new TerminalError(`the transcript has ${length} items: there is none at ${to}`, {
      status: ValidationError.status,
    });
  const hidden = length - to;
  if (hidden === 0) return { hidden };
  const session = await readSession(ctx, ctx.runId);
  transcript.append({ type: "restart", from: to });
  ctx.stream<AgentEvent>(EVENTS).append({ type: "restart" });
  const items = await transcript.read(); // All: a compaction that is called off hid older items, which count again.
  writeSession(ctx, { ...session, contextFrom: contextStart(items, 0) });
  return { hidden };
}
