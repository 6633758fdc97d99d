// Controls: the switch that takes an agent's writes away, at once
// ===============================================================
// One key holds all switches, so that whoever is about to write asks once. A switch has a target, whom it speaks of:
// `researcher/session-7` one session, `researcher` all of an agent, `*` all agents.
//
// C1. A change counts as soon as it is stored: whatever asks after that, sees it. It is written before anything else is
//     done, and its entry in the audit log is sent, so that the switch never waits for the log.
// C2. Of the switches that speak of an agent the most restrictive counts: a session cannot be allowed what its agent is not.
// C3. A session's switch that is set back to `allow` is dropped: what is kept does not grow with the sessions that ever had
//     one. Those of agents stay, and say who gave the writes back.
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
/** Its one key. */
export const ALL_SWITCHES = "switches";
/** The target that speaks of all agents. */
export const ALL_AGENTS = "*";

/** What becomes of calls of tools that write: as the rules say (`allow`), a person is asked, none. */
export type WriteMode = PermissionAction;

export interface WriteChange {
  /** Whom it speaks of: `*`, `agent` or `agent/session`. */
  readonly target: string;
  readonly writes: WriteMode;
  /** Who changes it. */
  readonly by: string;
  readonly reason?: string;
}

/** What a switch says; `by` and `at` are absent where nobody says anything. */
export interface WriteControl {
  readonly writes: WriteMode;
  readonly by?: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
}

/** Who is about to write. */
export interface WriteQuestion {
  readonly agent: string;
  readonly session?: string;
}

/** What holds for an agent, and which switch says so. */
export interface EffectiveWriteControl extends WriteControl {
  readonly target: string;
}

export type ControlHandlers = {
  /** Gives what the switch said before. */
  readonly set: DefinedHandler<ObjectContext, [input: WriteChange], WriteControl>;
  /** What holds for an agent, in a session. */
  readonly get: SharedHandler<ObjectSharedContext, [input: WriteQuestion], EffectiveWriteControl>;
  /** All switches, by their targets. */
  readonly list: SharedHandler<ObjectSharedContext, [], Switches>;
};

export type Switches = Readonly<Record<string, WriteControl>>;

const BY_LENGTH_MAX = 200;
const REASON_LENGTH_MAX = 10_000;
const TARGET = /^(?:\*|[A-Za-z_][A-Za-z0-9_.-]*(?:\/.+)?)$/s;
const TARGET_LENGTH_MAX = 2_000;

const changeSchema: StandardSchema<WriteChange> = z.strictObject({
  target: z
    .string()
    .max(TARGET_LENGTH_MAX)
    .regex(TARGET, "names no agent, so nothing would change: a target is *, an agent's name, or agent/session"),
  writes: z.enum(["allow", "ask", "deny"]),
  by: z.string().min(1).max(BY_LENGTH_MAX),
  reason: z.string().max(REASON_LENGTH_MAX).exactOptional(),
});

const questionSchema: StandardSchema<WriteQuestion> = z.strictObject({
  agent: z.string().min(1),
  session: z.string().exactOptional(),
});

export const controls: ObjectDefinition<ControlHandlers> = object<ControlHandlers>(
  CONTROLS,
  {
    set: handler({ input: changeSchema, description: "Allows, asks for or denies an agent's writes." }, set),
    // Asked before every tool call that writes, and kept in the journal of whoever asks.
    get: shared({ input: questionSchema, description: "Says what holds for an agent.", retention: "1m" }, get),
    list: shared({ description: "All switches.", retention: "1m" }, switchesOf),
  },
  { internal: true, description: "Switches for the writes of agents." },
);

const NOTHING_SAID: WriteControl = { writes: "allow" };
/** Under it the key keeps all of them. */
export const SWITCHES = "switches";

async function set(ctx: ObjectContext, { target, ...change }: WriteChange): Promise<WriteControl> {
  if (ctx.key !== ALL_SWITCHES)
    throw new ValidationError(
      `switches are kept under the key "${ALL_SWITCHES}" alone: under "${ctx.key}" none would count`,
    );
  const [switches, at] = await Promise.all([switchesOf(ctx), ctx.now()]);
  const { [target]: before = NOTHING_SAID, ...others } = switches;
  const { writes: to, by: actor, reason } = change;
  const isOver = to === "allow" && target.includes("/"); // C3
  ctx.set(SWITCHES, isOver ? others : { ...others, [target]: { ...change, at } });
  recordAudit(ctx, {
    actor,
    action: "writes.changed",
    subject: target,
    details: { from: before.writes, to, reason, at },
  });
  return before;
}

async function get(ctx: ObjectSharedContext, { agent, session }: WriteQuestion): Promise<EffectiveWriteControl> {
  const switches = await switchesOf(ctx);
  const targets = session === undefined ? [ALL_AGENTS, agent] : [ALL_AGENTS, agent, `${agent}/${session}`];
  return targets
    .map((target) => ({ ...(Object.hasOwn(switches, target) ? switches[target] : undefined), target }))
    .map((said) => ({ ...NOTHING_SAID, ...said }))
    .reduce((one, other) => (mostRestrictive(one.writes, other.writes) === one.writes ? one : other));
}

async function switchesOf(ctx: ObjectSharedContext): Promise<Switches> {
  return (await ctx.get<Switches>(SWITCHES)) ?? {};
}

/**
 * What holds for the writes of an agent (in a session) now. To be asked right before a tool that writes begins, and again
 * after an approval: days may have passed.
 *
 * It is journaled: after a crash between the answer and the tool call, the answer stands. And it costs one short run beside
 * all others: four rows and two flushes, which all agents that ask meanwhile share. Tools that only read need not ask.
 */
export async function writeModeOf(ctx: Context, agent: string, session?: string): Promise<EffectiveWriteControl> {
  const question: WriteQuestion = session === undefined ? { agent } : { agent, session };
  return await ctx.call(controls, ALL_SWITCHES).get(question);
}
