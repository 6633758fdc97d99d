// What an agent's session tells of itself, without disturbing it.

import type { ObjectSharedContext, RunId } from "@perdure/sdk";
import { readSession, type ChildRecord } from "./session-state.ts";
import { TRANSCRIPT, type TranscriptItem } from "./transcript.ts";

export interface AgentStatus {
  /** `idle`: it waits for a message. */
  readonly state: "working" | "idle";
  /** The turn that works, or worked last; null where nobody has said anything yet. */
  readonly turn: RunId | null;
  /** Items in the transcript. */
  readonly items: number;
  readonly children: readonly ChildRecord[];
}

export async function statusOf(ctx: ObjectSharedContext): Promise<AgentStatus> {
  const { turn, children } = await readSession(ctx, ctx.runId);
  const items = await ctx.stream(TRANSCRIPT).length();
  if (turn === ctx.runId) return { state: "idle", turn: null, items, children };
  const { ready } = await ctx
    .run(turn)
    .output()
    .catch(() => ({ ready: true }));
  return { state: ready ? "idle" : "working", turn, items, children };
}

export interface HistoryRange {
  /** Offset of the first item. */
  readonly from?: number;
  /** Only so many of the newest. */
  readonly last?: number;
}

export async function historyOf(
  ctx: ObjectSharedContext,
  range: HistoryRange = {},
): Promise<readonly TranscriptItem[]> {
  const transcript = ctx.stream<TranscriptItem>(TRANSCRIPT);
  const from =
    range.last === undefined ? (range.from ?? 0) : Math.max(range.from ?? 0, (await transcript.length()) - range.last);
  return await transcript.read(from);
}
