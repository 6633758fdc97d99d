// Controls: the switch that takes an agent's writes away, at once
// ===============================================================
// An object keyed by whom it speaks of: `researcher/session-7` one session, `researcher` all of an agent, `*` all agents.
//
// C1. A change counts as soon as it is stored: whatever asks after that, sees it. It is written before anything else is
//     done, and its entry in the audit log is sent, so that the switch never waits for the log.
// C2. Of the keys that speak of an agent the most restrictive counts: a session cannot be allowed what its agent is not.
//
// Internal: a tool that can reach the server must not be able to give its own agent the writes back.

import { ValidationError } from "@perdure/protocol";
import type {
  Context,
  DefinedHandler,
  ObjectContext,
  ObjectDefinition,
  ObjectSharedContext,
  SharedHandler,
  StandardSchema,
} from "@perdure/sdk";
import { handler, object, shared } from "@perdure/sdk";
import * as z from "zod";
import { recordAudit } from "../audit/audit.ts";
import { mostRestrictive, type PermissionAction } from "../permissions/types.ts";

/** The name of the object. */
export const CONTROLS = "perdure.controls";
/** The key that speaks of all agents. */
export const ALL_AGENTS = "*";

/** What becomes of calls of tools that write: as the rules say (`allow`), a person is asked, none. */
export type WriteMode = PermissionAction;

export interface WriteChange {
  readonly writes: WriteMode;
  /** Who changes it. */
  readonly by: string;
  readonly reason?: string;
}

/** What a key says; `by` and `at` are absent where nobody has ever said anything. */
export interface WriteControl {
  readonly writes: WriteMode;
  readonly by?: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
}

export type ControlHandlers = {
  /** Gives what the key said before. */
  readonly set: DefinedHandler<ObjectContext, [input: WriteChange], WriteControl>;
  readonly get: SharedHandler<ObjectSharedContext, [], WriteControl>;
};

const BY_LENGTH_MAX = 200;
const REASON_LENGTH_MAX = 10_000;
const changeSchema: StandardSchema<WriteChange> = z.strictObject({
  writes: z.enum(["allow", "ask", "deny"]),
  by: z.string().min(1).max(BY_LENGTH_MAX),
  reason: z.string().max(REASON_LENGTH_MAX).exactOptional(),
});

export const controls: ObjectDefinition<ControlHandlers> = object<ControlHandlers>(
  CONTROLS,
  {
    set: handler({ input: changeSchema, description: "Allows, asks for or denies an agent's writes." }, set),
    // Asked before every tool call that writes, and kept in the journal of whoever asks.
    get: shared({ description: "Says what holds under this key.", retention: "1m" }, get),
  },
  { internal: true, description: "Switches for the writes of agents." },
);

const NOTHING_SAID: WriteControl = { writes: "allow" };
const STATE = "writes";
const KEY = /^(?:\*|[A-Za-z_][A-Za-z0-9_.-]*(?:\/.+)?)$/s;

async function set(ctx: ObjectContext, change: WriteChange): Promise<WriteControl> {
  if (!KEY.test(ctx.key)) {
    throw new ValidationError(
      `"${ctx.key}" names no agent, so nothing would change: the key is *, an agent's name, or agent/session`,
    );
  }
  const [before, at] = await Promise.all([get(ctx), ctx.now()]);
  ctx.set(STATE, { ...change, at });
  const { writes: to, by: actor, reason } = change;
  recordAudit(ctx, {
    actor,
    action: "writes.changed",
    subject: ctx.key,
    details: { from: before.writes, to, reason, at },
  });
  return before;
}

async function get(ctx: ObjectSharedContext): Promise<WriteControl> {
  return (await ctx.get<WriteControl>(STATE)) ?? NOTHING_SAID;
}

/** What holds for an agent, and which key says so. */
export interface EffectiveWriteControl extends WriteControl {
  readonly key: string;
}

/**
 * What holds for the writes of an agent (in a session) now. To be asked right before a tool that writes begins, and again
 * after an approval: days may have passed.
 *
 * It is journaled: after a crash between the answer and the tool call, the answer stands. And it costs a short run per key,
 * side by side: for three keys twelve rows and the time of three flushes, which all agents that ask meanwhile share. Tools
 * that only read need not ask.
 */
export async function writeModeOf(ctx: Context, agent: string, session?: string): Promise<EffectiveWriteControl> {
  const keys = session === undefined ? [ALL_AGENTS, agent] : [ALL_AGENTS, agent, `${agent}/${session}`];
  const said = await Promise.all(keys.map(async (key) => ({ ...(await ctx.call(controls, key).get()), key })));
  return said.reduce((one, other) => (mostRestrictive(one.writes, other.writes) === one.writes ? one : other));
}
