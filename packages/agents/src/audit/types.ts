// What the audit log holds: who did what to what, each entry sealed onto the one before.

/** What happened, as its witness says it. */
export interface AuditEvent {
  /** Who: a person, an agent, `perdure` itself. */
  readonly actor: string;
  /** What: a noun and a verb, `approval.asked`. */
  readonly action: string;
  /** To what: the id of an approval, the key of a control. */
  readonly subject: string;
  /** Anything that JSON can hold. */
  readonly details?: unknown;
}

export interface AuditEntry extends AuditEvent {
  /** Position in its chain, from 0, without gaps. */
  readonly seq: number;
  /** When it was recorded: milliseconds since the epoch. */
  readonly at: number;
  /** SHA-256 over the hash before and the canonical JSON of everything else in the entry: 64 hexadecimal digits. */
  readonly hash: string;
}

/** Where a chain ends. Kept elsewhere, it shows that entries were cut off. */
export interface AuditHead {
  /** Entries so far; the next one's `seq`. */
  readonly count: number;
  /** The last entry's, or 64 zeros where there is none. */
  readonly hash: string;
}

export interface AuditRange {
  /** Default 0. */
  readonly from?: number;
  /** At most this many. Default 100, at most 1000. */
  readonly limit?: number;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Where the next page begins; absent at the end. */
  readonly next?: number;
  /** Of the whole chain, as the page was read. */
  readonly head: AuditHead;
}

/** The name of the object that keeps the chains. */
export const AUDIT = "perdure.audit";
/** The chain that Perdure's own entries go to. */
export const MAIN_CHAIN = "main";
