// Where the entries of a chain are kept: in the state of its key, `e/<seq>` for an entry and `head` for the end
// ===========================================================================================================
// The one file that knows. An append writes the entry first: where only that was kept, the next append writes over it,
// and nobody had seen it, since readers ask no further than the head.

import type { ObjectContext, ObjectSharedContext } from "@perdure/sdk";
import { EMPTY_HEAD, headAfter } from "./chain.ts";
import type { AuditEntry, AuditHead } from "./types.ts";

const HEAD = "head";

export async function headOf(ctx: ObjectSharedContext): Promise<AuditHead> {
  return (await ctx.get<AuditHead>(HEAD)) ?? EMPTY_HEAD;
}

/** @param entry sealed onto the head that is stored. */
export function append(ctx: ObjectContext, entry: AuditEntry): AuditHead {
  const head = headAfter(entry);
  ctx.set(nameOf(entry.seq), entry);
  ctx.set(HEAD, head);
  return head;
}

/** Entries `from` to before `end`, which is not behind the head. */
export async function entriesBetween(ctx: ObjectSharedContext, from: number, end: number): Promise<AuditEntry[]> {
  const reads: Promise<AuditEntry | undefined>[] = [];
  for (let seq = from; seq < end; seq += 1) reads.push(ctx.get<AuditEntry>(nameOf(seq)));
  const entries = await Promise.all(reads);
  return entries.filter((entry) => entry !== undefined); // One that was taken out of the state is for verifyChain to see.
}

function nameOf(seq: number): string {
  return `e/${seq}`;
}
