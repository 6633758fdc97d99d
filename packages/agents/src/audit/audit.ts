// The audit log: an append-only, hash-chained list of who did what
// =================================================================
// An object whose keys are chains, one of which, `main`, takes Perdure's own entries. Recording is exclusive, so entries
// of a chain stand in the order in which their runs arrived (E3), each once (E2).
//
// L1. An entry that was sent is recorded, whatever dies, and whatever becomes of the run that sent it. So entries are sent
//     and not called: a cancel of the sender must not take them along (E7), and nobody waits in the chain's lane.
// L2. Entries that one run sends stand in the order in which it sent them.
//
// What a chain promises against whoever edits the store is in chain.ts. All handlers are internal: entries name open
// approvals, whose ids are secrets.

import type {
  Context,
  DefinedHandler,
  ObjectContext,
  ObjectDefinition,
  ObjectSharedContext,
  SharedHandler,
} from "@perdure/sdk";
import { handler, object, shared } from "@perdure/sdk";
import { seal } from "./chain.ts";
import { append, entriesFrom, headOf } from "./log.ts";
import { eventSchema, PAGE_ENTRIES_DEFAULT, rangeSchema } from "./schemas.ts";
import type { AuditEntry, AuditEvent, AuditHead, AuditPage, AuditRange } from "./types.ts";
import { AUDIT, MAIN_CHAIN } from "./types.ts";

export type AuditHandlers = {
  /** Appends, and gives the entry as it was sealed. */
  readonly record: DefinedHandler<ObjectContext, [input: AuditEvent], AuditEntry>;
  /** A page of entries. */
  readonly read: SharedHandler<ObjectSharedContext, [input?: AuditRange], AuditPage>;
  /** Where the chain ends; to be kept where the store's owner cannot write. */
  readonly head: SharedHandler<ObjectSharedContext, [], AuditHead>;
};

export const audit: ObjectDefinition<AuditHandlers> = object<AuditHandlers>(
  AUDIT,
  {
    record: handler({ input: eventSchema, description: "Appends an entry." }, record),
    read: shared({ input: rangeSchema, description: "Reads a page of entries." }, read),
    head: shared({ description: "Says where the chain ends." }, headOf),
  },
  // What the runs of these handlers say stands in the log itself, or was only read.
  { internal: true, retention: "1h", description: "The audit log: hash-chained, a key per chain." },
);

/** Sends an entry (L1). */
export function recordAudit(ctx: Context, event: AuditEvent, chain: string = MAIN_CHAIN): void {
  // oxlint-disable-next-line typescript/no-floating-promises -- a send need not be awaited
  ctx.send(audit, chain).record(event);
}

async function record(ctx: ObjectContext, event: AuditEvent): Promise<AuditEntry> {
  const [head, at] = await Promise.all([headOf(ctx), ctx.now()]);
  const entry = seal(head, at, event);
  append(ctx, entry);
  return entry;
}

async function read(ctx: ObjectSharedContext, range: AuditRange = {}): Promise<AuditPage> {
  const { from = 0, limit = PAGE_ENTRIES_DEFAULT } = range;
  const { entries: rest, head } = await entriesFrom(ctx, from);
  const entries = rest.slice(0, limit);
  const next = from + entries.length;
  return { entries, ...(next < head.count ? { next } : {}), head };
}
