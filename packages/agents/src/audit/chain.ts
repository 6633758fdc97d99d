// The chain: how an entry is sealed onto the one before, and how a chain is checked
// =================================================================================
//   hash(n) = SHA-256( hash(n - 1), canonical JSON of entry n without its hash )        hash(-1) = 64 zeros
//
// H1. Whatever is edited, removed, inserted or moved inside a chain, `verifyChain` says where it first shows.
// H2. What is cut off at the end shows against a head that was kept elsewhere: nothing inside a chain says how long it is.
// H3. An entry has no field that its hash does not cover.

import { isPerdureError, sha256 } from "@perdure/protocol";
import { canonicalJson } from "./canonical-json.ts";
import type { AuditEntry, AuditEvent, AuditHead } from "./types.ts";

export const EMPTY_HEAD: AuditHead = { count: 0, hash: "0".repeat(64) };

export type ChainCheck =
  | { readonly ok: true; readonly count: number; readonly head: string }
  /** `at`: the `seq` from which on the chain cannot be trusted. */
  | { readonly ok: false; readonly at: number; readonly why: string };

export interface ChainExpectations {
  /** What stands before the first of these entries. Default: nothing, they are a chain from its beginning. */
  readonly after?: AuditHead;
  /** Where the chain has to end, as it was known before (H2). */
  readonly head?: AuditHead;
}

/** The entry that follows `head`. */
export function seal(head: AuditHead, at: number, event: AuditEvent): AuditEntry {
  const { actor, action, subject, details } = event;
  const body = { seq: head.count, at, actor, action, subject, ...(details === undefined ? {} : { details }) };
  return { ...body, hash: hashOf(head.hash, body) };
}

export function headAfter(entry: AuditEntry): AuditHead {
  return { count: entry.seq + 1, hash: entry.hash };
}

/** Checks entries as they were read from anywhere: nothing about them is taken on trust. */
export function verifyChain(entries: Iterable<AuditEntry>, expected: ChainExpectations = {}): ChainCheck {
  const start = expected.after ?? EMPTY_HEAD;
  let { count, hash } = start;
  for (const entry of entries) {
    const why = whyWrong(entry, { count, hash });
    if (why !== undefined) return { ok: false, at: count, why };
    ({ count, hash } = headAfter(entry));
    // Not only at the end: the chain may have grown since its head was kept.
    if (expected.head?.count === count && expected.head.hash !== hash)
      return { ok: false, at: entry.seq, why: "the known head has another hash here: the chain was written anew" };
  }
  const { head } = expected;
  if (head !== undefined && head.count > count)
    return { ok: false, at: count, why: `the chain ends here, the known head counts ${head.count} entries` };
  if (head !== undefined && (head.count < start.count || (head.count === start.count && head.hash !== start.hash)))
    return { ok: false, at: head.count, why: "the known head does not lie in or at the entries that are checked" };
  return { ok: true, count, head: hash };
}

function whyWrong(entry: unknown, head: AuditHead): string | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return "this is not an entry";
  const { hash, ...body } = entry as Partial<AuditEntry>;
  if (body.seq !== head.count)
    return `this entry does not say that it is the ${head.count + 1}. (seq ${head.count}): entries are missing, were added, or moved`;
  try {
    if (hashOf(head.hash, body) === hash) return undefined;
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return error.message; // Not even JSON: it cannot have been recorded.
  }
  return "its hash does not fit: the entry or the one before it is not what was recorded";
}

/** The hash before has a fixed length, so that no two pairs give one text. */
function hashOf(previous: string, body: Partial<AuditEntry>): string {
  return sha256(previous + canonicalJson(body));
}
