// Where the entries of a chain are kept: in the stream `audit` of its key, the entry `seq` at the offset `seq`
// ============================================================================================================
// The one file that knows. An entry is one append, and where the chain ends is what the last entry says: there is no second
// write that a crash could part from the first. A record costs the same however long the chain is: it reads the last entry.
//
// From outside of handlers the stream is read like any other, in pieces and as it grows, without a run.

import type { ObjectContext, ObjectSharedContext, Stream } from "@perdure/sdk";
import { EMPTY_HEAD, headAfter } from "./chain.ts";
import type { AuditEntry, AuditHead } from "./types.ts";

const LOG = "audit";

export async function headOf(ctx: ObjectSharedContext): Promise<AuditHead> {
  const log = logOf(ctx);
  const length = await log.length();
  if (length === 0) return EMPTY_HEAD;
  return headAfterLast(await log.read(length - 1));
}

/** @param entry sealed onto the head of the chain. */
export function append(ctx: ObjectContext, entry: AuditEntry): void {
  logOf(ctx).append(entry);
}

/** The entries from `from` on, and where the chain ended when they were read. */
export async function entriesFrom(
  ctx: ObjectSharedContext,
  from: number,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly head: AuditHead }> {
  const entries = await logOf(ctx).read(from);
  return { entries, head: entries.length === 0 ? await headOf(ctx) : headAfterLast(entries) };
}

function headAfterLast(entries: readonly AuditEntry[]): AuditHead {
  const last = entries.at(-1);
  return last === undefined ? EMPTY_HEAD : headAfter(last);
}

function logOf(ctx: ObjectSharedContext): Stream<AuditEntry> {
  return ctx.stream<AuditEntry>(LOG);
}
